"""GV516: an operation was given tensors on two devices."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = (
    "Expected all tensors to be on the same device",
    "or on the same device as the indexed tensor",
    "to a tensor located on device",
)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV516", "error.device-mismatch", "error", look)
