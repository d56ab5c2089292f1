"""GV510: numpy() on a tensor that requires grad."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("call numpy() on Tensor that requires grad",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES, method="numpy")


RULE = Rule("GV510", "error.numpy-requires-grad", "error", look)
