"""GV512: a tensor made in inference_mode is used in training."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import simple

PHRASES = (
    "Inference tensors cannot be saved for backward",
    "Setting requires_grad=True on inference tensor",
    "Inplace update to inference tensor",
)


def look(case):
    """A cell ended with that error."""
    yield from simple(RULE, case, *PHRASES)


RULE = Rule("GV512", "error.inference-tensor", "error", look)
