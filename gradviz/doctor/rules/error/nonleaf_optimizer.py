"""GV508: an optimiser was given the result of an operation."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("optimize a non-leaf Tensor",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV508", "error.nonleaf-optimizer", "error", look)
