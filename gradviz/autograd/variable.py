"""``torch.autograd.Variable``: what tensors were called before they were variables themselves."""

from __future__ import annotations

from ..engine.construct import mark
from ..engine.dispatch import Tensor, wrap


class _VariableMeta(type):
    def __instancecheck__(cls, other):
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """``Variable(data, requires_grad=False)`` gives a tensor on the memory of ``data``; every
    tensor is an instance. TypeError when ``data`` is no tensor.
    """

    def __new__(cls, data=None, requires_grad=False, volatile=None):
        if data is None:
            data = wrap(Tensor()._a)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        return mark(data.detach(), requires_grad)
