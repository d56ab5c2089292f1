"""Indexing in all its forms, gather and scatter, embedding."""

from __future__ import annotations

from ..backend import xp
from ..engine import views
from ..engine.dispatch import RAW, TENSOR, Tensor, wrap
from ..engine.tensor import wrap_dim
from .declare import declare, method, only_method, public
from .shape import alias_op, copy_, reshape, select_op, slice_op, unsqueeze_op


def _put_index(g, index, shape):
    out = xp.zeros(shape, g.dtype)
    xp.add.at(out, index, g)
    return out


index_op = declare("index", lambda x, indices: xp.ascontiguousarray(x[indices]), "self", "indices",
                   formula="g added at the indices",
                   self=lambda F, g, self_shape, indices: F.put_index(g, indices, self_shape))  # fmt: skip
declare("put_index", _put_index, "self", "index shape", node="IndexPutBackward0", self=lambda F, g, index: F.index(g, index))


def _index_put_forward(x, values, indices, accumulate):
    out = x.copy()
    if accumulate:
        xp.add.at(out, indices, values)
    else:
        out[indices] = values
    return out


index_put_op = declare("index_put", _index_put_forward, "self values", "indices accumulate", node="IndexPutBackward0",
                       formula="∂self: g, zero at the indices    ∂values: g at the indices",
                       self=lambda F, g, indices, accumulate: g if accumulate else F.zero_at(g, indices),
                       values=lambda F, g, indices: F.index(g, indices))  # fmt: skip


def _zero_at(g, indices):
    out = g.copy()
    out[indices] = 0
    return out


declare("zero_at", _zero_at, "self", "indices", node="IndexPutBackward0", self=lambda F, g, indices: F.zero_at(g, indices))


# ---------------------------------------------------------------- reading an index
def _is_advanced(i):
    return isinstance(i, (Tensor, list, xp.ndarray, range)) or isinstance(i, tuple)


def _as_index(i):
    """One index as NumPy takes it; IndexError for what PyTorch refuses."""
    if isinstance(i, Tensor):
        if i._a.dtype.kind not in "biu":
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        return i._a.astype(bool) if i._a.dtype == xp.uint8 else i._a
    if isinstance(i, (list, tuple, range)):
        made = xp.asarray([x._a if isinstance(x, Tensor) else x for x in i])
        return made.astype(xp.int64) if made.size == 0 else made
    return i


def _expand_ellipsis(index, ndim):
    """The index as a tuple with ``...`` written out; IndexError with too many entries."""
    used = sum(1 if not isinstance(i, Tensor) or i._a.dtype not in (bool, xp.uint8) else i._a.ndim
               for i in index if i is not None and i is not Ellipsis and not isinstance(i, bool))  # fmt: skip
    if used > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    if any(i is Ellipsis for i in index):
        at = next(k for k, i in enumerate(index) if i is Ellipsis)
        return (*index[:at], *[slice(None)] * (ndim - used), *index[at + 1 :])
    return index


def _basic(self, index):
    """Integers, slices, None and ``...``: a chain of views, as PyTorch makes it."""
    out, dim = self, 0
    for i in _expand_ellipsis(index, self._a.ndim):
        if i is None:
            out = unsqueeze_op(out, dim)
            dim += 1
        elif isinstance(i, slice):
            out = _slice(out, dim, i)
            dim += 1
        else:
            out = _select(out, dim, i, self)
    return alias_op(out) if out is self else out


def _slice(x, dim, i):
    n = x._a.shape[dim]
    start, stop, step = (v if v is None else _integer(v) for v in (i.start, i.stop, i.step))
    if step is not None and step <= 0:
        raise ValueError("step must be greater than zero")
    start, stop, step = slice(start, stop, step).indices(n)
    if start == 0 and stop >= n and step == 1:
        return x
    return slice_op(x, dim, start, max(stop, start), step)


def _integer(v):
    return v._a.item() if isinstance(v, Tensor) else v.__index__()


def _select(x, dim, i, original):
    if x._a.ndim == 0:
        raise IndexError("invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a "
                         "0-dim tensor to a number")  # fmt: skip
    n = x._a.shape[dim]
    i = _integer(i)
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of bounds for dimension {dim} with size {n}")
    return select_op(x, dim, i % n)


select_attach = select_op.attach


def getitem(self, index):
    """``self[index]``: a view for integers, slices, None and ``...``; a copy for index tensors, lists and masks."""
    kind = index.__class__
    if kind is int:
        try:
            part = self._a[index, ...]
        except IndexError:
            return _basic(self, (index,))
        return select_attach(self, part, (0, index if index >= 0 else index + len(self._a)))
    if kind is not tuple:
        index = (index,)
    if any(_is_advanced(i) and not _is_scalar(i) for i in index) or any(isinstance(i, bool) for i in index):
        return index_op(self, _advanced(index, self._a))
    _check_kinds(index)
    return _basic(self, index)


def _is_scalar(i):
    return isinstance(i, Tensor) and i._a.ndim == 0 and i._a.dtype.kind in "iu" and i._a.dtype != xp.uint8


def _check_kinds(index):
    for i in index:
        if i is None or i is Ellipsis or isinstance(i, (int, slice, Tensor, xp.integer)) or hasattr(i, "__index__"):
            continue
        raise IndexError(
            f"only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type(i).__name__})"
        )


def _advanced(index, array):
    found = tuple(_as_index(i) for i in _expand_ellipsis(index, array.ndim))
    _check_masks(found, array)
    _check_bounds(found, array)
    return found


def _check_masks(index, array):
    dim = 0
    for i in index:
        if i is None or isinstance(i, bool):
            continue
        if isinstance(i, xp.ndarray) and i.dtype == bool:
            if i.shape != array.shape[dim : dim + i.ndim]:
                raise IndexError(
                    f"The shape of the mask {list(i.shape)} at index 0 does not match the shape of the indexed tensor "
                    f"{list(array.shape)} at index {dim}"
                )
            dim += i.ndim
        else:
            dim += 1


def _check_bounds(index, array):
    dim = 0
    for i in index:
        if i is None or isinstance(i, bool):
            continue
        if isinstance(i, xp.ndarray):
            if i.dtype == bool:
                dim += i.ndim
                continue
            n = array.shape[dim]
            if i.size and (i.min() < -n or i.max() >= n):
                wrong = i.max() if i.max() >= n else i.min()
                raise IndexError(f"index {int(wrong)} is out of bounds for dimension {dim} with size {n}")
        dim += 1


def setitem(self, index, value):
    """``self[index] = value``: written in place and recorded."""
    if index.__class__ is not tuple:
        index = (index,)
    if not isinstance(value, Tensor):
        value = wrap(xp.asarray(value, self._a.dtype) if not isinstance(value, (list, tuple)) else xp.asarray(value).astype(self._a.dtype))
    if any(_is_advanced(i) and not _is_scalar(i) for i in index) or any(isinstance(i, bool) for i in index):
        _put(self, _advanced(index, self._a), value, False)
        return
    _check_kinds(index)
    target = _basic(self, index)
    while value._a.ndim > target._a.ndim and value._a.shape[0] == 1:
        value = reshape(value, value._a.shape[1:])
    copy_(target, value)


def _put(self, index, value, accumulate):
    value = value if value._a.dtype == self._a.dtype else TENSOR.cast(value, self._a.dtype)
    try:
        return views.write(index_put_op.op, (self, value), (index, accumulate))
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._a.shape)} cannot be broadcast to indexing result of shape "
            f"{list(self._a[index].shape)}"
        ) from None


Tensor.__getitem__ = getitem
Tensor.__setitem__ = setitem


def index_put_(self, indices, values, accumulate=False):
    """In-place ``self[indices] = values`` (added with ``accumulate``)."""
    return _put(self, _advanced(tuple(indices), self._a), values, accumulate)


def index_put(input, indices, values, accumulate=False):
    """A copy with ``values`` at ``indices``."""
    return index_put_op(input, values, _advanced(tuple(indices), input._a), accumulate)


only_method(index_put_)
method(index_put)


def nonzero(input, *, as_tuple=False):
    """The indices of nonzero elements: a matrix, or one vector a dimension."""
    found = xp.nonzero(input._a) if input._a.ndim else xp.nonzero(input._a.reshape(1))
    if as_tuple:
        return tuple(wrap(i.astype(xp.int64)) for i in found)
    return wrap(xp.stack(found, -1).astype(xp.int64)[:, : max(input._a.ndim, 0)])


method(nonzero)
public("argwhere", lambda input: nonzero(input))

# ---------------------------------------------------------------- gather, scatter
gather_op = declare("gather", lambda x, index, dim: _gather(x, index, dim), "self index", "dim", formula="g added at the indices",
                    self=lambda F, g, index, self_shape, dim: F.scatter_back(g, index, self_shape, dim))  # fmt: skip


def _full_index(index, dim):
    grid = list(xp.indices(index.shape, sparse=True))
    grid[dim] = index
    return tuple(grid)


def _gather(x, index, dim):
    return x[_full_index(index, dim)] if x.ndim else x.reshape(1)[index].reshape(index.shape)


def _scatter_back(g, index, shape, dim):
    out = xp.zeros(shape, g.dtype)
    xp.add.at(out, _full_index(index, dim), g)
    return out


declare("scatter_back", _scatter_back, "self index", "shape dim", node="ScatterAddBackward0", self=lambda F, g, index, dim: F.gather(g, index, dim))


def gather(input, dim, index):
    """Elements picked along ``dim``: ``out[i][j] = input[index[i][j]][j]`` for dim 0."""
    if index._a.dtype != xp.int64 and index._a.dtype != xp.int32:
        raise RuntimeError("gather(): Expected dtype int32/int64 for index")
    d = wrap_dim(dim, input._a.ndim)
    if index._a.ndim != input._a.ndim and input._a.ndim:
        raise RuntimeError("Index tensor must have the same number of dimensions as input tensor")
    n = input._a.shape[d] if input._a.ndim else 1
    if index._a.size and (index._a.min() < 0 or index._a.max() >= n):
        raise RuntimeError(f"index {int(index._a.max())} is out of bounds for dimension {d} with size {n}")
    return gather_op(input, index, d)


method(gather)
method(lambda input, indices, dim=None: gather(input, dim, indices) if dim is not None else gather(reshape(input, (-1,)), 0, reshape(
    indices, (-1,))), "take_along_dim")  # fmt: skip


def _scatter_forward(x, index, src, dim, add):
    out = x.copy()
    where = _full_index(index, dim)
    part = src[tuple(slice(0, n) for n in index.shape)] if src.ndim else src
    if add:
        xp.add.at(out, where, part)
    else:
        out[where] = part
    return out


def _scatter_src(F, g, index, src_shape, dim):
    got = F.gather(g, index, dim)
    if tuple(src_shape) == tuple((got if F is RAW else got._a).shape) or not src_shape:
        return got
    return F.put_region(got, src_shape, tuple(slice(0, n) for n in (got if F is RAW else got._a).shape))


scatter_op = declare("scatter", _scatter_forward, "self index src", "dim add", formula="∂self: g, zero at the indices    ∂src: g at the indices",
                     self=lambda F, g, index, dim, add: g if add else F.zero_along(g, index, dim),
                     src=lambda F, g, index, src_shape, dim: _scatter_src(F, g, index, src_shape, dim))  # fmt: skip
scatter_add_op = declare("scatter_add", _scatter_forward, "self index src", "dim add", formula="∂self: g    ∂src: g at the indices",
                         self=lambda F, g: g, src=lambda F, g, index, src_shape, dim: _scatter_src(F, g, index, src_shape, dim))  # fmt: skip


def _zero_along(g, index, dim):
    out = g.copy()
    out[_full_index(index, dim)] = 0
    return out


declare("zero_along", _zero_along, "self index", "dim", node="ScatterBackward0", self=lambda F, g, index, dim: F.zero_along(g, index, dim))


def _source(self, src):
    return src if isinstance(src, Tensor) else wrap(xp.asarray(src, self._a.dtype))


def scatter(input, dim, index, src, *, reduce=None):
    """A copy with ``src`` written at ``index`` along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    return scatter_op(input, index, _source(input, src), d, reduce == "add")


def scatter_(self, dim, index, src=None, *, value=None, reduce=None):
    """In-place ``scatter``."""
    d = wrap_dim(dim, self._a.ndim)
    return views.write(scatter_op.op, (self, index, _source(self, value if src is None else src)), (d, reduce == "add"))


method(scatter)
only_method(scatter_)
method(lambda input, dim, index, src: scatter_add_op(input, index, src, wrap_dim(dim, input._a.ndim), True), "scatter_add")
only_method(lambda self, dim, index, src: views.write(scatter_add_op.op, (self, index, src), (wrap_dim(dim, self._a.ndim), True)), "scatter_add_")


# ---------------------------------------------------------------- along one dimension
def _along(index, dim, ndim):
    return (slice(None),) * dim + (index,) + (slice(None),) * (ndim - dim - 1)


def _select_back(g, index, shape, dim):
    out = xp.zeros(shape, g.dtype)
    xp.add.at(out, _along(index, dim, len(shape)), g)
    return out


index_select_op = declare("index_select", lambda x, index, dim: xp.take(x, index, dim), "self index", "dim", formula="g added at the indices",
                          self=lambda F, g, index, self_shape, dim: F.select_back(g, index, self_shape, dim))  # fmt: skip
declare("select_back", _select_back, "self index", "shape dim", node="IndexAddBackward0", self=lambda F, g, index, dim: F.index_select(g, index, dim))


def index_select(input, dim, index):
    """The slices of ``input`` at ``index`` along ``dim``."""
    d = wrap_dim(dim, input._a.ndim)
    n = input._a.shape[d] if input._a.ndim else 1
    if index._a.size and (index._a.min() < 0 or index._a.max() >= n):
        raise IndexError("index out of range in self")
    return index_select_op(input if input._a.ndim else reshape(input, (1,)), index, d)


method(index_select)


def _index_add_forward(x, source, index, dim, alpha):
    out = x.copy()
    xp.add.at(out, _along(index, dim, x.ndim), source if alpha == 1 else source * alpha)
    return out


index_add_op = declare("index_add", _index_add_forward, "self source", "index dim alpha", formula="∂self: g    ∂source: g at the indices",
                       self=lambda F, g: g,
                       source=lambda F, g, index, dim, alpha: F.take(g, index, dim) * alpha)  # fmt: skip
RAW.take = lambda x, index, dim: xp.take(x, index, dim)
TENSOR.take = lambda x, index, dim: index_select(x, dim, wrap(index))
index_copy_op = declare("index_copy", lambda x, source, index, dim: _index_put_forward(x, source, _along(index, dim, x.ndim), False),
                        "self source", "index dim", self=lambda F, g, index, dim: F.zero_at(g, _along(index, dim, (g if F is RAW else g._a).ndim)),
                        source=lambda F, g, index, dim: F.take(g, index, dim))  # fmt: skip
index_fill_op = declare("index_fill", lambda x, index, dim, value: _index_put_forward(x, x.dtype.type(value), _along(index, dim, x.ndim), False),
                        "self", "index dim value", self=lambda F, g, index, dim: F.zero_at(g, _along(index, dim, (g if F is RAW else g._a).ndim)))  # fmt: skip
method(lambda input, dim, index, source, *, alpha=1: index_add_op(input, source, index._a, wrap_dim(dim, input._a.ndim), alpha), "index_add")
only_method(lambda self, dim, index, source, *, alpha=1: views.write(index_add_op.op, (self, source), (index._a, wrap_dim(dim, self._a.ndim), alpha)), "index_add_")
method(lambda input, dim, index, source: index_copy_op(input, source, index._a, wrap_dim(dim, input._a.ndim)), "index_copy")
only_method(lambda self, dim, index, source: views.write(index_copy_op.op, (self, source), (index._a, wrap_dim(dim, self._a.ndim))), "index_copy_")
method(lambda input, dim, index, value: index_fill_op(input, index._a, wrap_dim(dim, input._a.ndim), value), "index_fill")
only_method(lambda self, dim, index, value: views.write(index_fill_op.op, (self,), (index._a, wrap_dim(dim, self._a.ndim), value)), "index_fill_")


def masked_select(input, mask):
    """The elements where ``mask`` holds, in one dimension."""
    shape = xp.broadcast_shapes(input._a.shape, mask._a.shape)
    return index_op(input.expand(*shape), (xp.broadcast_to(mask._a, shape),))


method(masked_select)


def masked_scatter(input, mask, source):
    """A copy with the elements of ``source`` put, in order, where ``mask`` holds."""
    n = int(xp.broadcast_to(mask._a, input._a.shape).sum())
    return index_put(input, (wrap(xp.broadcast_to(mask._a, input._a.shape)),), reshape(source, (-1,))[:n])


method(masked_scatter)


# ---------------------------------------------------------------- embedding
def _embedding_back(F, g, indices, weight_shape, padding_idx):
    return F.embedding_back(g, indices, weight_shape, padding_idx)


def _embedding_back_forward(g, indices, shape, padding_idx):
    out = xp.zeros(shape, g.dtype)
    xp.add.at(out, indices.ravel(), g.reshape(-1, shape[1]))
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


embedding_op = declare("embedding", lambda weight, indices, padding_idx: weight[indices], "weight", "indices padding_idx",
                       formula="g added into the chosen rows", weight=_embedding_back)  # fmt: skip
declare("embedding_back", _embedding_back_forward, "self", "indices shape padding_idx", node="EmbeddingDenseBackward0",
        self=lambda F, g, indices, padding_idx: F.embedding(g, indices, padding_idx))  # fmt: skip


def repeat_interleave(input, repeats, dim=None):
    """Every slice along ``dim`` repeated."""
    if dim is None:
        input, dim = reshape(input, (-1,)), 0
    counts = repeats._a if isinstance(repeats, Tensor) else repeats
    index = xp.repeat(xp.arange(input._a.shape[dim]), counts)
    return index_select(input, dim, wrap(index.astype(xp.int64)))


method(repeat_interleave)
