"""Reductions: sum, mean and product."""

from __future__ import annotations

import math

from ..backend import readable, xp
from ..engine import dtypes
from ..engine.arguments import refusal
from ..engine.given import AllAxes, all_axes
from ..engine.modes import is_recording
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from .casting import _cast, converted, is_half
from .declare import declare, method
from .out import asked_dtype, write_out

ndarray = xp.ndarray
add_reduce = xp.add.reduce


# ---------------------------------------------------------------- dims
def axes(dim, ndim):
    """A ``dim`` argument as a tuple of axes; all of them for None or ()."""
    if dim is None:
        return all_axes(ndim, None)
    if isinstance(dim, int) or hasattr(dim, "__index__"):
        return (wrap_dim(dim, ndim),) if ndim else () if wrap_dim(dim, ndim) == 0 else ()
    if not len(dim):
        return all_axes(ndim, ())
    out = tuple(wrap_dim(d, ndim) for d in dim)
    if len(set(out)) != len(out):
        repeated = next(d for d in out if out.count(d) > 1)
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return out if ndim else ()


def restore(F, g, shape, dims, keepdim):
    """A reduced gradient spread over the reduced dimensions again."""
    if not keepdim and dims.__class__ is not AllAxes:
        g = F.with_dims(g, shape, dims)
    return F.expand_to(g, shape)


def keep_shape(shape, dims):
    return tuple(1 if i in dims else n for i, n in enumerate(shape))


def count(shape, dims):
    return math.prod(shape[d] for d in dims)


def _summing(dtype):
    """The dtype in which PyTorch sums: integers in int64."""
    return xp.dtype(xp.int64) if dtype.kind in "biu" else dtype


# ---------------------------------------------------------------- sum and mean
empty = xp.empty


class _Sums(dict):
    """For a dtype, the one to sum in and whether the sum goes back to it."""

    def __missing__(self, dtype):
        half = dtype.itemsize == 2 and dtype.kind in "fV"
        self[dtype] = found = (xp.dtype(xp.float32) if half else _summing(dtype), half)
        return found


_sums = _Sums()


# A product with ones adds up a few numbers in half the time of a reduction.
_FEW = 32
_SINGLE = xp.dtype(xp.float32)
_ones = [xp.ones(n, _SINGLE) for n in range(_FEW + 1)]


def _sum_all(x):
    dtype = x.dtype
    if dtype is _SINGLE and x.__class__ is ndarray and x.size <= _FEW:
        out = empty((), dtype)
        (x if x.ndim == 1 else x.ravel()).dot(_ones[x.size], out)
        return out
    wide, back = _sums[dtype]
    if x.__class__ is ndarray:
        out = empty((), wide)
        add_reduce(x, None, None, out)
    else:
        out = add_reduce(x, None, wide)
    return out.astype(dtype) if back else out


def _sum_dims(x, dims, keepdim):
    wide, back = _sums[x.dtype]
    out = add_reduce(x, dims, wide, None, keepdim)
    return out.astype(x.dtype) if back else out


sum_all = declare(
    "sum",
    _sum_all,
    "self",
    "",
    node="SumBackward0",
    formula="g everywhere",
    self=lambda F, g, self_shape: F.expand_to(g, self_shape),
)


def _sum_to(x, shape):
    """As PyTorch records it: a sum over everything is an ordinary one, and dimensions that vanish
    are kept at first.
    """
    if not shape:
        return TENSOR.sum(x)
    extra = x._a.ndim - len(shape)
    lead = tuple(range(extra))
    thin = (k for k, n in enumerate(shape, extra) if n == 1 and x._a.shape[k] != 1)
    dims = (*lead, *thin)
    summed = TENSOR.sum_dims(x, dims, True) if dims else x
    return TENSOR.view(summed, shape) if extra else summed


TENSOR.sum_to = _sum_to

sum_cast = declare(
    "sum_cast",
    lambda x, dtype: _sum_all(_cast(x, dtype)),
    "self",
    "dtype",
    node="SumBackward0",
    formula="g everywhere",
    self=lambda F, g, self_shape: F.expand_to(g, self_shape),
)
sum_dims = declare(
    "sum_dims",
    _sum_dims,
    "self",
    "dim keepdim",
    node="SumBackward1",
    formula="g along the summed dimensions",
    self=lambda F, g, self_shape, dim, keepdim: restore(F, g, self_shape, dim, keepdim),
)
_NUMEL = {"self_sym_numel": lambda node: math.prod(node.at[-1])}


def _mean_all(x):
    n = max(x.size, 1) if x.size else xp.nan
    if is_half(x.dtype):
        return (add_reduce(x, None, xp.float32) / xp.float32(n)).astype(x.dtype)
    return _sum_all(x) / x.dtype.type(n)


mean_all = declare(
    "mean",
    _mean_all,
    "self",
    "",
    node="MeanBackward0",
    also=_NUMEL,
    formula="g / n everywhere",
    self=lambda F, g, self_shape: F.expand_to(g, self_shape) / math.prod(self_shape),
)


def _mean_dims(x, dims, keepdim):
    n = count(x.shape, dims)
    with xp.errstate(all="ignore"):
        if is_half(x.dtype):
            total = add_reduce(x, dims, xp.float32, None, keepdim)
            return (total / xp.float32(n)).astype(x.dtype)
        return _sum_dims(x, dims, keepdim) / x.dtype.type(n)


mean_dims = declare(
    "mean_dims",
    _mean_dims,
    "self",
    "dim keepdim",
    node="MeanBackward1",
    formula="g / n along the averaged dimensions",
    also=_NUMEL,
    self=lambda F, g, self_shape, dim, keepdim: (
        restore(F, g, self_shape, dim, keepdim) / count(self_shape, dim)
    ),
)


def _as(input, dtype, convert=converted):
    return input if dtype is None else convert(input, dtypes.PYTHON.get(dtype, dtype).np)


def check_summed(input, dtype):
    """RuntimeError where a tracked tensor is to be added up in whole numbers."""
    wanted = dtypes.PYTHON.get(dtype, dtype)
    if wanted is not None and wanted.category < 2 and input.requires_grad and is_recording():
        raise RuntimeError(f"Autograd not support dtype: {dtypes.scalar_name(wanted)}")


def narrowed(result, dtype):
    """A result in the ``dtype`` of whole numbers that was asked for: they are added up in int64."""
    if dtype is None:
        return result
    wanted = dtypes.PYTHON.get(dtype, dtype).np
    return result if result._a.dtype == wanted else TENSOR.cast(result, wanted)


def _finish(name, result, out, input):
    if out is None:
        return result
    return write_out(name, result, out, (input,))


def sum(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """The sum of all elements, or along ``dim``; integers sum in int64."""
    if (
        dim is None
        and axis is None
        and dtype is None
        and not keepdim
        and not keepdims
        and out is None
    ):
        return sum_all(input)
    dim = axis if dim is None else dim
    if dim is None and (keepdim or keepdims):
        raise refusal("sum", (input,), {"keepdims" if keepdims else "keepdim": True})
    keepdim = keepdim or keepdims
    dtype = dtypes.PYTHON.get(dtype, dtype) if out is None else asked_dtype("sum", dtype, out)
    check_summed(input, dtype)
    if dim is None:
        wide = dtype is not None and dtype.category >= 2 and dtype.np != input._a.dtype
        result = sum_cast(input, dtype.np) if wide else sum_all(_as(input, dtype, TENSOR.cast))
    else:
        input = _as(input, dtype, TENSOR.cast)
        result = sum_dims(input, axes(dim, input._a.ndim), keepdim)
    return _finish("sum", narrowed(result, dtype), out, input)


def mean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None, keepdims=False):
    """The mean of all elements, or along ``dim``; RuntimeError for integers."""
    input = _as(input, dtype)
    if input._a.dtype.kind in "biu":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point "
            "or complex dtype. Got: "
            f"{dtypes.scalar_name(input.dtype)}"
        )
    dim = axis if dim is None else dim
    if dim is None and (keepdim or keepdims):
        raise refusal("mean", (input,), {"keepdims" if keepdims else "keepdim": True})
    keepdim = keepdim or keepdims
    if dim is None:
        return _finish("mean", mean_all(input), out, input)
    return _finish("mean", mean_dims(input, axes(dim, input._a.ndim), keepdim), out, input)


method(sum)
method(mean)


def _dtype(F, x):
    return (x if F is RAW else x._a).dtype


def _nansum(x, dims, keepdim):
    return _sum_dims(xp.where(xp.isnan(x), x.dtype.type(0), x), dims, keepdim)


nansum_op = declare(
    "nansum_op",
    _nansum,
    "self",
    "dim keepdim",
    node="NansumBackward0",
    formula="g where self is not NaN",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, self_shape, dim, keepdim: (
        restore(F, g, self_shape, dim, keepdim) * F.cast(F.logical_not(F.isnan(self)), _dtype(F, g))
    ),
)


def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum with NaN counted as zero."""
    check_summed(input, dtype)
    input = _as(input, dtype)
    if input._a.dtype.kind in "biu":
        return sum_dims(input, axes(dim, input._a.ndim), keepdim)
    return nansum_op(input, axes(dim, input._a.ndim), keepdim)


def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are not NaN."""
    if dtype is not None and dtypes.PYTHON.get(dtype, dtype).category < 2:
        shown = dtypes.scalar_name(dtypes.PYTHON.get(dtype, dtype))
        raise RuntimeError(
            "nanmean(): could not infer output dtype. Optional dtype must be either a floating "
            f"point or complex dtype. Got: {shown}"
        )
    if dtype is None and input._a.dtype.kind in "biu":
        raise RuntimeError(
            "nanmean(): expected input to have floating point or complex dtype but got "
            f"{dtypes.scalar_name(input.dtype)}"
        )
    seen = (~input.detach().isnan()).sum(() if dim is None else dim, keepdim)
    return nansum(input, dim, keepdim, dtype=dtype) / seen


method(nansum)
method(nanmean)


# ---------------------------------------------------------------- product
# what a whole reduction keeps for itself, and PyTorch's node does not show
_WHOLE = ("dim", "keepdim", "self_sym_sizes")


def _prod_forward(x, dims, keepdim):
    return xp.multiply.reduce(x, dims, _summing(x.dtype), None, keepdim)


def _prod_grad(F, g, self, result, self_shape, dim, keepdim):
    zeros = (self if F is RAW else self._a) == 0
    if F is RAW and readable(zeros) and zeros.any():
        return restore(F, g, self_shape, dim, keepdim) * F.products_of_others(self, dim)
    if F is RAW:
        return restore(F, g * F.conj(result), self_shape, dim, keepdim) / F.conj(self)
    if not keepdim and len(dim) == 1:
        g, result = (F.with_dims(x, self_shape, dim) for x in (g, result))
    if readable(zeros) and zeros.any():
        return g * F.products_of_others(self, dim)
    return g * F.conj(result / self)


prod_op = declare(
    "prod",
    _prod_forward,
    "self",
    "dim keepdim",
    node="ProdBackward0",
    formula="g · result / self",
    hidden=_WHOLE,
    self=_prod_grad,
)
prod_dim_op = declare(
    "prod_dim",
    _prod_forward,
    "self",
    "dim keepdim",
    node="ProdBackward1",
    formula="g · result / self",
    hidden=("self_sym_sizes",),
    also={"dim": lambda node: node.at[0][0] if node.at[0] else 0},
    self=_prod_grad,
)


def _products_of_others(x, dims):
    """For every element the product of all others along ``dims``: what division cannot give where
    an element is zero.
    """
    order = [d for d in range(x.ndim) if d not in dims] + list(dims)
    moved = x.transpose(order)
    kept = moved.shape[: x.ndim - len(dims)]
    rows = moved.reshape(*kept, -1)
    n = rows.shape[-1]
    before = xp.ones_like(rows)
    before[..., 1:] = xp.multiply.accumulate(rows[..., :-1], -1) if n > 1 else 1
    after = xp.ones_like(rows)
    if n > 1:
        after[..., :-1] = xp.multiply.accumulate(rows[..., :0:-1], -1)[..., ::-1]
    return (before * after).reshape(moved.shape).transpose([order.index(d) for d in range(x.ndim)])


RAW.products_of_others = _products_of_others


def _others_on_tensors(x, dims):
    """The same from differentiable pieces: one product a left-out element."""
    flat = x.movedim(dims, tuple(range(-len(dims), 0))).flatten(-len(dims))
    n = flat._a.shape[-1]
    parts = [TENSOR.cat([flat[..., :k], flat[..., k + 1 :]], -1).prod(-1) for k in range(n)]
    out = TENSOR.stack(parts, -1)
    kept = [s for d, s in enumerate(x._a.shape) if d not in dims]
    out = out.reshape(*kept, *[x._a.shape[d] for d in dims])
    return out.movedim(tuple(range(-len(dims), 0)), dims)


TENSOR.products_of_others = _others_on_tensors


def prod(input, dim=None, keepdim=False, *, dtype=None):
    """The product of all elements, or along ``dim``."""
    check_summed(input, dtype)
    input = _as(input, dtype)
    if dim is None and keepdim is not False:
        raise refusal("prod", (input,), {"keepdim": keepdim})
    if dim is None:
        return narrowed(prod_op(input, tuple(range(input._a.ndim)), False), dtype)
    return narrowed(prod_dim_op(input, axes(dim, input._a.ndim), keepdim), dtype)


method(prod)
