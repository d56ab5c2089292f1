"""Reductions and scans: sum, mean, extremes, norms, softmax, cumulative sums."""

from __future__ import annotations

import math

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import RAW, TENSOR, Tensor, wrap
from ..engine.tensor import wrap_dim
from .declare import alias, declare, method, only_function, public
from .shape import _region

ndarray = xp.ndarray
add_reduce = xp.add.reduce


# ---------------------------------------------------------------- dims
def axes(dim, ndim):
    """A ``dim`` argument as a tuple of axes; all of them for None or ()."""
    if dim is None or dim == () or dim == []:
        return tuple(range(ndim))
    if isinstance(dim, int):
        return (wrap_dim(dim, ndim),) if ndim else () if wrap_dim(dim, ndim) == 0 else ()
    out = tuple(wrap_dim(d, ndim) for d in dim)
    if len(set(out)) != len(out):
        repeated = next(d for d in out if out.count(d) > 1)
        raise RuntimeError(f"dim {repeated} appears multiple times in the list of dims")
    return out if ndim else ()


def restore(F, g, shape, dims, keepdim):
    """A reduced gradient spread over the reduced dimensions again."""
    if not keepdim:
        g = F.reshape(g, tuple(1 if i in dims else n for i, n in enumerate(shape)))
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
_NARROW = frozenset((xp.dtype(xp.float16),))
_wide = {d: xp.dtype(xp.int64) for d in map(xp.dtype, "?bBhHiIlL")}


def _sum_all(x):
    dtype = x.dtype
    if dtype in _NARROW:
        return add_reduce(x, None, xp.float32).astype(dtype)
    out = empty((), _wide.get(dtype) or dtype)
    add_reduce(x, None, None, out)
    return out


def _sum_dims(x, dims, keepdim):
    if x.dtype == xp.float16:
        return add_reduce(x, dims, xp.float32, None, keepdim).astype(x.dtype)
    return add_reduce(x, dims, _summing(x.dtype), None, keepdim)


sum_all = declare("sum", _sum_all, "self", "", node="SumBackward0", formula="g everywhere",
                  self=lambda F, g, self_shape: F.expand_to(g, self_shape))  # fmt: skip
sum_dims = declare("sum_dims", _sum_dims, "self", "dim keepdim", node="SumBackward1", formula="g along the summed dimensions",
                   self=lambda F, g, self_shape, dim, keepdim: restore(F, g, self_shape, dim, keepdim))  # fmt: skip
mean_all = declare("mean", lambda x: _sum_all(x) / x.dtype.type(max(x.size, 1) if x.size else xp.nan), "self", "", node="MeanBackward0",
                   formula="g / n everywhere",
                   self=lambda F, g, self_shape: F.expand_to(g / max(math.prod(self_shape), 1), self_shape))  # fmt: skip


def _mean_dims(x, dims, keepdim):
    with xp.errstate(all="ignore"):
        return _sum_dims(x, dims, keepdim) / x.dtype.type(count(x.shape, dims))


mean_dims = declare("mean_dims", _mean_dims, "self", "dim keepdim", node="MeanBackward1", formula="g / n along the averaged dimensions",
                    self=lambda F, g, self_shape, dim, keepdim: restore(F, g / count(self_shape, dim), self_shape, dim, keepdim))  # fmt: skip


def _as(input, dtype):
    return input if dtype is None else TENSOR.cast(input, dtype.np)


def _finish(name, result, out, input):
    if out is None:
        return result
    from .declare import write_out

    return write_out(name, result, out, (input,))


def sum(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None):
    """The sum of all elements, or along ``dim``; integers sum in int64."""
    if dim is None and axis is None and dtype is None and not keepdim:
        return sum_all(input) if out is None else _finish("sum", sum_all(input), out, input)
    input = _as(input, dtype)
    dim = axis if dim is None else dim
    return _finish("sum", sum_dims(input, axes(dim, input._a.ndim), keepdim), out, input)


def mean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=None):
    """The mean of all elements, or along ``dim``; RuntimeError for integers."""
    input = _as(input, dtype)
    if input._a.dtype.kind in "biu":
        raise RuntimeError(
            f"mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            f"{dtypes.scalar_name(input.dtype)}"
        )
    dim = axis if dim is None else dim
    if dim is None and not keepdim:
        return _finish("mean", mean_all(input), out, input)
    return _finish("mean", mean_dims(input, axes(dim, input._a.ndim), keepdim), out, input)


method(sum)
method(mean)


def nansum(input, dim=None, keepdim=False, *, dtype=None):
    """The sum with NaN counted as zero."""
    return sum(TENSOR.where(input.isnan(), wrap(xp.zeros((), input._a.dtype)), input), dim, keepdim, dtype=dtype)


def nanmean(input, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are not NaN."""
    return nansum(input, dim, keepdim, dtype=dtype) / (~input.isnan()).sum(dim, keepdim)


method(nansum)
method(nanmean)


# ---------------------------------------------------------------- product
def _prod_forward(x, dims, keepdim):
    return xp.multiply.reduce(x, dims, _summing(x.dtype), None, keepdim)


def _prod_grad(F, g, self, result, self_shape, dim, keepdim):
    spread = restore(F, g * F.conj(result), self_shape, dim, keepdim)
    zeros = (self if F is RAW else self._a) == 0
    if not zeros.any():
        return spread / F.conj(self)
    return F.mul(restore(F, g, self_shape, dim, keepdim), F.products_of_others(self, dim))


prod_op = declare("prod", _prod_forward, "self", "dim keepdim", node="ProdBackward0", formula="g · result / self", self=_prod_grad)
prod_dim_op = declare("prod_dim", _prod_forward, "self", "dim keepdim", node="ProdBackward1", formula="g · result / self", self=_prod_grad)


def _products_of_others(x, dims):
    """For every element the product of all others along ``dims``: what division cannot give where an element is zero."""
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
    input = _as(input, dtype)
    if dim is None:
        return prod_op(input, tuple(range(input._a.ndim)), False)
    return prod_dim_op(input, axes(dim, input._a.ndim), keepdim)


method(prod)


# ---------------------------------------------------------------- extremes
def _even(F, g, self, result, self_shape, dim, keepdim):
    """The gradient shared evenly among equal extremes (PyTorch's amax, amin and full max, min)."""
    if not keepdim:
        g, result = (F.reshape(x, keep_shape(self_shape, dim)) for x in (g, result))
    mask = F.cast(self == result, (g if F is RAW else g._a).dtype)
    return g * mask / F.sum_dims(mask, dim, True)


def _extreme(function):
    def forward(x, dims, keepdim):
        if x.size == 0 and (not dims or any(x.shape[d] == 0 for d in dims)):
            raise RuntimeError(f"{function.__name__}(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                               "reduction dim with the 'dim' argument.")  # fmt: skip
        return function.reduce(x, dims or tuple(range(x.ndim)), None, None, keepdim)

    return forward


amax_op = declare("amax", _extreme(xp.maximum), "self", "dim keepdim", node="AmaxBackward0", formula="g shared by the largest", self=_even)
amin_op = declare("amin", _extreme(xp.minimum), "self", "dim keepdim", node="AminBackward0", formula="g shared by the smallest", self=_even)
max_all = declare("max_all", _extreme(xp.maximum), "self", "dim keepdim", node="MaxBackward1", formula="g shared by the largest", self=_even)
min_all = declare("min_all", _extreme(xp.minimum), "self", "dim keepdim", node="MinBackward1", formula="g shared by the smallest", self=_even)


def _put_along(g, index, shape, dim):
    out = xp.zeros(shape, g.dtype)
    xp.put_along_axis(out, index, g, dim)
    return out


declare("put_along", _put_along, "self", "index shape dim", node="ScatterBackward0",
        self=lambda F, g, index, dim: F.take_along(g, index, dim))  # fmt: skip
declare("take_along", lambda x, index, dim: xp.take_along_axis(x, index, dim), "self", "index dim", node="GatherBackward0",
        self=lambda F, g, self_shape, index, dim: F.put_along(g, index, self_shape, dim))  # fmt: skip


def _pick(F, g, self_shape, dim, keepdim, indices):
    """The gradient goes to the one chosen element."""
    g = g[0]
    if not keepdim and self_shape:
        g = F.reshape(g, keep_shape(self_shape, (dim,)))
        indices = xp.expand_dims(indices, dim)
    return (F.put_along(g, indices, self_shape, dim) if self_shape else g,)


def _chooser(name, argument, node):
    """max, min, median, … along a dimension: (values, indices), gradient to the chosen element."""

    def forward(x, dim, keepdim, indices):
        if x.ndim == 0:
            return x.copy(), xp.zeros((), xp.int64)
        values = xp.take_along_axis(x, xp.expand_dims(indices, dim), dim)
        return (values, xp.expand_dims(indices, dim)) if keepdim else (values.squeeze(dim), indices)

    op = declare(name, forward, "self", "dim keepdim indices", node=node, outputs=(True, False), formula="g at the chosen element",
                 joint=_pick)  # fmt: skip

    def function(input, dim, keepdim):
        n = input._a.ndim
        d = wrap_dim(dim, n)
        if n and input._a.shape[d] == 0:
            raise IndexError(f"{name.split('_')[0]}(): Expected reduction dim {d} to have non-zero size.")
        indices = argument(input._a, d) if n else None
        return _pair(name.split("_")[0], op(input, d, keepdim, indices))

    return function


def _pair(name, pair):
    return return_types(name)(*pair)


_TYPES = {}


def return_types(name, fields=("values", "indices")):
    """The named tuple that an operation returns, as ``torch.return_types.<name>``."""
    if name not in _TYPES:
        from collections import namedtuple

        made = namedtuple(name, fields)
        made.__module__ = "torch.return_types"
        made.__repr__ = lambda self: (
            f"torch.return_types.{name}(\n" + ",\n".join(f"{f}={v!r}" for f, v in zip(self._fields, self, strict=True)) + ")"
        )
        _TYPES[name] = made
    return _TYPES[name]


def _nan_first(function):
    """NumPy's argmax and argmin already put NaN first, as PyTorch does."""
    return lambda x, d: function(x, d).astype(xp.int64, copy=False)


_max_dim = _chooser("max_dim", _nan_first(xp.argmax), "MaxBackward0")
_min_dim = _chooser("min_dim", _nan_first(xp.argmin), "MinBackward0")


def _extremum(name, whole, along):
    def function(input, dim=None, keepdim=False, *, other=None, out=None):
        if isinstance(dim, Tensor) or other is not None:
            from .elementwise import maximum, minimum

            return (maximum if name == "max" else minimum)(input, dim if other is None else other)
        if dim is None:
            if input._a.size == 0:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                    "'dim' argument."
                )
            return whole(input, tuple(range(input._a.ndim)), False)
        return along(input, dim, keepdim)

    function.__name__ = name
    function.__doc__ = f"The {name}imum of all elements; along ``dim`` (values, indices); of two tensors elementwise."
    return method(function, name)


_extremum("max", max_all, _max_dim)
_extremum("min", min_all, _min_dim)
method(lambda input, dim=(), keepdim=False: amax_op(input, axes(dim, input._a.ndim), keepdim), "amax")
method(lambda input, dim=(), keepdim=False: amin_op(input, axes(dim, input._a.ndim), keepdim), "amin")
method(lambda input, dim=None, keepdim=False: return_types("aminmax", ("min", "max"))(
    input.amin(() if dim is None else dim, keepdim), input.amax(() if dim is None else dim, keepdim)), "aminmax")  # fmt: skip


def _arg(function, name):
    def index_of(input, dim=None, keepdim=False):
        a = input._a
        if dim is None:
            if a.size == 0:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            found = xp.asarray(function(a), dtype=xp.int64)
            return wrap(found.reshape((1,) * a.ndim) if keepdim else found)
        d = wrap_dim(dim, a.ndim)
        if a.ndim == 0:
            return wrap(xp.zeros((), xp.int64))
        return wrap(xp.asarray(function(a, d, keepdims=keepdim), dtype=xp.int64))

    index_of.__name__ = name
    index_of.__doc__ = f"The index of the {name[3:]}imum."
    method(index_of, name)


_arg(xp.argmax, "argmax")
_arg(xp.argmin, "argmin")


def _middle(x, d):
    order = xp.argsort(x, d, kind="stable")
    return xp.take(order, (x.shape[d] - 1) // 2, d).astype(xp.int64)


_median_dim = _chooser("median_dim", _middle, "MedianBackward1")
median_all = declare("median", lambda x: xp.sort(x.ravel())[(x.size - 1) // 2], "self", "", node="MedianBackward0",
                     formula="g shared by the elements equal to the median",
                     self=lambda F, g, self, result, self_shape: _even(F, g, self, result, self_shape, tuple(range(len(self_shape))), False))  # fmt: skip


def median(input, dim=None, keepdim=False):
    """The lower median of all elements, or (values, indices) along ``dim``."""
    return median_all(input) if dim is None else _median_dim(input, dim, keepdim)


method(median)


# ---------------------------------------------------------------- sorting
def _sort_joint(F, g, self_shape, dim, indices):
    g = g[0]
    return (F.put_along(g, indices, self_shape, dim) if self_shape else g,)


sort_op = declare("sort", lambda x, dim, indices: (xp.take_along_axis(x, indices, dim) if x.ndim else x.copy(), indices), "self",
                  "dim indices", node="SortBackward0", outputs=(True, False), formula="g put back in the old order", joint=_sort_joint)  # fmt: skip
topk_op = declare("topk", lambda x, dim, indices: (xp.take_along_axis(x, indices, dim) if x.ndim else x.copy(), indices), "self",
                  "dim indices", node="TopkBackward0", outputs=(True, False), formula="g at the chosen elements", joint=_sort_joint)  # fmt: skip


def _order(a, dim, descending):
    if a.ndim == 0:
        return xp.zeros((), xp.int64)
    if not descending:
        return xp.argsort(a, dim, kind="stable")
    flipped = xp.flip(a, dim)
    order = xp.flip(xp.argsort(flipped, dim, kind="stable"), dim)
    return a.shape[dim] - 1 - order


def sort(input, dim=-1, descending=False, stable=False):
    """(values, indices) sorted along ``dim``; equal elements keep their order."""
    d = wrap_dim(dim, input._a.ndim)
    return _pair("sort", sort_op(input, d, _order(input._a, d, descending)))


def argsort(input, dim=-1, descending=False, stable=False):
    """The indices that sort along ``dim``."""
    return wrap(xp.ascontiguousarray(_order(input._a, wrap_dim(dim, input._a.ndim), descending)))


def topk(input, k, dim=-1, largest=True, sorted=True):
    """(values, indices) of the ``k`` largest or smallest along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    if input._a.ndim and not 0 <= k <= input._a.shape[d]:
        raise RuntimeError("selected index k out of range")
    order = _order(input._a, d, largest)
    indices = xp.ascontiguousarray(order[_region(input._a.ndim, d, slice(0, k))]) if input._a.ndim else order
    return _pair("topk", topk_op(input, d, indices))


def kthvalue(input, k, dim=-1, keepdim=False):
    """(value, index) of the ``k``-th smallest along ``dim``."""
    return _chooser("kthvalue_dim", lambda x, d: xp.take(xp.argsort(x, d, kind="stable"), k - 1, d), "KthvalueBackward0")(input, dim, keepdim)


for _f in (sort, argsort, topk, kthvalue):
    method(_f)
method(lambda input, dim=-1, descending=False: sort(input, dim, descending), "msort")

# ---------------------------------------------------------------- scans
cumsum_op = declare("cumsum", lambda x, dim: xp.cumsum(x, dim, _summing(x.dtype)) if x.ndim else x.copy(), "self", "dim",
                    formula="sums of g from here on", self=lambda F, g, dim: F.reverse_cumsum(g, dim))  # fmt: skip
declare("reverse_cumsum", lambda x, dim: xp.flip(xp.cumsum(xp.flip(x, dim), dim), dim) if x.ndim else x, "self", "dim",
        node="FlipBackward0", self=lambda F, g, dim: F.cumsum(g, dim))  # fmt: skip


def _cumprod_grad(F, g, self, result, dim):
    return F.reverse_cumsum(g * F.conj(result), dim) / F.conj(self)


cumprod_op = declare("cumprod", lambda x, dim: xp.cumprod(x, dim, _summing(x.dtype)) if x.ndim else x.copy(), "self", "dim",
                     formula="sums of g · result from here on, / self", self=_cumprod_grad)  # fmt: skip


def cumsum(input, dim, *, dtype=None):
    """Running sums along ``dim``."""
    input = _as(input, dtype)
    return cumsum_op(input, wrap_dim(dim, input._a.ndim))


def cumprod(input, dim, *, dtype=None):
    """Running products along ``dim``."""
    input = _as(input, dtype)
    return cumprod_op(input, wrap_dim(dim, input._a.ndim))


method(cumsum)
method(cumprod)


# ---------------------------------------------------------------- variance and norms
def _centred(x, dims):
    return x - add_reduce(x, dims, None, None, True) / x.dtype.type(max(count(x.shape, dims), 1))


def _var_forward(x, dims, correction, keepdim):
    c = _centred(x, dims)
    with xp.errstate(all="ignore"):
        squares = (c * xp.conj(c)).real if x.dtype.kind == "c" else c * c
        return add_reduce(squares, dims, None, None, keepdim) / squares.dtype.type(max(count(x.shape, dims) - correction, 0))


def _var_grad(F, g, self, self_shape, dim, correction, keepdim):
    n = count(self_shape, dim)
    scale = 2.0 / (n - correction) if n != correction else math.nan
    centred = self - F.expand_to(F.mean_dims(self, dim, True), self_shape)
    return restore(F, g, self_shape, dim, keepdim) * scale * centred


var_op = declare("var", _var_forward, "self", "dim correction keepdim", formula="2 g (self − mean) / (n − correction)", self=_var_grad)
std_op = declare("std", lambda x, dims, c, k: xp.sqrt(_var_forward(x, dims, c, k)), "self", "dim correction keepdim",
                 formula="g (self − mean) / ((n − correction) · result)",
                 self=lambda F, g, self, result, self_shape, dim, correction, keepdim: _var_grad(
                     F, g / (result * 2) if F is TENSOR else _safe_divide(g, result * 2), self, self_shape, dim, correction, keepdim))  # fmt: skip


def _safe_divide(a, b):
    with xp.errstate(all="ignore"):
        return a / b


def _spread_measure(name, op):
    def function(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if correction is None:
            correction = 1 if unbiased is None or unbiased else 0
        dim = axis if dim is None else dim
        if input._a.dtype.kind in "biu":
            raise RuntimeError(f"{name} only support floating point and complex dtypes")
        return op(input, axes(dim, input._a.ndim), correction, keepdim)

    function.__name__ = name
    function.__doc__ = f"``{name}`` of all elements or along ``dim``; ``correction`` is subtracted from the count (1 = unbiased)."
    method(function, name)
    return function


var, std = _spread_measure("var", var_op), _spread_measure("std", std_op)
public("var_mean", lambda input, dim=None, unbiased=None, keepdim=False, *, correction=None: (
    var(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)))  # fmt: skip
public("std_mean", lambda input, dim=None, unbiased=None, keepdim=False, *, correction=None: (
    std(input, dim, unbiased, keepdim, correction=correction), mean(input, dim, keepdim)))  # fmt: skip


def _norm_forward(x, p, dims, keepdim):
    a = xp.abs(x)
    if p == 2:
        return xp.sqrt(add_reduce(a * a, dims, None, None, keepdim))
    if p == 1:
        return add_reduce(a, dims, None, None, keepdim)
    if p == math.inf:
        return xp.maximum.reduce(a, dims, None, None, keepdim)
    if p == -math.inf:
        return xp.minimum.reduce(a, dims, None, None, keepdim)
    if p == 0:
        return add_reduce((a != 0).astype(a.dtype), dims, None, None, keepdim)
    return add_reduce(a**p, dims, None, None, keepdim) ** a.dtype.type(1 / p)


def _norm_grad(F, g, self, result, self_shape, p, dim, keepdim):
    if p == 0:
        return F.zeros_like(self)
    if not keepdim:
        g, result = (F.reshape(x, keep_shape(self_shape, dim)) for x in (g, result))
    if p == 1:
        return F.sgn(self) * g
    if p == 2:
        return self * F.masked_fill(g / F.masked_fill(result, result == 0, 1), result == 0, 0)
    size = F.abs(self)
    if p in (math.inf, -math.inf):
        mask = F.cast(size == result, (g if F is RAW else g._a).dtype)
        return F.sgn(self) * (mask / F.sum_dims(mask, dim, True) * g)
    power = F.pow_scalar(F.masked_fill(size, size == 0, 1), p - 1)
    power = F.masked_fill(power, size == 0, 0)
    scale = g / F.pow_scalar(F.masked_fill(result, result == 0, 1), p - 1)
    return F.sgn(self) * power * F.masked_fill(scale, result == 0, 0)


norm_op = declare("norm_all", _norm_forward, "self", "p dim keepdim", node="NormBackward0", formula="g · self / result", self=_norm_grad)
vector_norm_op = declare("vector_norm", _norm_forward, "self", "ord dim keepdim", node="LinalgVectorNormBackward0",
                         formula="g · self / result",
                         self=lambda F, g, self, result, self_shape, ord, dim, keepdim: _norm_grad(
                             F, g, self, result, self_shape, ord, dim, keepdim))  # fmt: skip


def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The p-norm of all elements or along ``dim``; "fro" is p = 2."""
    input = _as(input, dtype)
    power = 2.0 if p in ("fro", None) else float(p)
    return vector_norm_op(input, power, axes(dim, input._a.ndim), keepdim)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """``linalg.vector_norm``: the ``ord``-norm of all elements or along ``dim``."""
    x = _as(x, dtype)
    return vector_norm_op(x, float(ord), axes(dim, x._a.ndim), keepdim)


method(norm)
public("dist", lambda input, other, p=2: norm(input - other, p))


# ---------------------------------------------------------------- logsumexp, softmax
def _logsumexp_forward(x, dims, keepdim):
    top = xp.maximum.reduce(x, dims, None, None, True)
    top = xp.where(xp.isfinite(top), top, 0)
    with xp.errstate(divide="ignore"):
        out = xp.log(add_reduce(xp.exp(x - top), dims, None, None, True)) + top
    return out if keepdim else out.reshape(tuple(n for i, n in enumerate(x.shape) if i not in dims))


def _logsumexp_grad(F, g, self, result, self_shape, dim, keepdim):
    if not keepdim:
        g, result = (F.reshape(x, keep_shape(self_shape, dim)) for x in (g, result))
    return g * F.exp(self - result)


logsumexp_op = declare("logsumexp", _logsumexp_forward, "self", "dim keepdim", formula="g · exp(self − result)", self=_logsumexp_grad)
method(lambda input, dim, keepdim=False: logsumexp_op(input, axes(dim, input._a.ndim), keepdim), "logsumexp")


def _softmax_forward(x, dim):
    if x.ndim == 0:
        return xp.ones((), x.dtype)
    e = xp.exp(x - xp.maximum.reduce(x, dim, None, None, True))
    e /= add_reduce(e, dim, None, None, True)
    return e


def _log_softmax_forward(x, dim):
    if x.ndim == 0:
        return xp.zeros((), x.dtype)
    shifted = x - xp.maximum.reduce(x, dim, None, None, True)
    shifted -= xp.log(add_reduce(xp.exp(shifted), dim, None, None, True))
    return shifted


def _along(F, x, dim):
    return F.sum_dims(x, (dim,) if (x if F is RAW else x._a).ndim else (), True)


softmax_op = declare("softmax", _softmax_forward, "self", "dim", node="SoftmaxBackward0", formula="result · (g − Σ g · result)",
                     self=lambda F, g, result, dim: result * (g - _along(F, g * result, dim)))  # fmt: skip
log_softmax_op = declare("log_softmax", _log_softmax_forward, "self", "dim", node="LogSoftmaxBackward0", formula="g − exp(result) · Σ g",
                         self=lambda F, g, result, dim: g - F.exp(result) * _along(F, g, dim))  # fmt: skip


def softmax(input, dim=None, dtype=None):
    """exp(x) / Σ exp(x) along ``dim``."""
    input = _as(input, dtype)
    _refuse_integers("softmax_lastdim_kernel_impl", input)
    return softmax_op(input, wrap_dim(_implicit_dim(input, dim), input._a.ndim))


def log_softmax(input, dim=None, dtype=None):
    """log(softmax(x)) along ``dim``."""
    input = _as(input, dtype)
    _refuse_integers("log_softmax_lastdim_kernel_impl", input)
    return log_softmax_op(input, wrap_dim(_implicit_dim(input, dim), input._a.ndim))


def _implicit_dim(input, dim):
    """The dimension that PyTorch guesses (with a deprecation) when none is given."""
    if dim is not None:
        return dim
    return 0 if input._a.ndim in (0, 1, 3) else 1


def _refuse_integers(kernel, input):
    if input._a.dtype.kind in "biu":
        raise RuntimeError(f"\"{kernel}\" not implemented for '{dtypes.scalar_name(input.dtype)}'")


method(softmax)
method(log_softmax)


# ---------------------------------------------------------------- all, any, counts
def _logical(name, ufunc):
    def function(input, dim=None, keepdim=False):
        a = input._a
        kind = xp.uint8 if a.dtype == xp.uint8 else bool
        dims = axes(dim, a.ndim)
        return wrap(xp.asarray(ufunc.reduce(a != 0, dims, None, None, keepdim)).astype(kind))

    function.__name__ = name
    function.__doc__ = f"Whether {name} elements are nonzero, in all or along ``dim``."
    method(function, name)


_logical("all", xp.logical_and)
_logical("any", xp.logical_or)


def count_nonzero(input, dim=None):
    """The number of nonzero elements."""
    return wrap(xp.asarray(xp.count_nonzero(input._a, axis=None if dim is None else axes(dim, input._a.ndim)), dtype=xp.int64))


method(count_nonzero)


def allclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements agree within ``atol + rtol · |other|``."""
    if input.dtype is not other.dtype:
        raise RuntimeError(f"{_word(input)} did not match {_word(other)}")
    return bool(xp.allclose(input._a, other._a, rtol, atol, equal_nan))


def _word(x):
    return {"float32": "Float", "float64": "Double"}.get(x.dtype.name, dtypes.scalar_name(x.dtype))


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Elementwise agreement within ``atol + rtol · |other|``."""
    return wrap(xp.asarray(xp.isclose(input._a, other._a, rtol, atol, equal_nan)))


def equal(input, other):
    """Whether shapes and all elements are equal."""
    return input._a.shape == other._a.shape and bool((input._a == other._a).all())


for _f in (allclose, isclose, equal):
    method(_f)


def unique(input, sorted=True, return_inverse=False, return_counts=False, dim=None):
    """The distinct elements in order; with their inverse indices and counts on request."""
    found = xp.unique(input._a, return_inverse=return_inverse, return_counts=return_counts, axis=dim)
    if not (return_inverse or return_counts):
        return wrap(found)
    values, *rest = found
    if return_inverse and dim is None:
        rest[0] = rest[0].reshape(input._a.shape)
    return (wrap(values), *[wrap(xp.asarray(r, dtype=xp.int64)) for r in rest])


method(unique)
alias("nan_to_num_", "nan_to_num")
only_function(lambda input, bins=10, min=0, max=0: wrap(
    xp.histogram(input._a, bins, None if min == max else (min, max))[0].astype(input._a.dtype)), "histc")  # fmt: skip
public("bincount", lambda input, weights=None, minlength=0: wrap(xp.bincount(input._a, None if weights is None else weights._a, minlength)))
