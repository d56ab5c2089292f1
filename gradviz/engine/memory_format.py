"""The order in which the elements of a tensor lie in memory: row by row, or channels last."""

from __future__ import annotations

from ..backend import contiguous, xp
from .device import Named


class memory_format(Named):
    """In which order the dimensions of a tensor lie in memory."""

    __module__ = "gradviz"
    __slots__ = ()


contiguous_format = memory_format("contiguous_format")
channels_last = memory_format("channels_last")
channels_last_3d = memory_format("channels_last_3d")
preserve_format = memory_format("preserve_format")

_ORDER = {channels_last: (0, 2, 3, 1), channels_last_3d: (0, 2, 3, 4, 1)}
_OF_RANK = {len(order): chosen for chosen, order in _ORDER.items()}


def copied(array):
    """A copy in the same order of dimensions; row by row where elements repeat."""
    return array.copy(_kept_order(array))


def cast(array, dtype):
    """``array`` in another dtype, laid out as ``copied`` says."""
    return array.astype(dtype, order=_kept_order(array))


def _kept_order(array):
    return "C" if 0 in array.strides else "K"


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


def laid_out(out, *operands):
    """``out`` in the order of dimensions that PyTorch gives a result of ``operands`` (arrays that
    broadcast to its shape); a copy where that is another one.
    """
    if out.ndim < 2 or all(x.flags.c_contiguous for x in operands):
        return out
    strides = [xp.broadcast_to(x, out.shape).strides for x in operands]
    order = _slowest_first(out.shape, strides)
    moved = out.transpose(order)
    if moved.flags.c_contiguous:
        return out
    back = sorted(range(out.ndim), key=order.__getitem__)
    return contiguous(moved).transpose(back)


def _slowest_first(shape, strides):
    """Dimensions by falling stride, sorted as PyTorch's iterator does it."""
    order = list(reversed(range(len(shape))))
    for i in range(1, len(order)):
        at = i
        for before in reversed(range(i)):
            found = _compare(shape, strides, order[before], order[at])
            if found > 0:
                order[before], order[at] = order[at], order[before]
                at = before
            elif found < 0:
                break
    return order[::-1]


def _compare(shape, strides, a, b):
    """Above 0 when dimension ``b`` lies closer together than ``a``, below when farther apart."""
    for own in strides:
        if own[a] and own[b]:
            if own[a] != own[b]:
                return own[a] - own[b]
            if shape[a] > shape[b]:
                return 1
    return 0
