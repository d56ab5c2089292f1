"""``copy``, ``deepcopy`` and pickles of tensors."""

from __future__ import annotations

import copy
import warnings

from ..backend import host, meta, owner, pointer
from ..engine.device import CPU, META, place, resolve
from ..engine.dispatch import Tensor
from ..engine.node import LEAF
from ..engine.strides import flat_storage, geometry, strided


def _shallow(self):
    """Another leaf on the same memory."""
    warn_if_has_hooks(self)
    return _rebuild(type(self), self._a, self.requires_grad, dict(self.__dict__), self.device)


def _deepcopy(self, memo):
    """A leaf with memory of its own; tensors that share memory do so again in the copy.
    RuntimeError for a result.
    """
    if id(self) in memo:
        return memo[id(self)]
    if self._g is not None and self._g is not LEAF:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
            "protocol at the moment.  If you were "
            "attempting to deepcopy a module, this may be because of a "
            "torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    made = object.__new__(type(self))
    made._a = _in_copied_storage(self._a, memo)
    made._g, made._v = self._g, None
    memo[id(self)] = made
    if self._grad is not None:
        made._grad = copy.deepcopy(self._grad, memo)
    made.__dict__.update(copy.deepcopy(self.__dict__, memo))
    return made


def _in_copied_storage(array, memo):
    base = owner(array)
    key = ("storage", pointer(base), base.nbytes)
    found = memo.get(key)
    if found is None:
        found = memo[key] = (flat_storage(array).copy(), base)  # ``base`` keeps the address
    flat = found[0]
    flat = flat if flat.dtype == array.dtype else flat.view(array.dtype)
    return strided(flat, *geometry(array)) if array.size else array.copy()


def _rebuild(cls, array, requires_grad, state, device=CPU):
    made = object.__new__(cls)
    made._a, made._v = place(array, resolve(device)), None
    made._g = LEAF if requires_grad else None
    made.__dict__.update(state)
    return made


def _rebuild_form(cls, shape, strides, dtype, requires_grad, state):
    array = meta.MetaArray(meta.ghost(shape, dtype, strides))
    return _rebuild(cls, array, requires_grad, state, META)


def warn_if_has_hooks(tensor):
    """UserWarning for every backward hook of ``tensor`` that is not marked as lost in copies."""
    for hook in (tensor._backward_hooks or {}).values():
        if hasattr(hook, "__torch_unserializable__"):
            continue
        warnings.warn(
            f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you "
            "can decorate the function with @torch.utils.hooks.unserializable_hook to suppress "
            "this warning",
            UserWarning,
            stacklevel=3,
        )


def _reduce(self, protocol=None):
    warn_if_has_hooks(self)
    if self.is_meta:
        form = tuple(self.shape), self._a.strides, self._a.dtype
        return (_rebuild_form, (type(self), *form, self.requires_grad, dict(self.__dict__)))
    where = (self.device,) if self.is_cuda else ()
    values = host(self._a) if self.is_cuda else self._a.copy("K")
    return (_rebuild, (type(self), values, self.requires_grad, dict(self.__dict__), *where))


Tensor.__copy__ = _shallow
_deepcopy.__qualname__ = "Tensor.__deepcopy__"
Tensor.__deepcopy__ = _deepcopy
Tensor.__reduce_ex__ = _reduce
