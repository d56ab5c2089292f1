"""Flat and masked places: put, masked_select, masked_scatter."""

from __future__ import annotations

from ..backend import MetaArray, meta, readable, xp, zeros_by
from ..engine import dtypes
from ..engine.dispatch import call, wrap
from ..engine.operands import together
from ..engine.operation import RAW, TENSOR
from ..engine.views import write
from .declare import declare, into_zeros, method, only_method
from .expand import expand
from .place import _outside, _scalar


def _put_forward(x, source, index, accumulate):
    flat = x.copy().reshape(-1)
    if accumulate:
        xp.add.at(flat, index, source)
    else:
        flat[index] = source
    return flat.reshape(x.shape)


def _put_self(F, g, index, accumulate):
    if accumulate:
        return g
    return F.put_zero(g, index)


put_op = declare(
    "put_op",
    _put_forward,
    "self source index",
    "accumulate",
    node="PutBackward0",
    hidden=("source_sym_sizes",),
    formula="∂self: g, zero at the indices    ∂source: g at the indices",
    self=_put_self,
    source=lambda F, g, source, index, source_shape: F.reshape(F.take_op(g, index), source_shape),
)
declare(
    "put_zero",
    lambda g, zero, index: _put_forward(g, 0, index, False),
    "self source index",
    node="PutBackward0",
    also={"accumulate": lambda node: False},
    self=lambda F, g, index: F.put_zero(g, index),
    source=lambda F, g, index: F.take_op(g, index),
)
RAW.put_zero = lambda g, index: _put_forward(g, 0, index, False)
TENSOR.put_zero = lambda g, index, op=TENSOR.put_zero.op: call(op, (g, None, index))
into_zeros(
    "put_back",
    lambda g, index, shape: _put_forward(zeros_by(g, shape), g, index, True),
    "index",
    "shape",
    node="PutBackward0",
    also={"accumulate": lambda node: True},
    self=lambda F, g, index: F.take_op(g, index),
)


def _check_put(self, index, source):
    if index._a.dtype != xp.int64:
        raise RuntimeError(f"put_(): Expected a long tensor for index, but got {_scalar(index)}")
    if self._a.dtype != source._a.dtype:
        raise RuntimeError(
            "put_(): self and source expected to have the same dtype, but got self.dtype = "
            f"{_scalar(self)} and source.dtype = {_scalar(source)}"
        )
    if index._a.size != source._a.size:
        raise IndexError(
            "put_(): Expected source and index to have the same number of elements, but got "
            f"source.numel() = {source._a.size}, index.numel() = {index._a.size}"
        )
    n = self._a.size
    wrong = _outside(index, -n, n)
    if wrong is not None:
        raise IndexError(
            f"out of range: tried to access index {wrong} on a tensor of {n} elements."
        )


def put(input, index, source, accumulate=False):
    """A copy with the elements of ``source`` at flat indices, or added there."""
    _check_put(input, index, source)
    return put_op(input, source, index, accumulate)


def put_(self, index, source, accumulate=False):
    """In-place ``put``."""
    _check_put(self, index, source)
    return write(put_op.op, (self, source, index), (accumulate,))


method(put)
only_method(put_)

masked_select_op = declare(
    "masked_select_op",
    lambda x, mask: x[mask],
    "self mask",
    node="MaskedSelectBackward0",
    formula="g where the mask holds",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, mask, self_shape: F.masked_back(g, mask, self_shape),
)


def _masked_back(g, mask, shape):
    out = zeros_by(g, shape)
    out[mask] = g
    return out


into_zeros(
    "masked_back",
    _masked_back,
    "mask",
    "shape",
    node="MaskedScatterBackward0",
    self=lambda F, g, mask: F.masked_select_op(g, mask),
)


def masked_select(input, mask, *, out=None):
    """The elements where ``mask`` holds, in one dimension."""
    if mask._a.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    if isinstance(mask._a, MetaArray):
        meta.refuse("masked_select")
    shape = together(input, mask)
    source = input if input._a.shape == shape else expand(input, shape)
    return masked_select_op(
        source, mask if mask._a.shape == shape else wrap(xp.broadcast_to(mask._a, shape))
    )


method(masked_select)


def _masked_scatter_forward(x, source, mask):
    out = x.copy()
    if not readable(mask):
        return out
    out[mask] = source.reshape(-1)[: int(mask.sum())]
    return out


def _taken_masked(g, mask, shape):
    """What was taken where ``mask`` holds at the start of zeros."""
    out = zeros_by(g, shape)
    found = g[mask]
    out.reshape(-1)[: found.size] = found
    return out


declare(
    "masked_scatter_backward",
    _taken_masked,
    "self mask",
    "shape",
    formula="g where masked",
    self=lambda F, g, mask: F.masked_given(g, mask),
)


def _masked_given(g, mask):
    out = zeros_by(g, mask.shape)
    out[mask] = g.reshape(-1)[: int(mask.sum())]
    return out


into_zeros(
    "masked_given",
    _masked_given,
    "mask",
    node="MaskedScatterBackward0",
    self=lambda F, g, self_shape, mask: F.masked_scatter_backward(g, mask, self_shape),
)
masked_scatter_op = declare(
    "masked_scatter_op",
    _masked_scatter_forward,
    "self source mask",
    node="MaskedScatterBackward0",
    formula="∂self: g where not masked    ∂source: g where masked",
    self=lambda F, g, mask: F.masked_fill(g, mask, 0),
    source=lambda F, g, mask, source_shape: F.masked_scatter_backward(g, mask, source_shape),
)


def _masked_source(self, mask, source):
    if mask._a.dtype != bool:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{dtypes.scalar_name(mask.dtype)}"
        )
    if source._a.dtype != self._a.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got"
            f"{dtypes.scalar_name(self.dtype)} and "
            f"{dtypes.scalar_name(source.dtype)}"
        )
    if mask._a.shape != self._a.shape:
        mask = wrap(xp.broadcast_to(mask._a, self._a.shape))
    if readable(mask._a) and int(mask._a.sum()) > source._a.size:
        raise RuntimeError("Number of elements of source < number of ones in mask")
    return (self, source, mask)


def masked_scatter(input, mask, source):
    """A copy with the elements of ``source`` put, in order, where ``mask`` holds."""
    return masked_scatter_op(*_masked_source(input, mask, source))


def masked_scatter_(self, mask, source):
    """In-place ``masked_scatter``."""
    return write(masked_scatter_op.op, _masked_source(self, mask, source))


method(masked_scatter)
only_method(masked_scatter_)
