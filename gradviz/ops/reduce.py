"""Reductions and scans: sum, mean, extremes, norms, softmax, cumulative sums."""

from __future__ import annotations

import math

from ..backend import as_array, contiguous, readable, xp, zeros_by
from ..engine import dtypes
from ..engine.arguments import refusal
from ..engine.dispatch import Tensor, untracked
from ..engine.given import AllAxes, all_axes
from ..engine.modes import is_recording
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import part
from ..engine.tensor import wrap_dim
from . import fused
from . import rows as by_rows
from .arithmetic import _cast, converted, is_half
from .declare import declare, into_zeros, method
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


# ---------------------------------------------------------------- extremes
def _even(F, g, self, result, self_shape, dim, keepdim):
    """The gradient shared evenly among equal extremes (PyTorch's amax and amin)."""
    if not keepdim:
        g, result = (F.reshape(x, keep_shape(self_shape, dim)) for x in (g, result))
    mask = F.cast(self == result, (g if F is RAW else g._a).dtype)
    return g / F.sum_dims(mask, dim, True) * mask


def _even_or_nan(F, g, self, result):
    """As ``_even`` of a whole reduction; the NaN among the elements share the gradient of a NaN."""
    return F.evenly_at(g, (self == result) | ((self != self) & (result != result)))


def _evenly(g, mask):
    """``g`` shared by the elements where ``mask`` holds."""
    return xp.where(mask, g / g.dtype.type(mask.sum()), g.dtype.type(0))


into_zeros(
    "all_at",
    lambda g, mask: xp.where(mask, g, g.dtype.type(0)),
    "mask",
    node="MaskedFillBackward1",
    self=lambda F, g, mask: F.sum(F.where(mask, g, F.constant_like(0, g))),
)
RAW.evenly_at = _evenly
TENSOR.evenly_at = lambda g, mask: TENSOR.all_at(g / TENSOR.cast(mask.sum(), g._a.dtype), mask)


def _extreme(function):
    def forward(x, dims, keepdim):
        if x.size == 0 and (not dims or any(x.shape[d] == 0 for d in dims)):
            name = function.__name__.replace("imum", "").replace("m", "am", 1)
            for d in dims if len(dims) < x.ndim else ():
                if not x.shape[d]:
                    shown = getattr(d, "written", d)
                    raise IndexError(
                        f"{name}(): Expected reduction dim {shown} to have non-zero size."
                    )
            raise RuntimeError(
                f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                "Specify the "
                "reduction dim with the 'dim' argument."
            )
        return function.reduce(x, dims or tuple(range(x.ndim)), None, None, keepdim)

    return forward


def _reducing(name, ufunc, node, hidden, shared, derivative=_even):
    return declare(
        name,
        _extreme(ufunc),
        "self",
        "dim keepdim",
        node=node,
        formula=f"g shared by the {shared}",
        hidden=hidden,
        self=derivative,
    )


amax_op = _reducing("amax", xp.maximum, "AmaxBackward0", ("self_sym_sizes",), "largest")
amin_op = _reducing("amin", xp.minimum, "AminBackward0", ("self_sym_sizes",), "smallest")
max_all = _reducing("max_all", xp.maximum, "MaxBackward1", _WHOLE, "largest", _even_or_nan)
min_all = _reducing("min_all", xp.minimum, "MinBackward1", _WHOLE, "smallest", _even_or_nan)


def _aminmax_joint(F, g, self, result, self_shape, dim, keepdim):
    parts = [
        _even(F, gx, self, r, self_shape, dim, keepdim)
        for gx, r in zip(g, result, strict=True)
        if gx is not None
    ]
    return (parts[0] if len(parts) == 1 else parts[0] + parts[1],)


aminmax_op = declare(
    "aminmax",
    lambda x, dims, k: (amin_op.op.forward(x, dims, k), amax_op.op.forward(x, dims, k)),
    "self",
    "dim keepdim",
    outputs=True,
    formula="g shared by the smallest and by the largest",
    joint=_aminmax_joint,
    hidden=("self_sym_sizes", "result"),
    also={
        "min": part(0),
        "max": part(1),
        "dim": lambda node: (
            node.at[0].written if node.at[0].__class__ is AllAxes else node.at[0][0]
        ),
    },
)


def _put_along(g, index, shape, dim):
    out = zeros_by(g, shape)
    xp.put_along_axis(out, index, g, dim)
    return out


into_zeros(
    "put_along",
    _put_along,
    attrs="index shape dim",
    node="ScatterBackward0",
    self=lambda F, g, index, dim: F.take_along(g, index, dim),
)
declare(
    "take_along",
    lambda x, index, dim: xp.take_along_axis(x, index, dim),
    "self",
    "index dim",
    node="GatherBackward0",
    self=lambda F, g, self_shape, index, dim: F.put_along(g, index, self_shape, dim),
)


def _pick(F, g, self_shape, dim, keepdim, indices):
    """The gradient goes to the one chosen element."""
    g = g[0]
    if self_shape:
        if not keepdim:
            g = F.with_dims(g, self_shape, (dim,))
        indices = xp.expand_dims(indices, dim)
    return (F.put_along(g, indices, self_shape, dim) if self_shape else g,)


def _chosen(node):
    """The indices as they were returned."""
    dim, keepdim, indices = node.at[:3]
    if indices is None:
        return xp.zeros((), xp.int64)
    return xp.expand_dims(indices, dim) if keepdim else as_array(indices)


def _chooser(name, argument, node):
    """max, min, median, … along a dimension: (values, indices), gradient to the chosen element."""

    def forward(x, dim, keepdim, indices):
        if x.ndim == 0:
            return x.copy(), xp.zeros((), xp.int64, like=x)
        values = xp.take_along_axis(x, xp.expand_dims(indices, dim), dim)
        return (values, xp.expand_dims(indices, dim)) if keepdim else (values.squeeze(dim), indices)

    op = declare(
        name,
        forward,
        "self",
        "dim keepdim indices",
        node=node,
        outputs=(True, False),
        formula="g at the chosen element",
        also={"indices": _chosen},
        joint=_pick,
    )

    def function(input, dim, keepdim):
        n = input._a.ndim
        d = wrap_dim(dim, n)
        if n and input._a.shape[d] == 0:
            raise IndexError(
                f"{name.split('_')[0]}(): Expected reduction dim {d} to have non-zero size."
            )
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
            f"torch.return_types.{name}(\n"
            + ",\n".join(f"{f}={v!r}" for f, v in zip(self._fields, self, strict=True))
            + ")"
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
            from .choose import maximum, minimum

            return (maximum if name == "max" else minimum)(input, dim if other is None else other)
        if dim is None:
            if input._a.size == 0:
                raise RuntimeError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0. "
                    "Specify the reduction dim with the "
                    "'dim' argument."
                )
            return whole(input, tuple(range(input._a.ndim)), False)
        return along(input, dim, keepdim)

    function.__name__ = name
    function.__doc__ = (
        f"The {name}imum of all elements; along ``dim`` (values, indices); of two tensors "
        "elementwise."
    )
    return method(function, name)


_extremum("max", max_all, _max_dim)
_extremum("min", min_all, _min_dim)
method(
    lambda input, dim=(), keepdim=False: amax_op(input, axes(dim, input._a.ndim), keepdim), "amax"
)
method(
    lambda input, dim=(), keepdim=False: amin_op(input, axes(dim, input._a.ndim), keepdim), "amin"
)
method(
    lambda input, *, dim=None, keepdim=False: return_types("aminmax", ("min", "max"))(
        *aminmax_op(input, axes(dim, input._a.ndim), keepdim)
    ),
    "aminmax",
)


def _arg(function, name):
    def index_of(input, dim=None, keepdim=False):
        a = input._a
        if a.dtype.kind in "bc":
            raise RuntimeError(
                f"{name}(): does not support {'bool' if a.dtype == bool else 'complex'} input"
            )
        if dim is None:
            if a.size == 0:
                raise IndexError(
                    f"{name}(): Expected reduction dim to be specified for input.numel() == 0."
                )
            found = as_array(function(a), dtype=xp.int64)
            found = found.reshape((1,) * a.ndim) if keepdim else found
            return untracked(name, found, input)
        d = wrap_dim(dim, a.ndim)
        if a.ndim == 0:
            return untracked(name, xp.zeros((), xp.int64, like=a), input)
        if not a.shape[d]:
            raise IndexError(f"{name}(): Expected reduction dim {int(d)} to have non-zero size.")
        found = as_array(function(a, d, keepdims=keepdim), dtype=xp.int64)
        return untracked(name, found, input)

    index_of.__name__ = name
    index_of.__doc__ = f"The index of the {name[3:]}imum."
    method(index_of, name)


_arg(xp.argmax, "argmax")
_arg(xp.argmin, "argmin")


# ---------------------------------------------------------------- logsumexp, softmax
def _logsumexp_forward(x, dims, keepdim):
    top = xp.maximum.reduce(x, dims, None, None, True, -xp.inf)
    top = xp.where(xp.isfinite(top), top, top.dtype.type(0))
    with xp.errstate(divide="ignore"):
        out = xp.log(_sum_dims(xp.exp(x - top), dims, True)) + top
    return out if keepdim else out.reshape(tuple(n for i, n in enumerate(x.shape) if i not in dims))


def _logsumexp_grad(F, g, self, result, self_shape, dim, keepdim):
    if not keepdim:
        g, result = (F.with_dims(x, self_shape, dim) for x in (g, result))
    return g * F.conj(F.exp(self - result))


logsumexp_op = declare(
    "logsumexp",
    _logsumexp_forward,
    "self",
    "dim keepdim",
    formula="g · exp(self − result)",
    hidden=("self_sym_sizes",),
    self=_logsumexp_grad,
)


def logsumexp(input, dim, keepdim=False, *, out=None):
    """log Σ exp along ``dim``; integers count as floats."""
    if dim is None:
        raise TypeError
    x = input if input._a.dtype.kind not in "biu" else TENSOR.cast(input, dtypes.default.float.np)
    return _finish("logsumexp", logsumexp_op(x, axes(dim, x._a.ndim), keepdim), out, input)


method(logsumexp)


def _softmax_forward(x, dim):
    if x.ndim == 0:
        return xp.ones((), x.dtype, like=x)
    if x.size == 0:
        return x.copy()
    if _in_rows(x, dim):
        return by_rows.softmax(x)
    if x.__class__ is not ndarray:
        return fused.softmax(x, dim)
    e = xp.exp(contiguous(x) - xp.maximum.reduce(x, dim, None, None, True))
    e /= add_reduce(e, dim, None, None, True)
    return e


def _half_log_softmax(x, dim):
    """Half precision is computed in single; on the CPU the sum of the powers along the last
    dimension and its logarithm are rounded in between.
    """
    wide = x.astype(xp.float32)
    if dim not in (-1, x.ndim - 1) or x.__class__ is not ndarray:
        return _log_softmax_forward(wide, dim).astype(x.dtype)
    shifted = wide - xp.maximum.reduce(wide, -1, None, None, True)
    total = add_reduce(xp.exp(shifted), -1, None, None, True).astype(x.dtype)
    logs = xp.log(total.astype(xp.float32)).astype(x.dtype).astype(xp.float32)
    return (shifted - logs).astype(x.dtype)


def _log_softmax_forward(x, dim):
    if x.ndim == 0:
        return xp.zeros((), x.dtype, like=x)
    if x.size == 0:
        return x.copy()
    if is_half(x.dtype):
        return _half_log_softmax(x, dim)
    if _in_rows(x, dim):
        return by_rows.log_softmax(x)
    if x.__class__ is not ndarray:
        return fused.log_softmax(x, dim)
    shifted = contiguous(x) - xp.maximum.reduce(x, dim, None, None, True)
    shifted -= xp.log(add_reduce(xp.exp(shifted), dim, None, None, True))
    return shifted


def _in_rows(x, dim):
    """Whether the kernels over rows pay; half precision needs them."""
    if x.__class__ is not ndarray or dim not in (-1, x.ndim - 1):
        return False
    return x.size > 4096 or (x.dtype.itemsize == 2 and x.size)


def _along(F, x, dim):
    return F.sum_dims(x, (dim,) if (x if F is RAW else x._a).ndim else (), True)


def _softmax_back(g, result, dim):
    if _in_rows(result, dim):
        return by_rows.softmax_back(g, result)
    if result.__class__ is not ndarray and result.ndim:
        return fused.softmax_back(g, result, dim)
    return result * (g - _along(RAW, g * result, dim))


def _log_softmax_back(g, result, dim):
    if _in_rows(result, dim):
        return by_rows.log_softmax_back(g, result)
    if result.__class__ is not ndarray and result.ndim:
        return fused.log_softmax_back(g, result, dim)
    return g - xp.exp(result) * _along(RAW, g, dim)


softmax_backward = declare(
    "softmax_backward_data",
    _softmax_back,
    "grad_output output",
    "dim",
    formula="∂g: output · (g − Σ g · output)    ∂output: g · (grad − Σ grad · output) − …",
    grad_output=lambda F, g, output, dim: F.softmax_backward_data(g, output, dim),
    output=lambda F, g, grad_output, output, dim: (
        g * (grad_output - _along(F, grad_output * output, dim))
        - grad_output * _along(F, g * output, dim)
    ),
)
log_softmax_backward = declare(
    "log_softmax_backward_data",
    _log_softmax_back,
    "grad_output output",
    "dim",
    formula="∂g: g − Σ g · exp(output)    ∂output: −g · exp(output) · Σ grad",
    grad_output=lambda F, g, output, dim: g - _along(F, g * F.exp(output), dim),
    output=lambda F, g, grad_output, output, dim: (
        -(g * F.exp(output) * _along(F, grad_output, dim))
    ),
)


softmax_op = declare(
    "softmax",
    _softmax_forward,
    "self",
    "dim",
    node="SoftmaxBackward0",
    formula="result · (g − Σ g · result)",
    self=lambda F, g, result, dim: F.softmax_backward_data(g, result, dim),
)
log_softmax_op = declare(
    "log_softmax",
    _log_softmax_forward,
    "self",
    "dim",
    node="LogSoftmaxBackward0",
    formula="g − exp(result) · Σ g",
    self=lambda F, g, result, dim: F.log_softmax_backward_data(g, result, dim),
)


def softmax(input, dim, dtype=None):
    """exp(x) / Σ exp(x) along ``dim``."""
    input = _as(input, dtype, TENSOR.cast)
    d = wrap_dim(dim, input._a.ndim)
    _refuse_kinds("softmax", input, d)
    return softmax_op(input, d)


def log_softmax(input, dim, dtype=None):
    """log(softmax(x)) along ``dim``."""
    input = _as(input, dtype, TENSOR.cast)
    d = wrap_dim(dim, input._a.ndim)
    _refuse_kinds("log_softmax", input, d)
    return log_softmax_op(input, d)


def _refuse_kinds(name, input, dim):
    if input._a.dtype.kind in "biuc" and input._a.size:
        kernel = f"{name}_{'lastdim_' if dim >= input._a.ndim - 1 else ''}kernel_impl"
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{dtypes.scalar_name(input.dtype)}'"
        )


method(softmax)
method(log_softmax)
