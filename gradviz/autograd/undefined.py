"""Identities that lead a gradient astray: one makes it undefined, one raises."""

from __future__ import annotations

from ..engine.node import Node
from ..engine.surface import none
from .function import Function


class UndefinedGrad(Function):
    """Identity whose gradient is undefined."""

    @staticmethod
    def forward(ctx, x):
        """``x`` itself."""
        return x

    @staticmethod
    def backward(ctx, g):
        """None."""


class DelayedError(Function):
    """Identity whose backward raises RuntimeError."""

    @staticmethod
    def forward(ctx, message, *tensors):
        """Copies of the tensors."""
        ctx.message = message
        made = tuple(None if t is None else t.clone() for t in tensors)
        return made if len(made) > 1 else made[0]

    @staticmethod
    def backward(ctx, *grads):
        """RuntimeError with the message."""
        raise RuntimeError(ctx.message)


def _name(node, *given):
    none(node, "name", given)
    return "torch::autograd::Error"


_node = DelayedError._backward_cls  # in PyTorch one of its own, no user's Function
_node.__name__ = _node.__qualname__ = "Error"
_node.__module__, _node.owner_name = "builtins", None
_node.__call__, _node.__repr__ = Node.__call__, Node.__repr__
_node._register_hook_dict = Node._register_hook_dict
_node.name = _name
