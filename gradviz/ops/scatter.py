"""Picking and placing along one dimension: gather, scatter, index_select, index_add, masks,
embedding.
"""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import RAW, TENSOR, Tensor, wrap
from ..engine.tensor import wrap_dim
from ..engine.views import write
from .arithmetic import refuse
from .declare import declare, method, only_method, public
from .index import _index_put_forward
from .shape import _select_forward, as_strided_op, expand, reshape


def _shape(F, x):
    return (x if F is RAW else x._a).shape


def _array_of(F, x):
    return x if F is RAW else x._a


# ---------------------------------------------------------------- gather
def _full_index(index, dim):
    grid = list(xp.indices(index.shape, sparse=True))
    grid[dim] = index
    return tuple(grid)


def _gather(x, index, dim):
    return x[_full_index(index, dim)] if x.ndim else x.reshape(1)[index].reshape(index.shape)


def _scatter_back(g, index, shape, dim):
    out = xp.zeros(shape, g.dtype)
    if out.ndim == 0:
        return out + g.sum()
    xp.add.at(out, _full_index(index, dim), g)
    return out


RAW.scatter_back = _scatter_back
scatter_back = declare(
    "scatter_back_op",
    _scatter_back,
    "self index",
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
    self=lambda F, g, index, self_shape, dim: F.scatter_back(g, index, self_shape, dim),
)
RAW.pick = _gather


def _tensor_index(index):
    return index if isinstance(index, Tensor) else wrap(index)


TENSOR.scatter_back = lambda g, index, shape, dim: scatter_back(g, _tensor_index(index), shape, dim)
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


def _check_index(name, input, index, dim):
    if not isinstance(index, Tensor):
        raise TypeError(
            f"{name}(): argument 'index' (position 2) must be Tensor, not {type(index).__name__}"
        )
    if index._a.dtype not in (xp.int64, xp.int32):
        raise RuntimeError(f"{name}(): Expected dtype int32/int64 for index")
    if index._a.ndim != input._a.ndim and input._a.ndim and index._a.size:
        raise RuntimeError(
            "Index tensor must have the same number of dimensions as input tensor"
            if name == "gather"
            else "Index tensor must have the same number of dimensions as self tensor"
        )
    n = input._a.shape[dim] if input._a.ndim else 1
    if index._a.size and (index._a.min() < 0 or index._a.max() >= n):
        wrong = index._a[(index._a < 0) | (index._a >= n)].ravel()[0]
        raise RuntimeError(f"index {int(wrong)} is out of bounds for dimension {dim} with size {n}")


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
    d = wrap_dim(dim, input._a.ndim)
    common = xp.broadcast_shapes(
        *[tuple(1 if k == d else n for k, n in enumerate(x._a.shape)) for x in (input, indices)]
    )
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
    self=lambda F, g, self, index, self_shape: F.reshape(
        F.scatter_back(
            F.reshape(g, (-1,)), _array_of(F, index).reshape(-1), (_numel(self_shape),), 0
        ),
        self_shape,
    ),
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
    if index._a.size and (index._a.min() < -n or index._a.max() >= n):
        raise IndexError(
            "out of range: tried to access index "
            + str(int(index._a.max()))
            + f" on a tensor of {n} elements."
        )
    return take_op(input, index)


method(take)


# ---------------------------------------------------------------- scatter
def _scatter_forward(x, index, src, dim, add):
    out = x.copy()
    if x.ndim == 0:
        return (
            out + src.sum()
            if add
            else xp.broadcast_to(src, index.shape).reshape(-1)[-1:].reshape(())
            if index.size
            else out
        )
    where = _full_index(index, dim)
    part = src[tuple(slice(0, n) for n in index.shape)] if src.ndim else src
    if add:
        xp.add.at(out, where, part)
    else:
        out[where] = part
    return out


def _scatter_src(F, g, index, src_shape, dim):
    got = F.pick(g, index, dim)
    if tuple(src_shape) == tuple(_shape(F, got)) or not src_shape:
        return got
    return F.put_region(got, src_shape, tuple(slice(0, n) for n in _shape(F, got)))


_NO_SIZES = ("self_sym_sizes", "src_sym_sizes")
scatter_op = declare(
    "scatter",
    lambda x, src, index, dim: _scatter_forward(x, index, src, dim, False),
    "self src index",
    "dim",
    formula="∂self: g, zero at the indices    ∂src: g at the indices",
    hidden=_NO_SIZES,
    self=lambda F, g, index, dim: F.zero_along(g, index, dim),
    src=lambda F, g, index, src_shape, dim: _scatter_src(F, g, index, src_shape, dim),
)
scatter_value_op = declare(
    "scatter_value",
    lambda x, index, dim, value: _scatter_forward(x, index, x.dtype.type(value), dim, False),
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
    hidden=_NO_SIZES,
    self=lambda F, g: g,
    src=lambda F, g, index, src_shape, dim: _scatter_src(F, g, index, src_shape, dim),
)


def _multiplied(x, src, index, dim, reduce):
    out = x.copy()
    part = src[tuple(slice(0, n) for n in index.shape)] if src.ndim else src
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


def _zero_along(g, index, dim):
    out = g.copy()
    if out.ndim == 0:
        return out * 0 if index.size else out
    out[_full_index(index, dim)] = 0
    return out


declare(
    "zero_along",
    _zero_along,
    "self index",
    "dim",
    node="ScatterBackward0",
    self=lambda F, g, index, dim: F.zero_along(g, index, dim),
)


def _plan_scatter(self, dim, index, src, reduce):
    d = wrap_dim(dim, self._a.ndim)
    _check_index("scatter", self, index, d)
    if reduce is not None:
        if reduce not in ("add", "multiply"):
            raise RuntimeError("reduce argument must be either add or multiply.")
        made = src if isinstance(src, Tensor) else wrap(xp.asarray(src, self._a.dtype))
        return scatter_old_op, (self, made, index), (d, reduce)
    if not isinstance(src, Tensor):
        return scatter_value_op, (self, index), (d, src)
    if src._a.dtype != self._a.dtype:
        raise RuntimeError("scatter(): Expected self.dtype to be equal to src.dtype")
    if any(a > b for a, b in zip(index._a.shape, src._a.shape, strict=False)):
        raise RuntimeError(
            f"Expected index {list(index._a.shape)} to be no larger than self "
            f"{list(self._a.shape)} apart from dimension {d} and to be no "
            f"larger size than src {list(src._a.shape)}"
        )
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
    return write(op.op, ins, attrs)


def scatter_add(input, dim, index, src):
    """A copy with ``src`` added at ``index`` along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    _check_index("scatter_add", input, index, d)
    return scatter_add_op(input, src, index, d)


def scatter_add_(self, dim, index, src):
    """In-place ``scatter_add``."""
    d = wrap_dim(dim, self._a.ndim)
    _check_index("scatter_add", self, index, d)
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
    count = xp.ones(x.shape, x.dtype) if include_self else xp.zeros(x.shape, x.dtype)
    xp.add.at(count, _full_index(index, dim), x.dtype.type(1))
    return count


def _reduce_forward(x, src, index, dim, reduce, include_self):
    out = x.copy()
    where = _full_index(index, dim)
    if not include_self:
        start = _STARTS[reduce]
        if x.dtype.kind in "iu" and not xp.isfinite(start):
            limits = xp.iinfo(x.dtype)
            start = limits.min if start < 0 else limits.max
        out[where] = start
    _REDUCERS[reduce].at(out, where, src[tuple(slice(0, n) for n in index.shape)])
    if reduce == "mean":
        count = xp.maximum(_counts(x, index, dim, include_self), 1)
        out = out // count if x.dtype.kind in "iu" else out / count
    return out


def _reduce_joint(F, g, self, src, index, result, dim, reduce, include_self):
    at = _array_of(F, index)
    window = tuple(slice(0, n) for n in at.shape)
    part = F.take_region(src, window)
    if reduce == "sum":
        grad_self, grad_part = g, F.pick(g, at, dim)
    elif reduce == "mean":
        count = F.constant(xp.maximum(_counts(_array_of(F, self), at, dim, include_self), 1))
        grad_self, grad_part = g / count, F.pick(g / count, at, dim)
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
        grad_self, grad_part = shared * hit_self, F.pick(shared, at, dim) * hit_part
    if not include_self:
        grad_self = F.zero_along(grad_self, index, dim)
    if _shape(F, grad_part) != _shape(F, src):
        grad_part = F.put_region(grad_part, _shape(F, src), window)
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


def _reducing(self, dim, index, src, reduce):
    if reduce not in _REDUCERS:
        raise RuntimeError(
            f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}."
        )
    d = wrap_dim(dim, self._a.ndim)
    _check_index("scatter_reduce", self, index, d)
    return (self, src, index), d


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """A copy in which ``src`` was combined at ``index`` by sum, prod, mean, amax or amin."""
    ins, d = _reducing(input, dim, index, src, reduce)
    return scatter_reduce_op(*ins, d, reduce, include_self)


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """In-place ``scatter_reduce``."""
    ins, d = _reducing(self, dim, index, src, reduce)
    return write(scatter_reduce_op.op, ins, (d, reduce, include_self))


method(scatter_reduce)
only_method(scatter_reduce_)


# ---------------------------------------------------------------- slices along one dimension
def along(index, dim, ndim):
    """A NumPy index of ``index`` at ``dim``."""
    return (slice(None),) * dim + (index,) + (slice(None),) * (ndim - dim - 1)


def _select_back(g, index, shape, dim):
    out = xp.zeros(shape, g.dtype)
    if out.ndim == 0:
        return out + g.sum()
    xp.add.at(out, along(index, dim, len(shape)), g)
    return out


index_select_op = declare(
    "index_select",
    lambda x, index, dim: xp.take(x, index, dim) if x.ndim else x.reshape(1)[index].reshape(()),
    "self index",
    "dim",
    formula="g added at the indices",
    self=lambda F, g, index, self_shape, dim: F.select_back(g, index, self_shape, dim),
)
declare(
    "select_back",
    _select_back,
    "self index",
    "shape dim",
    node="IndexAddBackward0",
    self=lambda F, g, index, dim: F.index_select(g, index, dim),
)


def index_select(input, dim, index):
    """The slices of ``input`` at ``index`` along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    if index._a.dtype not in (xp.int64, xp.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if index._a.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    n = input._a.shape[d] if input._a.ndim else 1
    if index._a.size and (index._a.min() < 0 or index._a.max() >= n):
        raise IndexError("index out of range in self")
    return index_select_op(
        input, index if index._a.ndim or not input._a.ndim else reshape(index, (1,)), d
    )


method(index_select)


def _index_add_forward(x, source, index, dim, alpha):
    out = x.copy()
    xp.add.at(
        out, along(index, dim, x.ndim), source if alpha == 1 else source * source.dtype.type(alpha)
    )
    return out


_SOURCE = {"source_dim": lambda node: len(node.at[-1])}
RAW.take = lambda x, index, dim: xp.take(x, index, dim)
TENSOR.take = lambda x, index, dim: index_select_op(x, _tensor_index(index), dim)
index_add_op = declare(
    "index_add",
    _index_add_forward,
    "self source index",
    "dim alpha",
    also=_SOURCE,
    hidden=("source_sym_sizes",),
    formula="∂self: g    ∂source: g at the indices",
    self=lambda F, g: g,
    source=lambda F, g, source, index, source_shape, dim, alpha: (
        F.take(g, _array_of(F, index), dim) * alpha
    ),
)


def _copied(x, source, index, dim):
    return _index_put_forward(x, source, along(index, dim, x.ndim), False)


index_copy_op = declare(
    "index_copy",
    _copied,
    "self source index",
    "dim",
    also=_SOURCE,
    hidden=("source_sym_sizes",),
    formula="∂self: g, zero at the indices    ∂source: g at the indices",
    self=lambda F, g, index, dim: F.zero_at(g, along(_array_of(F, index), dim, len(_shape(F, g)))),
    source=lambda F, g, source, index, source_shape, dim: F.take(g, _array_of(F, index), dim),
)
index_fill_op = declare(
    "index_fill",
    lambda x, index, dim, value: _copied(x, x.dtype.type(value), index, dim),
    "self index",
    "dim value",
    formula="g, zero at the indices",
    self=lambda F, g, index, dim: F.zero_at(g, along(_array_of(F, index), dim, len(_shape(F, g)))),
)
index_fill_tensor = declare(
    "index_fill_tensor",
    lambda x, value, index, dim: _copied(x, value, index, dim),
    "self value index",
    "dim",
    node="IndexFillBackward1",
    formula="∂self: g, zero at the indices    ∂value: Σ g there",
    self=lambda F, g, index, dim: F.zero_at(g, along(_array_of(F, index), dim, len(_shape(F, g)))),
    value=lambda F, g, index, dim: F.sum(F.take(g, _array_of(F, index), dim)),
)


def _check_source(name, self, dim, index, source):
    d = wrap_dim(dim, self._a.ndim)
    if index._a.ndim > 1:
        raise IndexError(f"{name}(): Index should have dimension 1 or 0 (got {index._a.ndim})")
    if index._a.dtype not in (xp.int64, xp.int32):
        raise IndexError(
            f"{name}(): Expected LongTensor for index"
            if name == "index_copy_"
            else f"{name}(): Expected dtype int32/int64 for index"
        )
    if (
        source is not None
        and source._a.ndim
        and index._a.size != source._a.shape[d if source._a.ndim > d else 0]
    ):
        raise RuntimeError(
            f"{name}(): Number of indices ({index._a.size}) should be equal to source.size(dim): "
            f"({source._a.shape[d if source._a.ndim > d else 0]}), for dim: {d}"
        )
    n = self._a.shape[d] if self._a.ndim else 1
    if index._a.size and (index._a.min() < -n or index._a.max() >= n):
        raise IndexError("index out of range in self")
    return d


def index_add(input, dim, index, source, *, alpha=1):
    """A copy with the slices of ``source`` added at ``index``."""
    return index_add_op(
        input, source, index, _check_source("index_add_", input, dim, index, source), alpha
    )


def index_add_(self, dim, index, source, *, alpha=1):
    """In-place ``index_add``."""
    return write(
        index_add_op.op,
        (self, source, index),
        (_check_source("index_add_", self, dim, index, source), alpha),
    )


def index_copy(input, dim, index, source):
    """A copy with the slices of ``source`` at ``index``."""
    return index_copy_op(
        input, source, index, _check_source("index_copy_", input, dim, index, source)
    )


def index_copy_(self, dim, index, source):
    """In-place ``index_copy``."""
    return write(
        index_copy_op.op,
        (self, source, index),
        (_check_source("index_copy_", self, dim, index, source),),
    )


def _filling(self, dim, index, value):
    d = _check_source("index_fill_", self, dim, index, None)
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise RuntimeError(
                "index_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value._a.ndim} dimension(s)."
            )
        return index_fill_tensor, (self, value, index), (d,)
    return index_fill_op, (self, index), (d, value)


def index_fill(input, dim, index, value):
    """A copy with ``value`` in the slices at ``index``."""
    op, ins, attrs = _filling(input, dim, index, value)
    return op(*ins, *attrs)


def index_fill_(self, dim, index, value):
    """In-place ``index_fill``."""
    op, ins, attrs = _filling(self, dim, index, value)
    return write(op.op, ins, attrs)


for _f in (index_add, index_copy, index_fill):
    method(_f)
for _f in (index_add_, index_copy_, index_fill_):
    only_method(_f)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """A copy in which slices of ``source`` were combined at ``index`` by prod, mean, amax or
    amin.
    """
    d = _check_source("index_reduce", input, dim, index, source)
    wide = xp.broadcast_to(
        index._a.reshape([-1 if k == d else 1 for k in range(input._a.ndim)]), source._a.shape
    )
    return scatter_reduce(input, d, wrap(wide), source, reduce, include_self=include_self)


method(index_reduce)
only_method(
    lambda self, dim, index, source, reduce, *, include_self=True: self.copy_(
        index_reduce(self, dim, index, source, reduce, include_self=include_self)
    ),
    "index_reduce_",
)


# ---------------------------------------------------------------- flat and masked places
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
    flat = F.zero_at(F.reshape(g, (-1,)), (_array_of(F, index),))
    return F.reshape(flat, _shape(F, g))


put_op = declare(
    "put_op",
    _put_forward,
    "self source index",
    "accumulate",
    node="PutBackward0",
    hidden=("source_sym_sizes",),
    formula="∂self: g, zero at the indices    ∂source: g at the indices",
    self=_put_self,
    source=lambda F, g, source, index, source_shape: F.reshape(
        F.pick(F.reshape(g, (-1,)), _array_of(F, index).reshape(-1), 0), source_shape
    ),
)
method(
    lambda input, index, source, accumulate=False: put_op(input, source, index, accumulate), "put"
)
only_method(
    lambda self, index, source, accumulate=False: write(
        put_op.op, (self, source, index), (accumulate,)
    ),
    "put_",
)

masked_select_op = declare(
    "masked_select_op",
    lambda x, mask: x[mask],
    "self mask",
    node="MaskedSelectBackward0",
    formula="g where the mask holds",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, mask, self_shape: F.put_index(g, (_array_of(F, mask),), self_shape),
)


def masked_select(input, mask, *, out=None):
    """The elements where ``mask`` holds, in one dimension."""
    if mask._a.dtype != bool:
        raise RuntimeError("masked_select: expected BoolTensor for mask")
    shape = xp.broadcast_shapes(input._a.shape, mask._a.shape)
    source = input if input._a.shape == shape else expand(input, shape)
    return masked_select_op(
        source, mask if mask._a.shape == shape else wrap(xp.broadcast_to(mask._a, shape))
    )


method(masked_select)


def _masked_scatter_forward(x, source, mask):
    out = x.copy()
    out[mask] = source.reshape(-1)[: int(mask.sum())]
    return out


def _masked_scatter_source(F, g, mask, source_shape):
    found = F.index(g, (_array_of(F, mask),))
    flat = F.put_region(found, (_numel(source_shape),), (slice(0, _shape(F, found)[0]),))
    return F.reshape(flat, source_shape)


masked_scatter_op = declare(
    "masked_scatter_op",
    _masked_scatter_forward,
    "self source mask",
    node="MaskedScatterBackward0",
    formula="∂self: g where not masked    ∂source: g where masked",
    self=lambda F, g, mask: F.masked_fill(g, mask, 0),
    source=_masked_scatter_source,
)


def _masked_source(self, mask, source):
    if mask._a.dtype != bool:
        raise RuntimeError(
            "masked_scatter_ only supports boolean masks, but got mask with dtype "
            f"{mask.dtype.name}"
        )
    if source._a.dtype != self._a.dtype:
        raise RuntimeError(
            "masked_scatter: expected self and source to have same dtypes but got "
            f"{dtypes.scalar_name(self.dtype)} and "
            f"{dtypes.scalar_name(source.dtype)}"
        )
    mask = wrap(xp.broadcast_to(mask._a, self._a.shape))
    if int(mask._a.sum()) > source._a.size:
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


# ---------------------------------------------------------------- a view's part replaced, out of
# place
def _window_op(name, node, attrs, window):
    """``x`` with ``src`` in the place that ``window(x, *attrs)`` shows."""

    def forward(x, src, *given):
        out = xp.array(x)
        window(out, *given)[...] = src
        return out

    def blank(g, *given):
        out = xp.array(g)
        window(out, *given)[...] = 0
        return out

    names = ", ".join(attrs.split())
    rules = {"blank": f"{name}_blank", "read": f"{name}_read"}
    env = {}
    exec(  # noqa: S102
        f"def self_(F, g, {names}): return F.{rules['blank']}(g, {names})\n"
        f"def read_(F, g, {names}): return F.{rules['read']}(g, {names})\n"
        f"def back_(F, g, self_shape, {names}): return F.{name}_op(F.constant(zeros(self_shape, "
        f"dtype(F, g))), g, {names})",
        {"zeros": xp.zeros, "dtype": lambda F, g: _array_of(F, g).dtype},
        env,
    )
    op = declare(
        f"{name}_op",
        forward,
        "self src",
        attrs,
        node=node,
        formula="∂self: g, zero in the window    ∂src: g in the window",
        self=env["self_"],
        src=env["read_"],
    )
    declare(rules["blank"], blank, "self", attrs, node=node, self=env["self_"])
    declare(
        rules["read"],
        lambda g, *given: xp.array(window(g, *given)),
        "self",
        attrs,
        node=node,
        self=env["back_"],
    )
    return op


def _diagonal_window(x, offset, dim1, dim2):
    out = x.diagonal(offset, dim1, dim2)
    if x.flags.writeable:
        out.flags.writeable = True
    return out


select_scatter_op = _window_op(
    "select_scatter", "SelectScatterBackward0", "dim index", _select_forward
)
slice_scatter_op = _window_op(
    "slice_scatter",
    "SliceScatterBackward0",
    "dim start end step",
    lambda x, dim, start, end, step: x[along(slice(start, end, step), dim, x.ndim)],
)
diagonal_scatter_op = _window_op(
    "diagonal_scatter", "DiagonalScatterBackward0", "offset dim1 dim2", _diagonal_window
)
strided_place_op = _window_op(
    "as_strided_scatter",
    "AsStridedScatterBackward0",
    "size stride storage_offset",
    lambda x, size, stride, offset: as_strided_op.op.forward(x, size, stride, offset, None),
)


def _same_shape(expected, src):
    if tuple(src._a.shape) != tuple(expected):
        raise RuntimeError(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._a.shape)}, slice size = {list(expected)}"
        )


def select_scatter(input, src, dim, index):
    """A copy with ``src`` in place of the slice at ``index``."""
    d = wrap_dim(dim, input._a.ndim)
    _same_shape(input._a.shape[:d] + input._a.shape[d + 1 :], src)
    return select_scatter_op(input, src, d, index % input._a.shape[d])


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy with ``src`` in place of a slice."""
    d = wrap_dim(dim, input._a.ndim)
    start, end, step = slice(start, end, step).indices(input._a.shape[d])
    return slice_scatter_op(input, src, d, start, end, step)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy with ``src`` on a diagonal."""
    n = input._a.ndim
    return diagonal_scatter_op(input, src, offset, wrap_dim(dim1, n), wrap_dim(dim2, n))


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy with ``src`` in place of the strided view."""
    source = input if input._a.flags.c_contiguous else input.contiguous()
    return strided_place_op(source, src, tuple(size), tuple(stride), storage_offset or 0)


for _f in (select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter):
    method(_f)


# ---------------------------------------------------------------- embedding
def _embedding_back(F, g, indices, weight_shape, padding_idx):
    return F.embedding_back(g, indices, weight_shape, padding_idx)


def _embedding_back_forward(g, indices, shape, padding_idx):
    out = xp.zeros(shape, g.dtype)
    xp.add.at(out, indices.ravel(), g.reshape(-1, shape[1]))
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


embedding_op = declare(
    "embedding",
    lambda weight, indices, padding_idx: weight[indices],
    "weight",
    "indices padding_idx",
    formula="g added into the chosen rows",
    hidden=("weight_sym_sizes",),
    also={
        "indices": lambda node: wrap(node.at[0]),
        "scale_grad_by_freq": lambda node: False,
        "sparse": lambda node: False,
        "weight_sym_argsize_0": lambda node: node.at[-1][0],
        "padding_idx": lambda node: -1 if node.at[1] is None else node.at[1],
    },
    weight=_embedding_back,
)
declare(
    "embedding_back",
    _embedding_back_forward,
    "self",
    "indices shape padding_idx",
    node="EmbeddingDenseBackward0",
    self=lambda F, g, indices, padding_idx: F.embedding(g, indices, padding_idx),
)


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Every slice along ``dim`` repeated: by one number, or by one a slice."""
    if dim is None:
        input = reshape(input, (-1,)) if input._a.ndim != 1 else input
        dim = 0
    d = wrap_dim(dim, input._a.ndim)
    if isinstance(repeats, int):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        shape = input._a.shape
        wide = expand(input.unsqueeze(d + 1), (*shape[: d + 1], repeats, *shape[d + 1 :]))
        return TENSOR.clone(wide, True).flatten(d, d + 1)
    index = xp.repeat(xp.arange(input._a.shape[d]), repeats._a)
    return index_select(input, d, wrap(index.astype(xp.int64)))


method(repeat_interleave)
public(
    "repeat_interleave",
    lambda input, repeats=None, dim=None, *, output_size=None: (
        repeat_interleave(input, repeats, dim)
        if repeats is not None
        else wrap(xp.repeat(xp.arange(input._a.shape[0]), input._a))
    ),
)
