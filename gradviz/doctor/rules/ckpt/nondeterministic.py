"""GV515: a checkpointed function did something else when it was run again."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = (
    "was saved during the original forward and recomputation",
    "tensors were saved during the original forward and recomputation",
    "Recomputed values for the following tensors have different metadata",
)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES, method="backward")


RULE = Rule("GV515", "ckpt.nondeterministic", "error", look)
