"""Slices, flat places and masks: index_select, index_add, put, masked_select, embedding."""

from __future__ import annotations

from ..backend import MetaArray, beside, host, meta, readable, xp, zeros_by
from ..engine import dtypes
from ..engine.dispatch import Tensor, call, wrap
from ..engine.errors import warn_once
from ..engine.memory_format import contiguous_format
from ..engine.operands import together
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from ..engine.views import check_expanded, write
from .arithmetic import refuse_complex
from .declare import declare, into_zeros, method, only_method, public
from .index import _index_put_forward, add_rows
from .join import _select_forward, check_place
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
from .shape import as_strided_op, expand, reshape


# ---------------------------------------------------------------- slices along one dimension
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


# ---------------------------------------------------------------- a view's part replaced, out of
# place
def _window_op(name, node, attrs, window, read):
    """``x`` with ``src`` in the place that ``window(x, *attrs)`` shows; the operation ``read``
    shows it too.
    """

    def forward(x, src, *given):
        out = x.copy("K")
        window(out, *given)[...] = 0 if src is None else src
        return out

    names = ", ".join(attrs.split())
    env = {}
    exec(  # noqa: S102
        f"def self_(F, g, {names}): return blank(F, g, {names})\n"
        f"def read_(F, g, {names}): return F.{read}(g, {names})\n",
        {
            "blank": lambda F, g, *given: (
                forward(g, None, *given) if F is RAW else call(op, (g, None), given)
            ),
        },
        env,
    )
    made = declare(
        f"{name}_op",
        forward,
        "self src",
        attrs,
        node=node,
        formula="∂self: g, zero in the window    ∂src: g in the window",
        self=env["self_"],
        src=env["read_"],
    )
    op = made.op
    return made


def _diagonal_window(x, offset, dim1, dim2):
    out = x.diagonal(offset, dim1, dim2)
    if x.flags.writeable:
        out.flags.writeable = True
    return out


select_scatter_op = _window_op(
    "select_scatter", "SelectScatterBackward0", "dim index", _select_forward, "select"
)
slice_scatter_op = _window_op(
    "slice_scatter",
    "SliceScatterBackward0",
    "dim start end step",
    lambda x, dim, start, end, step: x[along(slice(start, end, step), dim, x.ndim)],
    "slice",
)
diagonal_scatter_op = _window_op(
    "diagonal_scatter", "DiagonalScatterBackward0", "offset dim1 dim2", _diagonal_window, "diagonal"
)
strided_place_op = _window_op(
    "as_strided_scatter",
    "AsStridedScatterBackward0",
    "size stride storage_offset",
    lambda x, size, stride, offset: as_strided_op.op.forward(x, size, stride, offset, None),
    "strided_read",
)
declare(
    "strided_read",
    lambda x, size, stride, offset: as_strided_op.op.forward(x, size, stride, offset, None).copy(
        "K"
    ),
    "self",
    "size stride storage_offset",
    node="AsStridedBackward0",
    self=lambda F, g, self_shape, size, stride, storage_offset: (
        strided_place_op(
            F.constant(zeros_by(_array_of(F, g), self_shape)), g, size, stride, storage_offset
        )
        if F is TENSOR
        else strided_place_op.op.forward(zeros_by(g, self_shape), g, size, stride, storage_offset)
    ),
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
    check_place("select", input, d, index)
    _same_shape(input._a.shape[:d] + input._a.shape[d + 1 :], src)
    refuse_complex("select_scatter", input, src)
    return select_scatter_op(input, src, d, index % input._a.shape[d])


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """A copy with ``src`` in place of a slice."""
    d = wrap_dim(dim, input._a.ndim)
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    shape = input._a.shape
    start, end, step = slice(start, end, step).indices(shape[d])
    _same_shape((*shape[:d], len(range(start, end, step)), *shape[d + 1 :]), src)
    refuse_complex("slice_scatter", input, src)
    return slice_scatter_op(input, src, d, start, end, step)


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """A copy with ``src`` on a diagonal."""
    part = input.detach().diagonal(offset, dim1, dim2)
    _same_shape(part._a.shape, src)
    n = input._a.ndim
    return diagonal_scatter_op(input, src, offset, wrap_dim(dim1, n), wrap_dim(dim2, n))


def as_strided_scatter(input, src, size, stride, storage_offset=None):
    """A copy with ``src`` in place of the strided view."""
    source = input.contiguous() if input.requires_grad else input
    _same_shape(source.detach().as_strided(size, stride, storage_offset)._a.shape, src)
    return strided_place_op(source, src, tuple(size), tuple(stride), storage_offset or 0)


for _f in (select_scatter, slice_scatter, diagonal_scatter, as_strided_scatter):
    method(_f)


# ---------------------------------------------------------------- embedding
def _embedding_back_forward(g, indices, shape, padding_idx, by_frequency):
    out = zeros_by(g, shape)
    rows, places = g.reshape(-1, shape[1]), indices.ravel()
    add_rows(out, places, shared_by_frequency(rows, places) if by_frequency else rows)
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


def shared_by_frequency(rows, places):
    """``rows`` divided by how often the place of each one occurs."""
    if not places.size:
        return rows
    return rows / xp.bincount(places)[places][:, None].astype(rows.dtype)


embedding_op = declare(
    "embedding",
    lambda weight, indices, padding_idx, by_frequency: weight[indices],
    "weight",
    "indices padding_idx by_frequency",
    formula="g added into the chosen rows",
    hidden=("weight_sym_sizes", "by_frequency"),
    also={
        "indices": lambda node: wrap(node.at[0]),
        "scale_grad_by_freq": lambda node: node.at[2],
        "sparse": lambda node: False,
        "weight_sym_argsize_0": lambda node: node.at[-1][0],
        "padding_idx": lambda node: -1 if node.at[1] is None else node.at[1],
    },
    weight=lambda F, g, indices, weight_shape, padding_idx, by_frequency: F.embedding_back(
        g, indices, weight_shape, padding_idx, by_frequency
    ),
)
declare(
    "embedding_back",
    _embedding_back_forward,
    "self",
    "indices shape padding_idx by_frequency",
    node="EmbeddingDenseBackwardBackward0",
    hidden=("shape", "by_frequency"),
    also={
        "indices": lambda node: wrap(node.at[0]),
        "padding_idx": lambda node: -1 if node.at[2] is None else node.at[2],
    },
    # PyTorch too leaves the frequency out of the second derivative
    self=lambda F, g, indices, padding_idx: F.embedding(g, indices, padding_idx, False),
)


def _check_counts(counts):
    if counts.dtype not in (xp.int64, xp.int32):
        name = dtypes.scalar_name(dtypes.of(counts))
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")


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
        if output_size is not None and output_size != shape[d] * repeats:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {shape[d] * repeats} but got "
                f"{output_size}"
            )
        return TENSOR.clone(wide, contiguous_format).flatten(d, d + 1)
    if isinstance(repeats._a, MetaArray):
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    counts = host(repeats._a)
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size != 1 and counts.size != input._a.shape[d]:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({int(d)}) = {input._a.shape[d]}"
        )
    _check_counts(counts)
    index = numbered(input._a.shape[d], counts)
    return index_select(input, d, wrap(beside(index, input._a)))


def numbered(count, times):
    """The numbers below ``count``, each as often as ``times`` says; on the host."""
    return xp.repeat(xp.arange(count, dtype=xp.int64), times.astype(xp.intp, copy=False))


method(repeat_interleave)
public(
    "repeat_interleave",
    lambda input, repeats=None, dim=None, *, output_size=None: (
        repeat_interleave(input, repeats, dim, output_size=output_size)
        if repeats is not None
        else wrap(beside(numbered(input._a.shape[0], host(input._a)), input._a))
    ),
)
