"""GV505: backward() on something that is not one number."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = ("grad can be implicitly created only for scalar outputs",)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES, method="backward")


RULE = Rule("GV505", "error.nonscalar", "error", look)
