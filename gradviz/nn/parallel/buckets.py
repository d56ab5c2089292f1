"""Gradients put together into buckets, so that few large messages travel instead of many small
ones."""

from __future__ import annotations

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.views import bump

FIRST_CAP = 1 << 20
MIB = 1 << 20


def assign(sizes, caps):
    """Lists of indices: a bucket of one dtype is full when its bytes reach its cap.

    ``sizes``: (index, bytes, dtype) in order; ``caps``: for the first bucket, the second, …, the
    last for all that follow.
    """
    open_buckets, full, made = {}, [], 0
    for index, nbytes, dtype in sizes:
        members, total = open_buckets.setdefault(dtype, ([], 0))
        members.append(index)
        if total + nbytes >= caps[min(made, len(caps) - 1)]:
            full.append(members)
            made += 1
            del open_buckets[dtype]
        else:
            open_buckets[dtype] = (members, total + nbytes)
    return full + [members for members, _ in open_buckets.values()]


class GradBucket:
    """What a communication hook gets: the gradients of some parameters as one flat tensor."""

    def __init__(self, index, parameters, last):
        self._index, self._parameters, self._last = index, parameters, last
        self._buffer = wrap(xp.concatenate([_gradient(p).reshape(-1) for p in parameters]))

    def index(self):
        """Its place in the order in which buckets become ready."""
        return self._index

    def buffer(self):
        """The flat tensor."""
        return self._buffer

    def set_buffer(self, tensor):
        """Replace the flat tensor."""
        self._buffer = tensor

    def gradients(self):
        """The gradients one by one, as views of the buffer."""
        flat = self._buffer.split([p.numel() for p in self._parameters])
        return [g.view(p.shape) for g, p in zip(flat, self._parameters, strict=True)]

    def parameters(self):
        """The parameters."""
        return list(self._parameters)

    def is_last(self):
        """Whether no bucket follows."""
        return self._last

    def give_back(self, found, used):
        """Write the flat tensor ``found`` into the gradients of the parameters that are
        ``used``."""
        start = 0
        for p in self._parameters:
            part = found._a[start : start + p.numel()].reshape(p._a.shape)
            start += p.numel()
            if used(p):
                _write(p, part)


def _gradient(p):
    return xp.zeros_like(p._a) if p._grad is None else p._grad._a


def _write(p, array):
    if p._grad is None:
        p._grad = wrap(array.astype(p._a.dtype))
    else:
        p._grad._a[...] = array
        bump(p._grad)
