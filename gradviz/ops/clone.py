"""Copies: clone, contiguous, copy_."""

from __future__ import annotations

import warnings

from ..backend import xp
from ..engine import dtypes, views
from ..engine.dispatch import Tensor
from ..engine.memory_format import contiguous_format, has_format, in_format, preserve_format
from ..engine.operands import (
    is_number,
    number,
    type_name,
)
from .declare import declare, method, only_method

ndarray = xp.ndarray


clone_op = declare(
    "clone",
    lambda x, format: x.copy("K") if format is None else in_format(x.copy("C"), format),
    "self",
    "format",
    node="CloneBackward0",
    formula="g",
    self=lambda F, g: g,
)


def clone(input, *, memory_format=None):
    """A copy with storage of its own, still in the graph; in memory it lies as ``input`` unless
    ``memory_format`` says otherwise.
    """
    if memory_format is None or memory_format is preserve_format:
        array = input._a
        overlaps = array.ndim and any(
            s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)
        )
        memory_format = contiguous_format if overlaps else None
    return clone_op(input, memory_format)


method(clone)


def contiguous(self, *, memory_format=None):
    """Itself when it lies in memory as ``memory_format`` says (row-major by default) without gaps,
    a copy that does otherwise.
    """
    wanted = contiguous_format if memory_format is None else memory_format
    return self if has_format(self._a, wanted) else clone_op(self, wanted)


only_method(contiguous)


def _copied(x, src):
    """``src`` as it is written into ``x``: in its dtype and, broadcast, in its shape."""
    if src.dtype != x.dtype:
        src = (src.real if src.dtype.kind == "c" and x.dtype.kind != "c" else src).astype(x.dtype)
    return (
        src
        if src.shape == x.shape
        else xp.broadcast_to(src, xp.broadcast_shapes(src.shape, x.shape))
    )


copy_op = declare(
    "copy",
    _copied,
    "self src",
    node="CopyBackwards",
    formula="∂src: g",
    self=lambda F, g: F.zeros_like(g),
    src=lambda F, g: g,
)
copy_op.op.node.name = lambda self: "torch::autograd::CopyBackwards"


def warn_of_real(kind, wanted):
    """UserWarning where numbers of dtype ``kind`` are complex and ``wanted`` is not."""
    if kind.kind == "c" and wanted.kind != "c":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=3
        )


def copy_(self, src, non_blocking=False):
    """Write the elements of ``src`` (broadcast, converted) into this tensor."""
    if is_number(src):
        src = number(src, dtypes.of_scalar(src))
    if not isinstance(src, Tensor):
        raise TypeError(
            f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}"
        )
    if src._a.__class__ is not xp.ndarray or self._a.__class__ is not xp.ndarray:
        src = src.to(self.device)
    warn_of_real(src._a.dtype, self._a.dtype)
    return views.write(copy_op.op, (self, src))


only_method(copy_)
