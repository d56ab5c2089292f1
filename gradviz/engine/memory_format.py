"""The order in which the elements of a tensor lie in memory: row by row, or channels last."""

from __future__ import annotations

from ..backend import xp
from .device import Named


class memory_format(Named):
    """In which order the dimensions of a tensor lie in memory."""

    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
preserve_format = memory_format("preserve_format")

_ORDER = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}
_OF_RANK = {len(order): chosen for chosen, order in _ORDER.items()}


def has_format(array, wanted):
    """Whether ``array`` lies in memory as ``wanted`` says, without gaps."""
    order = _ORDER.get(wanted)
    if order is None:
        return bool(array.flags.c_contiguous)
    return array.ndim == len(order) and bool(array.transpose(order).flags.c_contiguous)


def in_format(array, wanted):
    """``array`` as ``wanted`` says: itself where it lies so, else a copy. RuntimeError for channels
    last of another rank.
    """
    if _exactly(array, wanted):
        return array
    out = empty(array.shape, array.dtype, wanted, like=array)
    out[...] = array
    return out


def empty(shape, dtype, wanted, like=None):
    """Zeros that lie in memory as ``wanted`` says."""
    order = _ORDER.get(wanted)
    if order is None:
        return xp.zeros(shape, dtype, like=like)
    if len(shape) != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {wanted.name} format")
    return xp.zeros([shape[d] for d in order], dtype, like=like).transpose(
        sorted(range(len(order)), key=order.__getitem__)
    )


def channels_format(array):
    """The channels-last format of ``array``, None where its rows or anything else come last."""
    if array.flags.c_contiguous:
        return None
    found = _OF_RANK.get(array.ndim)
    return found if found is not None and has_format(array, found) else None


def _exactly(array, wanted):
    """Whether nothing is to be copied, strides of dimensions of one element included."""
    if not has_format(array, wanted):
        return False
    order = _ORDER.get(wanted)
    if order is None or not array.size:
        return True
    step = array.itemsize
    for d in reversed(order):
        if array.strides[d] != step:
            return False
        step *= array.shape[d]
    return True
