"""Identities that lead a gradient astray: one makes it undefined, one raises."""

from __future__ import annotations

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


DelayedError._backward_cls.__name__ = "Error"
DelayedError._backward_cls.name = lambda node: "torch::autograd::Error"
