"""GV509: requires_grad on a tensor of whole numbers."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("nly Tensors of floating point",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV509", "error.integer-grad", "error", look)
