"""``torch.autograd.Variable``: what tensors were called before they were variables themselves."""

from __future__ import annotations

import warnings

from ..engine.construct import mark
from ..engine.dispatch import Tensor, wrap
from ..engine.modes import local


class _EngineBase:
    """``Variable._execution_engine``."""

    @staticmethod
    def is_checkpoint_valid():
        """Whether a backward inside the one that runs may be asked for: not in one that was asked
        for some inputs only.
        """
        sweep = local.sweep
        return sweep is None or (sweep.captured is None and sweep.leaves is None)

    @staticmethod
    def queue_callback(callback):
        """Call ``callback()`` when the backward that runs in this thread has ended; RuntimeError
        outside of one.
        """
        if local.sweep is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        local.sweep.call_at_end(callback)


class _VariableMeta(type):
    _execution_engine = _EngineBase()

    def __instancecheck__(cls, other):
        return isinstance(other, Tensor)


class Variable(metaclass=_VariableMeta):
    """``Variable(data, requires_grad=False)`` gives a tensor on the memory of ``data``; every
    tensor is an instance. TypeError when ``data`` is no tensor.
    """

    def __new__(cls, data=None, requires_grad=False, volatile=None, *, name=None):
        if volatile is not None:
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
        if data is None:
            data = wrap(Tensor()._a)
        if not isinstance(data, Tensor):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made = mark(data.detach(), requires_grad)
        made._name = name
        return made
