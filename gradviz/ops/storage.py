"""The memory under tensors: looking at it, and giving a tensor another one."""

from __future__ import annotations

import math

from ..backend import MetaArray, owner, pointer, xp
from ..engine import dtypes, strides, views
from ..engine.accumulator import before_change
from ..engine.device import of
from ..engine.dispatch import Tensor
from ..engine.modes import is_inference_mode_enabled, is_recording
from ..engine.node import FIRST, LEAF, MultiNode, Output, new, serial
from ..engine.strides import flat_storage, strided
from .declare import only_method, public
from .shape import sizes


def data_ptr(self):
    """Address of the first element."""
    return _pointer(self._a) if self._a.size else 0


def _pointer(array):
    """Where an array lies; 0 for one without memory."""
    return 0 if isinstance(array, MetaArray) else pointer(array)


def storage_offset(self):
    """Distance from the start of the storage, in elements."""
    return strides.storage_offset(self._a)


class Storage:
    """The memory under a tensor: ``data_ptr()``, ``nbytes()``, ``size()`` in elements."""

    __slots__ = ("_itemsize", "_owner")

    def __init__(self, owner, itemsize=1):
        self._owner = owner
        self._itemsize = itemsize

    def data_ptr(self):
        """Address of the first byte."""
        return _pointer(self._owner)

    @property
    def device(self):
        """Where the memory is."""
        return of(self._owner)

    def nbytes(self):
        """Bytes in all."""
        return self._owner.nbytes

    def size(self):
        """Elements in all; bytes for an untyped storage."""
        return self._owner.nbytes // self._itemsize

    __len__ = size


only_method(lambda self: Storage(owner(self._a)), "untyped_storage")
only_method(lambda self: Storage(owner(self._a), self._a.itemsize), "storage")
public("is_storage", lambda obj: isinstance(obj, Storage))


# ---------------------------------------------------------------- another storage
class NotImplementedNode(MultiNode):
    """The node of an operation that has no derivative; ``at`` holds its name and when it was
    recorded. It runs as soon as it can, before all others.
    """

    __slots__ = ()

    @property
    def born(self):
        return self.at[1]

    def name(self):
        return "torch::autograd::NotImplemented"

    def run(self, g, F):
        raise RuntimeError(f"derivative for {self.at[0]} is not implemented")


NotImplementedNode.__name__ = NotImplementedNode.__qualname__ = "NotImplemented"


_NO_FORWARD_MODE = (
    "Trying to use forward AD with {} that does not support it because it has not been implemented "
    "yet.\nPlease file an issue to PyTorch at https://github.com/pytorch/pytorch/issues/new?"
    "template=feature-request.yml so that we can prioritize its implementation."
)


def _edge(x):
    return x if x._g is LEAF else x._g


def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Take the memory of ``source``, a tensor or a storage; counts as a modification that has no
    derivative. RuntimeError for a source of another dtype, or sizes that its storage does not hold.
    """
    given = isinstance(source, Tensor)
    if self._tangent or given and source._tangent:
        raise NotImplementedError(_NO_FORWARD_MODE.format("set_"))
    if given:
        _check_source(self, source)
    tracked = is_recording() and (self.requires_grad or (given and source.requires_grad))
    views.check_inplace(self, tracked)
    array = _window(self, source, storage_offset, size, stride)
    if tracked:
        node = new(NotImplementedNode)
        node.seq = FIRST
        node.shape, node.dtype = (array.shape,), (array.dtype,)
        node.hooks = node.r = node.mark = None
        node.e, node.s = (_edge(self), _edge(source) if given else None), ()
        node.at = ("set_", serial())
    if not tracked:
        before_change(self, array, renew=True)
    self._a = array
    views.bump(self)
    if tracked:
        views.note_write(self, Output(node, 0), node)
    return self


def _check_source(self, source):
    if source._a.dtype != self._a.dtype:
        raise RuntimeError(
            f"Could not set tensor of type {dtypes.c_name(source.dtype)} to a tensor of type "
            f"{dtypes.c_name(self.dtype)}"
        )


def _window(self, source, offset, size, stride):
    if source is None:
        return xp.zeros(0, self._a.dtype, like=self._a)
    if isinstance(source, Storage):
        flat = flat_storage(source._owner).view(self._a.dtype)
        size = flat.shape if size is None else size
    elif isinstance(source, Tensor):
        if size is None:
            return source._a
        flat = flat_storage(source._a)
    else:
        raise TypeError(
            "set_() received an invalid combination of arguments - got "
            f"({type(source).__name__}), but expected one of:\n * ()\n * (torch.Storage source)\n "
            "* (torch.Storage source, int storage_offset, tuple of ints size, tuple of ints "
            "stride = None)\n * (Tensor source)"
        )
    size = (size,) if isinstance(size, int) else tuple(size)
    stride = (stride,) if isinstance(stride, int) else stride
    if not stride:
        stride = tuple(math.prod(size[k + 1 :]) for k in range(len(size)))
    return strided(flat, size, tuple(stride), offset)


def resize_(self, *size, memory_format=None):
    """Change the sizes in place, keeping what fits; RuntimeError for a tracked tensor."""
    if self.requires_grad and not is_inference_mode_enabled():
        raise RuntimeError("cannot resize variables that require grad")
    if self._tangent:
        raise RuntimeError("cannot resize variables that has a forward grad")
    if not size:
        raise TypeError('resize_() missing 1 required positional arguments: "size"')
    shape = sizes(size)
    if tuple(shape) == self._a.shape:
        return self
    n, start = math.prod(shape), strides.storage_offset(self._a)
    memory = flat_storage(self._a)
    if start + n > memory.size:
        grown = xp.empty(start + n, self._a.dtype, like=self._a)
        grown[: memory.size] = memory
        memory = grown
    self._a = memory[start : start + n].reshape(shape)
    views.bump(self)
    return self


def resize_as_(self, other, *, memory_format=None):
    """``resize_`` to the shape of ``other``."""
    return resize_(self, other._a.shape)


for _f in (data_ptr, storage_offset, set_, resize_, resize_as_):
    only_method(_f)
public(
    "resize_as_", lambda input, the_template, *, memory_format=None: resize_as_(input, the_template)
)
