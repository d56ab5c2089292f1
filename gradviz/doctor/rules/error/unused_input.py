"""GV407: autograd.grad() for a tensor that the output does not depend on."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("appears to not have been used in the graph",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV407", "error.unused-input", "error", look)
