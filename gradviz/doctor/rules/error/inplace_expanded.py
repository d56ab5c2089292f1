"""GV504: an expanded tensor was changed in place."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("more than one element of the written-to tensor refers to a single memory location",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV504", "error.inplace-expanded", "error", look)
