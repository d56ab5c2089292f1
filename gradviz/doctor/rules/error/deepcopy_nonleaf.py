"""GV511: deepcopy of a tensor that is not a leaf."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("Only Tensors created explicitly by the user",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV511", "error.deepcopy-nonleaf", "error", look)
