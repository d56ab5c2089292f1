"""GV503: a leaf that requires grad (or a view of one) was changed in place."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("leaf Variable that requires grad is being used in an in-place operation",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV503", "error.inplace-leaf", "error", look)
