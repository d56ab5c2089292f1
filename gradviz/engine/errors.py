"""Errors with PyTorch's type and words, and below them a note in ours: which tensor, why, what to
write instead.
"""

from __future__ import annotations

import warnings

_warned = set()


class Warnings:
    """Whether what is said once is said each time (``torch.set_warn_always``)."""

    always = False


def warn_once(text):
    """A UserWarning that a program sees once, however often it gives reason for it."""
    if Warnings.always or text not in _warned:
        _warned.add(text)
        warnings.warn(text, UserWarning, stacklevel=4)


def advised(error, key, **fields):
    """``error`` with the advice ``key`` of the catalogue as a note below PyTorch's own words."""
    from ..texts import text

    for name, value in fields.items():
        if name == "shape":
            fields[name] = tuple(value)
    error.add_note(text(f"advice.{key}", **fields))
    return error
