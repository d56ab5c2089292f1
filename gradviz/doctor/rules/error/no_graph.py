"""GV406: backward() on a tensor without a graph."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("does not require grad and does not have a grad_fn",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES, method="backward")


RULE = Rule("GV406", "error.no-graph", "error", look)
