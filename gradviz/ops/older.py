"""Attributes of tensors that PyTorch keeps from earlier times, and what says no to ``del``."""

from __future__ import annotations

import warnings

from ..engine.hooks import ensure_hooks
from ..engine.tensor import Tensor, is_result

_CHANGED = "volatile was removed and now has no effect. Use `with torch.no_grad():` instead."


def _volatile(self):
    """Gone: False, and a UserWarning."""
    warnings.warn("volatile was removed (Variable.volatile is always False)", stacklevel=2)
    return False


def _set_volatile(self, *_):
    """Gone: nothing happens, and a UserWarning."""
    warnings.warn(_CHANGED, stacklevel=2)


def _leave_graph(self, value):
    if value is not None:
        raise RuntimeError("_grad_fn can be only set to None")
    self.detach_()


def _refuse(message):
    def refuse(self):
        raise RuntimeError(message)

    return refuse


def _set_post_hooks(self, table):
    """Take over a whole table of hooks; a result has none."""
    if not is_result(self._g):
        ensure_hooks(self).post_accumulate = table


Tensor.volatile = property(_volatile, _set_volatile, _set_volatile)
Tensor._grad_fn = property(
    lambda self: self.grad_fn,
    _leave_graph,
    _refuse("Deletion of _grad_fn not allowed. Detach tensor instead!"),
)
Tensor._backward_hooks = Tensor._backward_hooks.deleter(
    _refuse("Deletion of _backwards_hooks not allowed!")
)
Tensor._post_accumulate_grad_hooks = property(
    Tensor._post_accumulate_grad_hooks.fget,
    _set_post_hooks,
    _refuse("Deletion of _post_accumulate_grad_hooks not allowed!"),
)
