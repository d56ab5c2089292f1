"""In which order the dimensions of a result lie in memory: PyTorch asks its first operand."""

from __future__ import annotations

import functools

from ..backend import xp
from ..engine.memory_format import channels_format, in_format


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
    return xp.ascontiguousarray(moved).transpose(back)


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


def channels_kept(forward):
    """``forward`` whose result has its channels last where its first operand has them so (or the
    weight of a convolution).
    """

    @functools.wraps(forward)
    def computed(x, *rest):
        wanted = channels_format(x)
        if wanted is None and rest and isinstance(rest[0], xp.ndarray):
            wanted = channels_format(rest[0])
        out = forward(x, *rest)
        return out if wanted is None or out.ndim != x.ndim else in_format(out, wanted)

    return computed
