"""Parameters as one vector, and back."""

from __future__ import annotations

from ...engine.dispatch import Tensor
from ...ops.declare import FUNCTIONS
from ..modules.module import typename


def parameters_to_vector(parameters):
    """All parameters flattened into one vector; the graph goes through."""
    return FUNCTIONS["cat"]([p.view(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    """Let the parameters look at slices of ``vec``."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    start = 0
    for p in parameters:
        n = p.numel()
        p.data = vec[start : start + n].view_as(p).data
        start += n
