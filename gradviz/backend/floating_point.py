"""NumPy's warnings of overflow and division by zero: PyTorch gives none, so neither do we.

NumPy's own setting belongs to the person and stays as it is. What it warns of in our code is
ignored by a filter; a person's filters would come before it, so it goes back to the front whenever
the filters change.
"""

import sys
import warnings


class _OurCode:
    """Stands in a filter for the pattern of a module: whether our code called NumPy."""

    def match(self, module):
        frame = sys._getframe().f_back  # None: the interpreter itself warns
        while frame is not None and _package(frame) == "numpy":
            frame = frame.f_back
        return frame is not None and _package(frame) == "gradviz"


def _package(frame):
    return frame.f_globals.get("__name__", "").split(".")[0]


_IGNORED = ("ignore", None, RuntimeWarning, _OurCode(), 0)
_CHANGED = ("_filters_mutated", "_filters_mutated_lock_held")  # the second since Python 3.14


def _to_the_front():
    filters = warnings.filters
    if not filters or filters[0] is not _IGNORED:
        filters.insert(0, _IGNORED)


def stay_silent():
    """Keep NumPy quiet about floating-point errors in our code, whatever filters are in force."""
    for name in _CHANGED:
        changed = getattr(warnings, name, None)
        if changed is not None and not hasattr(changed, "followed"):
            setattr(warnings, name, _followed(changed))
    _to_the_front()


def _followed(changed):
    def filters_changed():
        _to_the_front()
        changed()

    filters_changed.followed = changed
    return filters_changed
