"""Picking and placing by an index of every element: gather, scatter, scatter_reduce."""

from __future__ import annotations

import math

from ..backend import beside, contiguous, on_host, readable, xp, zeros_by
from ..engine import dtypes
from ..engine.dispatch import Tensor, wrap
from ..engine.errors import warn_once
from ..engine.operands import broadcast_error
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from ..engine.views import write
from .casting import refuse, refuse_complex
from .declare import declare, into_zeros, method, only_method
from .expand import expand
from .shape import reshape


def _shape(F, x):
    return (x if F is RAW else x._a).shape


def _array_of(F, x):
    return x if F is RAW else x._a


# ---------------------------------------------------------------- gather
def _full_index(index, dim):
    if index.ndim == 0:
        return (index.reshape(1),)
    grid = [beside(k, index) for k in xp.indices(index.shape, sparse=True)]
    grid[dim] = index
    return tuple(grid)


def _places(index, shape, dim):
    """Where the elements of ``index`` point to in a row-major array of ``shape``, counted flat."""
    steps = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    out = index if steps[dim] == 1 else index * steps[dim]
    for d, n in enumerate(index.shape):
        if d != dim and n > 1:
            line = xp.arange(n, like=index) * steps[d]
            out = out + line.reshape([-1 if k == d else 1 for k in range(len(shape))])
    return out


def _gather(x, index, dim):
    if x.ndim == 0:
        return x.reshape(1)[index].reshape(index.shape)
    return contiguous(x).reshape(-1).take(_places(index, x.shape, dim)).reshape(index.shape)


def _scatter_back(g, index, shape, dim):
    out = zeros_by(g, shape)
    if out.ndim == 0:
        return out + g.sum()
    xp.add.at(out.reshape(-1), _places(index, shape, dim).reshape(-1), g.reshape(-1))
    return out


into_zeros(
    "scatter_back",
    _scatter_back,
    "index",
    "shape dim",
    node="ScatterAddBackward0",
    self=lambda F, g, index, dim: F.pick(g, index, dim),
)
pick_op = declare(
    "pick_op",
    _gather,
    "self index",
    "dim",
    node="GatherBackward0",
    also={"sparse_grad": lambda node: False},
    self=lambda F, g, index, self_shape, dim: F.scatter_back(g, index, self_shape, dim),
)
RAW.pick = _gather


def _tensor_index(index):
    return index if isinstance(index, Tensor) else wrap(index)


scatter_back = TENSOR.scatter_back
TENSOR.scatter_back = lambda g, index, *at: scatter_back(g, _tensor_index(index), *at)
TENSOR.pick = lambda x, index, dim: pick_op(x, _tensor_index(index), dim)

gather_op = declare(
    "gather_op",
    _gather,
    "self index",
    "dim",
    node="GatherBackward0",
    formula="g added at the indices",
    hidden=("self_sym_sizes",),
    also={"sparse_grad": lambda node: False},
    self=lambda F, g, self, index, self_shape, dim: F.scatter_back(g, index, self_shape, dim),
)


def _check_index(name, input, index, dim, src=None):
    if not isinstance(index, Tensor):
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    if index._a.dtype not in (xp.int64, xp.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if src is not None and src._a.dtype != input._a.dtype:
        raise RuntimeError(f"{name}(): Expected self.dtype to be equal to src.dtype")
    if index._a.ndim != input._a.ndim or (src is not None and index._a.ndim != src._a.ndim):
        whose = "input" if name == "gather" else "self"
        for of, x in ((whose, input), ("src", src)):
            # one number counts as a line of one
            if x is not None and index._a.size and (index._a.ndim or 1) != (x._a.ndim or 1):
                raise RuntimeError(
                    f"Index tensor must have the same number of dimensions as {of} tensor"
                )
    if name == "scatter":
        _check_fits(input, index, dim, src)
    n = input._a.shape[dim] if input._a.ndim else 1
    if readable(index._a) and (index._a.min() < 0 or index._a.max() >= n):
        wrong = index._a[(index._a < 0) | (index._a >= n)].ravel()[0]
        raise RuntimeError(f"index {int(wrong)} is out of bounds for dimension {dim} with size {n}")


def _check_fits(self, index, dim, src):
    """RuntimeError where an index reaches beyond ``self`` or ``src``."""
    own, wanted = self._a.shape, index._a.shape or (1,)
    if not index._a.size or not own:
        return
    held = None if src is None else src._a.shape or (1,)
    beyond = any(wanted[k] > own[k] for k in range(len(own)) if k != dim)
    if held is not None and not beyond:
        beyond = any(wanted[k] > held[k] for k in range(len(own)))
    if beyond:
        tail = "" if src is None else f" and to be no larger size than src {list(src._a.shape)}"
        raise RuntimeError(
            f"Expected index {list(wanted)} to be no larger than self {list(own)} apart from "
            f"dimension {dim}{tail}"
        )


def gather(input, dim, index, *, sparse_grad=False, out=None):
    """Elements picked along ``dim``: ``out[i][j] = input[index[i][j]][j]`` for dim 0."""
    d = wrap_dim(dim, input._a.ndim)
    _check_index("gather", input, index, d)
    for k in range(input._a.ndim):
        if k != d and index._a.size and index._a.shape[k] > input._a.shape[k]:
            raise RuntimeError(
                f"Size does not match at dimension {k} expected index {list(index._a.shape)} to "
                "be no larger than self "
                f"{list(input._a.shape)} apart from dimension {d}"
            )
    return gather_op(input, index, d)


def take_along_dim(input, indices, dim=None):
    """``gather`` with index and input broadcast against each other."""
    if dim is None:
        return gather(reshape(input, (-1,)), 0, reshape(indices, (-1,)))
    if indices._a.ndim != input._a.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {input._a.ndim} dimensions for input, and {indices._a.ndim} dimensions for "
            "indices"
        )
    if indices._a.dtype != xp.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{dtypes.scalar_name(indices.dtype)}"
        )
    d = wrap_dim(dim, input._a.ndim)
    sides = [[1 if k == d else n for k, n in enumerate(x._a.shape)] for x in (input, indices)]
    try:
        common = xp.broadcast_shapes(*map(tuple, sides))
    except ValueError:
        raise broadcast_error(*sides) from None
    shapes = [
        tuple(x._a.shape[d] if k == d else n for k, n in enumerate(common))
        for x in (input, indices)
    ]
    return gather(expand(input, shapes[0]), d, wrap(xp.broadcast_to(indices._a, shapes[1])))


method(gather)
method(take_along_dim)
TENSOR.gather = lambda x, index, dim: gather_op(x, index, dim)
take_op = declare(
    "take_op",
    lambda x, index: x.reshape(-1)[index],
    "self index",
    node="TakeBackward0",
    formula="g added at the indices",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, index, self_shape: F.put_back(g, index, self_shape),
)


def _numel(shape):
    out = 1
    for n in shape:
        out *= n
    return out


def take(input, index):
    """Elements at flat indices."""
    if index._a.dtype != xp.int64:
        raise RuntimeError(
            f"take(): Expected a long tensor for index, but got {dtypes.scalar_name(index.dtype)}"
        )
    n = input._a.size
    if readable(index._a) and (index._a.min() < -n or index._a.max() >= n):
        raise IndexError(
            "out of range: tried to access index "
            + str(int(index._a.max()))
            + f" on a tensor of {n} elements."
        )
    return take_op(input, index)


method(take)


# ---------------------------------------------------------------- scatter
def _part(src, index):
    """What of ``src`` stands over the index."""
    return src[tuple(slice(0, n) for n in index.shape or (1,))] if src.ndim else src


def _scatter_forward(x, index, src, dim, add):
    out = x.copy()
    if not index.size:
        return out
    if x.ndim == 0:
        line = src.reshape(-1)[: index.size]
        return out + line.sum() if add else line[-1:].reshape(())
    part = _part(src, index)
    if add:
        flat = xp.broadcast_to(part, index.shape or (1,)).reshape(-1)
        out = contiguous(out)
        xp.add.at(out.reshape(-1), _places(index, x.shape, dim).reshape(-1), flat)
    else:
        out[_full_index(index, dim)] = part
    return out


def _scatter_src(F, g, index, dim):
    """As in PyTorch it fits a ``src`` of the shape of the index only."""
    return F.pick(g, index, dim)


scatter_op = declare(
    "scatter",
    lambda x, src, index, dim: _scatter_forward(x, index, src, dim, False),
    "self src index",
    "dim",
    formula="∂self: g, zero at the indices    ∂src: g at the indices",
    self=lambda F, g, index, dim: F.zero_along(g, index, dim),
    src=_scatter_src,
)
scatter_value_op = declare(
    "scatter_value",
    lambda x, index, dim, value: _scatter_forward(
        x, index, dtypes.held(value, x.dtype), dim, False
    ),
    "self index",
    "dim value",
    node="ScatterBackward1",
    formula="g, zero at the indices",
    self=lambda F, g, index, dim: F.zero_along(g, index, dim),
)
scatter_add_op = declare(
    "scatter_add",
    lambda x, src, index, dim: _scatter_forward(x, index, src, dim, True),
    "self src index",
    "dim",
    formula="∂self: g    ∂src: g at the indices",
    self=lambda F, g: g,
    src=_scatter_src,
)


def _multiplied(x, src, index, dim, reduce):
    if x.ndim == 0:
        at = (src.reshape(-1), index.reshape(-1), 0, reduce)
        return _multiplied(x.reshape(1), *at).reshape(())
    out = x.copy()
    if not index.size:
        return out
    part = _part(src, index)
    (xp.add if reduce == "add" else xp.multiply).at(out, _full_index(index, dim), part)
    return out


scatter_old_op = declare(
    "scatter_old",
    _multiplied,
    "self src index",
    "dim reduce",
    node="NotImplemented",
    self=refuse("scatter"),
    src=refuse("scatter"),
)
scatter_old_in_place = declare(
    "scatter_old_",
    _multiplied,
    "self src index",
    "dim reduce",
    node="NotImplemented",
    self=refuse("scatter_"),
    src=refuse("scatter_"),
)


def _zero_along(g, index, dim):
    out = g.copy()
    if not index.size:
        return out
    if out.ndim == 0:
        return out * 0
    out[_full_index(index, dim)] = 0
    return out


declare(
    "zero_along",
    _zero_along,
    "self index",
    "dim",
    node="ScatterBackward1",
    self=lambda F, g, index, dim: F.zero_along(g, index, dim),
)


def _plan_scatter(self, dim, index, src, reduce):
    d = wrap_dim(dim, self._a.ndim)
    _check_index("scatter", self, index, d, src if isinstance(src, Tensor) else None)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        if isinstance(src, Tensor):
            warn_once(
                "The reduce argument of torch.scatter with Tensor src is deprecated and will be "
                "removed in a future PyTorch release. Use torch.scatter_reduce instead for more "
                "reduction options."
            )
        made = src if isinstance(src, Tensor) else wrap(xp.asarray(src, self._a.dtype))
        return scatter_old_op, (self, made, index), (d, reduce)
    if not isinstance(src, Tensor):
        return scatter_value_op, (self, index), (d, src)
    return scatter_op, (self, src, index), (d,)


def _source(src, value):
    return value if src is None else src


def scatter(input, dim, index, src=None, *, value=None, reduce=None):
    """A copy with ``src`` written at ``index`` along ``dim``."""
    op, ins, attrs = _plan_scatter(input, dim, index, _source(src, value), reduce)
    return op(*ins, *attrs)


def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """In-place ``scatter``."""
    op, ins, attrs = _plan_scatter(self, dim, index, _source(src, value), reduce)
    op = scatter_old_in_place if op is scatter_old_op else op
    return write(op.op, ins, attrs)


def scatter_add(input, dim, index, src):
    """A copy with ``src`` added at ``index`` along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    _check_index("scatter", input, index, d, src)
    return scatter_add_op(input, src, index, d)


def scatter_add_(self, dim, index, src):
    """In-place ``scatter_add``."""
    d = wrap_dim(dim, self._a.ndim)
    _check_index("scatter", self, index, d, src)
    return write(scatter_add_op.op, (self, src, index), (d,))


for _f in (scatter, scatter_add):
    method(_f)
for _f in (scatter_, scatter_add_):
    only_method(_f)

_REDUCERS = {
    "sum": xp.add,
    "mean": xp.add,
    "prod": xp.multiply,
    "amax": xp.maximum,
    "amin": xp.minimum,
}
_STARTS = {"sum": 0, "mean": 0, "prod": 1, "amax": -xp.inf, "amin": xp.inf}


def _counts(x, index, dim, include_self):
    if x.ndim == 0:
        return _counts(x.reshape(1), index.reshape(-1), 0, include_self).reshape(())
    count = (
        xp.ones(x.shape, x.dtype, like=x) if include_self else xp.zeros(x.shape, x.dtype, like=x)
    )
    xp.add.at(count, _full_index(index, dim), x.dtype.type(1))
    return count


def _reduce_forward(x, src, index, dim, reduce, include_self):
    if not index.size:
        return x.copy()
    if x.ndim == 0:
        at = (src.reshape(-1), index.reshape(-1), 0, reduce, include_self)
        return _reduce_forward(x.reshape(1), *at).reshape(())
    if reduce == "prod":
        return _reduce_products(x, src, index, dim, reduce, include_self)
    return _reduce_elements(x, src, index, dim, reduce, include_self)


def _reduce_elements(x, src, index, dim, reduce, include_self):
    out = x.copy()
    where = _full_index(index, dim)
    if not include_self:
        start = _STARTS[reduce]
        if x.dtype.kind in "iu" and not xp.isfinite(start):
            limits = xp.iinfo(x.dtype)
            start = limits.min if start < 0 else limits.max
        out[where] = start
    _REDUCERS[reduce].at(out, where, _part(src, index))
    if reduce == "mean":
        count = xp.maximum(_counts(x, index, dim, include_self), 1)
        out = out // count if x.dtype.kind in "iu" else out / count
    return out


_reduce_products = on_host(_reduce_elements)


def _reduce_joint(F, g, self, src, index, result, dim, reduce, include_self):
    at = _array_of(F, index)
    window = tuple(slice(0, n) for n in at.shape)
    part = F.take_region(src, window)
    if reduce == "sum":
        grad_self, grad_part = g, F.pick(g, at, dim)
    elif reduce == "mean":
        count = F.constant(xp.maximum(_counts(_array_of(F, self), at, dim, include_self), 1))
        grad_self, grad_part = g / count, F.pick(g, at, dim) / F.pick(count, at, dim)
    elif reduce == "prod":
        # the quotient stands for the product of the others; PyTorch treats zeros apart, we do so
        # where the result is not 0
        grad_self = g * result / F.masked_fill(self, self == 0, 1)
        grad_part = F.pick(g * result, at, dim) / F.masked_fill(part, part == 0, 1)
    else:
        hit_self = F.cast(self == result, _array_of(F, g).dtype)
        hit_part = F.cast(part == F.pick(result, at, dim), _array_of(F, g).dtype)
        hits = hit_self if include_self else F.zeros_like(hit_self)
        hits = hits + F.scatter_back(hit_part, at, _shape(F, self), dim)
        shared = g / F.masked_fill(hits, hits == 0, 1)
        grad_self, grad_part = hit_self * shared, hit_part * F.pick(shared, at, dim)
    if not include_self:
        grad_self = F.zero_along(grad_self, index, dim)
    return grad_self, grad_part


scatter_reduce_op = declare(
    "scatter_reduce_op",
    _reduce_forward,
    "self src index",
    "dim reduce include_self",
    node="ScatterReduceBackward0",
    formula="g shared by what entered each result",
    joint=_reduce_joint,
    edges=2,
)


def check_reducible(kernels, reduce, x):
    """NotImplementedError for complex numbers that are compared and truth values that are averaged,
    with the name of the kernel that is lacking.
    """
    kind = x._a.dtype.kind
    if kind == "c" and reduce in ("amin", "amax") or kind == "b" and reduce == "mean":
        raise NotImplementedError(
            f"\"{kernels[reduce]}\" not implemented for '{dtypes.scalar_name(x.dtype)}'"
        )


_KERNELS = {n: f"scatter_gather_tensor_cpu_reduce_{n}" for n in ("amin", "amax", "mean")}


def _reducing(self, dim, index, src, reduce):
    d = wrap_dim(dim, self._a.ndim)
    _check_index("scatter", self, index, d, src)
    if reduce not in _REDUCERS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}"
        )
    check_reducible(_KERNELS, reduce, self)
    return (self, src, index), d


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """A copy in which ``src`` was combined at ``index`` by sum, prod, mean, amax or amin."""
    ins, d = _reducing(input, dim, index, src, reduce)
    refuse_complex("scatter_reduce", input, src)
    return scatter_reduce_op(*ins, d, reduce, include_self)


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """In-place ``scatter_reduce``."""
    ins, d = _reducing(self, dim, index, src, reduce)
    return write(scatter_reduce_op.op, ins, (d, reduce, include_self))


method(scatter_reduce)
only_method(scatter_reduce_)
