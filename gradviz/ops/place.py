"""Slices along one dimension: index_select, index_add, index_copy, index_fill, index_reduce."""

from __future__ import annotations

from ..backend import readable, xp, zeros_by
from ..engine import dtypes
from ..engine.dispatch import Tensor
from ..engine.errors import warn_once
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from ..engine.views import check_expanded, write
from .declare import declare, into_zeros, method, only_method
from .index import _index_put_forward, add_rows
from .lower import raised
from .mm import times
from .scatter import (
    _array_of,
    _reduce_forward,
    _reduce_joint,
    _shape,
    _tensor_index,
    check_reducible,
)
from .shape import reshape


def along(index, dim, ndim):
    """A NumPy index of ``index`` at ``dim``."""
    return (slice(None),) * dim + (index,) + (slice(None),) * (ndim - dim - 1)


def _select_back(g, index, shape, dim):
    out = zeros_by(g, shape)
    if out.ndim == 0:
        return out + g.sum()
    if dim == 0 and out.size:
        add_rows(out, index, g)
    else:
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
into_zeros(
    "select_back",
    _select_back,
    "index",
    "shape dim",
    node="IndexAddBackward0",
    also={"alpha": lambda node: 1, "source_dim": lambda node: len(node.shape)},
    self=lambda F, g, index, dim: F.index_select(g, index, dim),
)


def _outside(index, least, end):
    """The first index that is not in [least, end), None where all are."""
    a = index._a
    if not readable(a) or least <= a.min() and a.max() < end:
        return None
    return int(a[(a < least) | (a >= end)].reshape(-1)[0])


def index_select(input, dim, index):
    """The slices of ``input`` at ``index`` along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    if index._a.dtype not in (xp.int64, xp.int32):
        raise RuntimeError("index_select(): Expected dtype int32 or int64 for index")
    if index._a.ndim > 1:
        raise IndexError("index_select(): Index is supposed to be a vector")
    if not input._a.ndim and index._a.size != 1:
        raise RuntimeError(
            f"index_select(): Index to scalar can have only 1 value, got {index._a.size} value(s)"
        )
    n = input._a.shape[d] if input._a.ndim else 1
    wrong = _outside(index, 0, n)
    if wrong is not None and input._a.ndim > 1 and d == input._a.ndim - 1:
        raise RuntimeError(f"INDICES element is out of DATA bounds, id={wrong} axis_dim={n}")
    if wrong is not None:
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
    source=lambda F, g, source, index, source_shape, dim, alpha: times(
        F.expand_to(F.take(g, _array_of(F, index), dim), source_shape), alpha.conjugate()
    ),
)


def _copied(x, source, index, dim):
    if x.ndim == 0:
        return _copied(x.reshape(1), source, index.reshape(-1), 0).reshape(())
    return _index_put_forward(x, source, along(index, dim, x.ndim), False)


def _filled_back(F, g, index, dim):
    """``g``, zero in the slices at ``index``."""
    if F is TENSOR:
        return index_fill_op(g, _tensor_index(index), dim, 0)
    return F.zero_at(g, along(index, dim, g.ndim))


index_copy_op = declare(
    "index_copy",
    _copied,
    "self source index",
    "dim",
    also=_SOURCE,
    hidden=("source_sym_sizes",),
    formula="∂self: g, zero at the indices    ∂source: g at the indices",
    self=_filled_back,
    source=lambda F, g, source, index, source_shape, dim: F.expand_to(
        F.take(g, _array_of(F, index), dim), source_shape
    ),
)
index_fill_op = declare(
    "index_fill",
    lambda x, index, dim, value: _copied(x, dtypes.held(value, x.dtype), index, dim),
    "self index",
    "dim value",
    formula="g, zero at the indices",
    self=_filled_back,
)
index_fill_tensor = declare(
    "index_fill_tensor",
    lambda x, value, index, dim: _copied(x, value, index, dim),
    "self value index",
    "dim",
    node="IndexFillBackward1",
    formula="∂self: g, zero at the indices    ∂value: Σ g there",
    self=_filled_back,
    value=lambda F, g, index, dim: F.sum(F.take(g, _array_of(F, index), dim)),
)


def _check_added(name, self, dim, index, source):
    """What index_add and index_reduce ask for; the dimension, counted from the front."""
    d = wrap_dim(dim, self._a.ndim)
    if index._a.ndim > 1:
        raise IndexError(
            f"{name}(): Index is supposed to be a vector, but got dim: {index._a.ndim} with type: "
            f"{_scalar(index)} and size: {list(index._a.shape)}"
        )
    if index._a.dtype not in (xp.int64, xp.int32):
        raise RuntimeError(
            f"{name}(): Expected dtype int32/int64 for index but got: {_scalar(index)}"
        )
    if self._a.dtype != source._a.dtype:
        raise RuntimeError(
            f"{name}(): self ({_scalar(self)}) and source ({_scalar(source)}) must have the same "
            "scalar type"
        )
    shape, ndim = source._a.shape, source._a.ndim
    if d and d >= ndim:
        raise RuntimeError(
            f"{name}(): Indexing dim {d} is out of bounds of the source tensor with dim {ndim}"
        )
    if index._a.size != (shape[d] if ndim else 1):
        raise RuntimeError(
            f"{name}(): Number of indices ({index._a.size}) should be equal to source.size(dim): "
            f"({shape[d] if ndim else 1}), for dim: {d}"
        )
    own = self._a.shape
    if own[:d] + own[d + 1 :] != shape[:d] + shape[d + 1 :] or len(own) != len(shape):
        raise RuntimeError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. "
            f"Got self.shape = {list(own)} source.shape = {list(shape)}"
        )
    n = own[d] if own else 1
    wrong = _outside(index, 0, n)
    if wrong is not None and name == "index_reduce_":
        raise IndexError("index out of range in self")
    if wrong is not None:
        raise RuntimeError(f"index {wrong} is out of bounds for dimension {d} with size {n}")
    return d


def _check_copied(self, dim, index, source):
    d = wrap_dim(dim, self._a.ndim)
    n, k = self._a.ndim, source._a.ndim
    if index._a.ndim > 1:
        raise IndexError(f"index_copy_(): Index should have dimension 1 or 0 (got {index._a.ndim})")
    if index._a.dtype != xp.int64:
        raise RuntimeError(
            f"index_copy_(): Expected a long tensor for index, but got {_scalar(index)}"
        )
    if self._a.dtype != source._a.dtype:
        raise RuntimeError(
            "index_copy_(): self and source expected to have the same dtype, but got (self) "
            f"{_scalar(self)} and (source) {_scalar(source)}"
        )
    if k == 0 and index._a.size != 1:
        raise IndexError(
            f"index_copy_(): When source is scalar, index should have one element (got "
            f"{index._a.size})"
        )
    if n != k and n and k:
        raise IndexError(
            "index_copy_(): When source and destination are not scalars, their dimensionality "
            f"must match. Source dimensionality ({k}), destination dimensionality ({n})"
        )
    slices = [x._a.shape[:d] + x._a.shape[d + 1 :] for x in (self, source)]
    if slices[0] != slices[1]:
        shown = [" ".join(map(str, shape)) for shape in slices]
        raise RuntimeError(
            "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
            f"slice shape: {shown[0]} at dimension {d} and source slice shape: {shown[1]} at "
            f"dimension {d if k else 0}."
        )
    if k and index._a.size != source._a.shape[d]:
        raise IndexError(
            f"index_copy_(): Number of indices ({index._a.size}) should be equal to "
            f"source.size(dim) ({source._a.shape[d]})"
        )
    size = self._a.shape[d] if n else 1
    wrong = _outside(index, 0, size)
    if wrong is not None:
        raise IndexError(
            f"index_copy_(): index {wrong} is out of bounds for dimension {d} with size {size}"
        )
    return d


def _scalar(x):
    return dtypes.scalar_name(x.dtype)


def index_add(input, dim, index, source, *, alpha=1):
    """A copy with the slices of ``source`` added at ``index``."""
    return index_add_op(
        input, source, index, _check_added("index_add_", input, dim, index, source), alpha
    )


def index_add_(self, dim, index, source, *, alpha=1):
    """In-place ``index_add``."""
    return write(
        index_add_op.op,
        (self, source, index),
        (_check_added("index_add_", self, dim, index, source), alpha),
    )


def index_copy(input, dim, index, source):
    """A copy with the slices of ``source`` at ``index``; autocast takes the wider dtype of both."""
    if input._a.dtype != source._a.dtype:
        input, source = raised(input, source)
    return index_copy_op(input, source, index, _check_copied(input, dim, index, source))


def index_copy_(self, dim, index, source):
    """In-place ``index_copy``."""
    check_expanded(self._a)
    return write(
        index_copy_op.op,
        (self, source, index),
        (_check_copied(self, dim, index, source),),
    )


def _filling(self, dim, index, value):
    d = wrap_dim(dim, self._a.ndim)
    if index._a.dtype != xp.int64:
        raise IndexError("index_fill_(): Expected dtype int64 for index.")
    if index._a.ndim > 1:
        raise RuntimeError("Index has to be a vector/scalar")
    complexes = (
        isinstance(value, complex) or isinstance(value, Tensor) and value._a.dtype.kind == "c"
    )
    if complexes and self._a.dtype.kind != "c":
        raise RuntimeError(
            "index_fill_(): Converting complex Scalar to non-complex type is not supported"
        )
    size = self._a.shape[d] if self._a.ndim else 1
    wrong = _outside(index, -size, size)
    if wrong is not None:
        raise IndexError(f"index {wrong} is out of bounds for dimension {d} with size {size}")
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


def _wide(index, dim, shape):
    return xp.broadcast_to(index.reshape([-1 if k == dim else 1 for k in range(len(shape))]), shape)


def _index_reduce_joint(F, g, self, source, index, result, dim, reduce, include_self):
    wide = F.constant(_wide(_array_of(F, index), dim, _shape(F, source)))
    return _reduce_joint(F, g, self, source, wide, result, dim, reduce, include_self)


index_reduce_op = declare(
    "index_reduce_op",
    lambda x, source, index, dim, reduce, include_self: _reduce_forward(
        x, source, _wide(index, dim, source.shape), dim, reduce, include_self
    ),
    "self source index",
    "dim reduce include_self",
    node="IndexReduceBackward0",
    formula="g shared by what entered each result",
    joint=_index_reduce_joint,
    edges=2,
)


def _check_reduced(self, dim, index, source, reduce):
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise RuntimeError(
            "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
            f"{reduce}."
        )
    warn_once("index_reduce() is in beta and the API may change at any time.")
    kernels = {"amin": "minimum_cpu", "amax": "maximum_cpu", "mean": "div_floor_cpu"}
    check_reducible(kernels, reduce, self)
    return _check_added("index_reduce_", self, dim, index, source)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """A copy in which slices of ``source`` were combined at ``index`` by prod, mean, amax or
    amin.
    """
    d = _check_reduced(input, dim, index, source, reduce)
    return index_reduce_op(input, source, index, d, reduce, include_self)


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """In-place ``index_reduce``."""
    d = _check_reduced(self, dim, index, source, reduce)
    return write(index_reduce_op.op, (self, source, index), (d, reduce, include_self))


method(index_reduce)
only_method(index_reduce_)
