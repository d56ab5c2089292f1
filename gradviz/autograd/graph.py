"""``autograd.graph``: saved-tensor hooks, gradient edges, in-place permissions."""

from __future__ import annotations

import contextlib
from collections import namedtuple

from ..engine.modes import local, state
from ..engine.node import Node, accumulator
from ..engine.tensor import Tensor
from ..engine.views import bump

GradientEdge = namedtuple("GradientEdge", ("node", "output_nr", "ownership_token"), defaults=(None,))


def get_gradient_edge(tensor):
    """The (node, output number) to which the gradient of ``tensor`` flows; RuntimeError for an untracked tensor."""
    if not tensor.requires_grad:
        raise RuntimeError("It is not possible to get the gradient edge for a Tensor that does not require gradients.")
    if tensor.is_leaf:
        return GradientEdge(accumulator(tensor), 0)
    return GradientEdge(tensor.grad_fn, tensor.output_nr)


class saved_tensors_hooks:
    """Inside the block every saved tensor goes through ``pack_hook`` and comes back through ``unpack_hook``."""

    def __init__(self, pack_hook, unpack_hook):
        self.hooks = (pack_hook, unpack_hook)

    def __enter__(self):
        if local.saved_hooks_disabled is not None:
            raise RuntimeError(local.saved_hooks_disabled)
        local.saved_hooks = (*local.saved_hooks, self.hooks)
        state.special += 1

    def __exit__(self, *_):
        local.saved_hooks = local.saved_hooks[:-1]
        state.special -= 1


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are kept in CPU memory and copied back when needed."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(lambda t: (t.device, t.cpu().clone()), lambda packed: packed[1].to(packed[0]))


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Inside the block, using saved-tensor hooks raises RuntimeError with this message."""
    previous = local.saved_hooks_disabled
    local.saved_hooks_disabled = error_message
    try:
        yield
    finally:
        local.saved_hooks_disabled = previous


def increment_version(tensor):
    """Count up the version of a tensor, or of several, as an in-place operation would."""
    for t in (tensor,) if isinstance(tensor, Tensor) else tensor:
        if t.is_inference():
            raise RuntimeError("inference tensors do not track version")
        bump(t)


__all__ = ["GradientEdge", "Node", "disable_saved_tensors_hooks", "get_gradient_edge", "increment_version", "save_on_cpu",
           "saved_tensors_hooks"]  # fmt: skip
