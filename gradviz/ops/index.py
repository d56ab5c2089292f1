"""Indexing with square brackets: views for integers, slices, None and ``...``; copies for index
tensors, lists and masks.
"""

from __future__ import annotations

import warnings

from ..backend import (
    MetaArray,
    as_array,
    beside,
    contiguous,
    host,
    meta,
    readable,
    xp,
    zeros_by,
)
from ..engine import dtypes, views
from ..engine.dispatch import Tensor, call, untracked, viewing, wrap
from ..engine.errors import warn_once
from ..engine.given import given
from ..engine.kept import keep
from ..engine.modes import is_recording
from ..engine.operation import RAW, TENSOR
from .clone import copy_
from .declare import declare, into_zeros, method, public
from .expand import unsqueeze_op
from .join import select_op, slice_op
from .shape import alias_op, reshape


# ---------------------------------------------------------------- the two operations
def add_rows(out, index, rows):
    """Add ``rows`` to the rows of ``out`` at ``index``; equal indices add up. Element by element
    NumPy does this three times as fast as row by row.
    """
    width = out[:1].size
    if width < 2 or not out.flags.c_contiguous or out.__class__ is not xp.ndarray:
        xp.add.at(out, index, rows)
        return
    if index.size and index.max() >= len(out):
        raise IndexError(f"index {index.max()} is out of bounds for axis 0 with size {len(out)}")
    places = (index.reshape(-1, 1) % len(out)) * width + xp.arange(width)
    wide = xp.broadcast_to(rows, (*index.shape, *out.shape[1:]))
    xp.add.at(out.reshape(-1), places.reshape(-1), wide.reshape(-1))


def _put_index(g, index, shape):
    out = zeros_by(g, shape)
    if all(i.__class__ is slice or i.dtype == bool for i in index):
        out[index] = g
    elif len(index) == 1 and out.size:
        add_rows(out, index[0], g)
    else:
        xp.add.at(out, index, g)
    return out


def shown(index):
    """An index as ``_saved_indices`` shows it: tensors, None where a dimension is taken whole."""
    return tuple(None if i.__class__ is slice else wrap(as_array(i)) for i in index)


index_op = declare(
    "index",
    lambda x, indices: contiguous(x[indices]),
    "self",
    "indices",
    formula="g added at the indices",
    also={"indices": lambda node: shown(node.at[0])},
    self=lambda F, g, self_shape, indices: F.put_index(g, indices, self_shape),
)
into_zeros(
    "put_index",
    _put_index,
    attrs="index shape",
    node="IndexPutImplBackward0",
    hidden=("index",),
    also={"indices": lambda node: shown(node.at[0]), "accumulate": lambda node: True},
    self=lambda F, g, index: F.index(g, index),
)


def _index_put_forward(x, values, indices, accumulate):
    out = x.copy("K")
    if accumulate:
        xp.add.at(out, indices, values)
    else:
        out[indices] = values
    return out


index_put_op = declare(
    "index_put",
    _index_put_forward,
    "self values",
    "indices accumulate",
    node="IndexPutBackward0",
    formula="∂self: g, zero at the indices    ∂values: g at the indices",
    also={"indices": lambda node: shown(node.at[0])},
    self=lambda F, g, indices, accumulate: g if accumulate else F.zero_at(g, indices),
    values=lambda F, g, indices: F.index(g, indices),
)


def _zero_at(g, indices):
    out = g.copy()
    out[indices if out.ndim else ...] = 0
    return out


declare(
    "zero_at",
    lambda g, zero, indices: _zero_at(g, indices),
    "self values",
    "indices",
    node="IndexPutBackward0",
    also={"indices": lambda node: shown(node.at[0]), "accumulate": lambda node: False},
    self=lambda F, g, indices: F.zero_at(g, indices),
    values=lambda F, g, indices: F.index(g, indices),
)
RAW.zero_at = _zero_at
TENSOR.zero_at = lambda g, indices, op=TENSOR.zero_at.op: call(op, (g, None), (indices,))


# ---------------------------------------------------------------- reading an index
class _Reader:
    """Walks an index from left to right: views are taken at once, index tensors are collected with
    their dimensions, and looked at when all views were taken.
    """

    def __init__(self, tensor):
        self.out = self.original = tensor
        self.dim = 0
        self.pending = []
        self.tensors = []

    def take(self, i, place):
        """``place``: where ``i`` stands in the index, for messages."""
        if i is None:
            self.out = unsqueeze_op(self.out, self.dim)
            self.dim += 1
        elif isinstance(i, slice):
            self.out = _slice(self.out, self.dim, i)
            self.dim += 1
        elif isinstance(i, bool):
            self._truth(i)
        elif isinstance(i, Tensor):
            self._tensor(i, place)
        elif isinstance(i, xp.ndarray):
            self._tensor(wrap(i), place)
        elif isinstance(i, (list, tuple, range)):
            self.collect(_array(i))
        elif hasattr(i, "__index__"):
            self._integer(i.__index__(), place)
        else:
            _refuse(i)

    def _integer(self, i, place):
        self.out = _select(self.out, self.dim, i, place)

    def _truth(self, value):
        self.out = unsqueeze_op(self.out, self.dim)
        self.pending.append((self.dim, xp.zeros(1 if value else 0, xp.int64, like=self.out._a)))
        self.dim += 1

    def _tensor(self, i, place):
        a = i._a
        if a.ndim == 0 and a.dtype.kind in "iu" and a.dtype != xp.uint8:
            self._integer(int(a), place)
        elif a.ndim == 0 and a.dtype in (bool, xp.uint8):
            self._truth(bool(a))
        else:
            self.collect(a)
            self.tensors.append(i)

    def collect(self, a):
        """One index tensor, or None for a dimension that is taken whole."""
        if a is None:
            self.dim += 1
            return
        if a.dtype == xp.uint8:
            warnings.warn(_BYTES, UserWarning, stacklevel=5)
            a = a.astype(bool)
        self.pending.append((self.dim, a))
        self.dim += a.ndim if a.dtype == bool else 1

    def index(self):
        """The collected index tensors as an ``_Index`` of the view that was taken."""
        return _Index(self.out._a, self.pending)


_INDICES = frozenset(map(xp.dtype, (xp.int64, xp.int32, xp.uint8, bool)))


class _Index:
    """Index tensors of an array, checked in the order in which PyTorch does it: masks and dtypes,
    shapes, dimensions without elements. ``check_bounds`` comes last.
    """

    def __init__(self, array, pending):
        self.shape = array.shape
        if any(a.dtype not in _INDICES for _, a in pending):
            raise IndexError("tensors used as indices must be long, int, byte or bool tensors")
        for dim, a in pending:
            if a.dtype == bool:
                _check_mask(a, self.shape, dim)
        self.pending = [(dim, _with(a, array)) for dim, a in pending]
        shapes = self._shapes()
        try:
            self.common = xp.broadcast_shapes(*shapes)
        except ValueError:
            shown = ", ".join(str(list(shape)) for shape in shapes)
            raise IndexError(
                "shape mismatch: indexing tensors could not be broadcast together with shapes "
                f"{shown}"
            ) from None
        if 0 not in self.common and any(self.shape[dim] == 0 for dim, _ in self.pending):
            raise IndexError("index is out of bounds for dimension with size 0")

    def _shapes(self):
        """The shapes of the index tensors, of a mask those of its places along each dimension."""
        return [
            shape
            for _, a in self.pending
            for shape in ([(_count(a),)] * a.ndim if a.dtype == bool else [a.shape])
        ]

    def check_bounds(self):
        """IndexError for the first place that lies outside; a result of no elements has none."""
        wrong = [
            (dim, a)
            for dim, a in self.pending
            if a.dtype != bool and readable(a) and not _inside(a, self.shape[dim])
        ]
        if not wrong:
            return
        if self._is_empty():
            self.pending = [(dim, self._harmless(dim, a)) for dim, a in self.pending]
            return
        firsts, number = [], 0  # PyTorch counts the index tensors, not the dimensions
        for dim, a in self.pending:
            if any(dim == other for other, _ in wrong):
                n = self.shape[dim]
                wide = xp.broadcast_to(a, self.common).reshape(-1)
                at = int(((wide < -n) | (wide >= n)).argmax())
                firsts.append((at, number, int(wide[at]), n))
            number += a.ndim if a.dtype == bool else 1
        _, number, value, n = min(firsts)
        raise IndexError(f"index {value} is out of bounds for dimension {number} with size {n}")

    def _is_empty(self):
        taken = self._taken()
        return 0 in self.common or any(n == 0 for d, n in enumerate(self.shape) if d not in taken)

    def _harmless(self, dim, a):
        """What NumPy takes in the place of ``a`` where no element is read."""
        if a.dtype == bool:
            return a
        return xp.broadcast_to(a, self.common) if 0 in self.common else xp.zeros_like(a)

    def result_shape(self):
        """The shape of what is read: the common shape where the index tensors stand, or in front
        where other dimensions lie between them.
        """
        taken = self._taken()
        rest = [n for d, n in enumerate(self.shape) if d not in taken]
        together = max(taken) - min(taken) + 1 == len(taken)
        at = min(taken) if together else 0
        return (*rest[:at], *self.common, *rest[at:])

    def _taken(self):
        return {dim + k for dim, a in self.pending for k in range(a.ndim if a.dtype == bool else 1)}

    def numpy(self):
        """In NumPy's form."""
        out, at = [], 0
        for dim, a in self.pending:
            out += [slice(None)] * (dim - at)
            out.append(a)
            at = dim + (a.ndim if a.dtype == bool else 1)
        return tuple(out)


_EXPANDED = (
    "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before "
    "performing this operation. This also applies to advanced indexing e.g. tensor[indices] = "
    "tensor"
)
_BYTES = "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead."


def _count(mask):
    """How many places a mask takes; what only has a form may be anything."""
    if isinstance(mask, MetaArray):
        meta.refuse("nonzero")
    return int(mask.sum())


def _inside(a, n):
    return a.min() >= -n and a.max() < n


def _with(index, array):
    """An index beside the array: one on the host goes with any."""
    if array.__class__ is index.__class__ is xp.ndarray:
        return index
    if array.__class__ is xp.ndarray:
        raise RuntimeError(
            "indices should be either on cpu or on the same device as the indexed tensor (cpu)"
        )
    return beside(index, array)


def _array(i):
    made = xp.asarray([host(x._a) if isinstance(x, Tensor) else x for x in i])
    if made.dtype.kind in "USO":
        _refuse(i)
    if made.dtype.kind == "f":
        made = made.astype(xp.int64)  # numbers in a list, not those of a tensor, are cut
    return made.astype(xp.int64) if made.size == 0 else made


def _refuse(i):
    if isinstance(i, str):
        raise TypeError("new(): invalid data type 'str'")
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are "
        f"valid indices (got {type(i).__name__})"
    )


def _check_mask(mask, shape, dim):
    for k, n in enumerate(mask.shape):
        if dim + k >= len(shape) or shape[dim + k] != n:
            raise IndexError(
                f"The shape of the mask {list(mask.shape)} at index {k} does not match the shape "
                f"of the indexed tensor {list(shape)} "
                f"at index {dim + k}"
            )


def _used(i):
    """How many dimensions an entry of an index takes."""
    if i is None or i is Ellipsis or isinstance(i, bool):
        return 0
    if isinstance(i, Tensor) and i._a.dtype in (bool, xp.uint8):
        return i._a.ndim
    if isinstance(i, xp.ndarray) and i.dtype == bool:
        return i.ndim
    return 1


def _expanded(index, ndim):
    """(entry, its place) of an index, ``...`` written out; IndexError with too many entries."""
    used = sum(map(_used, index))
    if used > ndim:
        raise IndexError(f"too many indices for tensor of dimension {ndim}")
    free = ndim - used
    for place, i in enumerate(index):
        if i is not Ellipsis:
            yield i, place
            continue
        yield from [(slice(None), place)] * free
        free = 0


_ZERO_DIM = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ "
    "to convert a 0-dim tensor to a number"
)


_AS_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in "
    "pytorch 2.9; use x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as "
    "tensor index, x[torch.tensor(seq)], which will result either in an error or a different result"
)


def _entries(i):
    """The entries of an index that is no tuple; a short list that holds more than numbers stands
    for one.
    """
    inside = (list, tuple, range, str, Tensor, slice, type(None), type(Ellipsis))
    if i.__class__ in (list, str) and len(i) < 32 and any(isinstance(part, inside) for part in i):
        warn_once(_AS_TUPLE)
        return tuple(i)
    return (i,)


def _read(self, index):
    reader = _Reader(self)
    for i, place in _expanded(index, self._a.ndim):
        reader.take(i, place)
    return reader


_END = 2**63 - 1  # what PyTorch keeps of an end that was left out


def _slice(x, dim, i, always=False):
    n = x._a.shape[dim]
    start, stop, step = (v if v is None else _integer(v) for v in (i.start, i.stop, i.step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step is not None and step < 0:
        raise ValueError("step must be greater than zero")
    if not (start or always) and (stop is None or stop >= n) and step in (None, 1):
        return x
    first, last, step = slice(start, stop, step).indices(n)
    last = max(last, first)
    if last != stop:
        last = given(last, _END if stop is None else stop)
    if first != start and start is not None:
        first = given(first, start)
    return slice_op(x, dim, first, last, step)


def _integer(v):
    if isinstance(v, Tensor) or hasattr(v, "__index__"):
        return v.__index__()
    raise TypeError("slice indices must be integers or None or have an __index__ method")


def _select(x, dim, i, place):
    if x._a.ndim == 0:
        raise IndexError(_ZERO_DIM)
    n = x._a.shape[dim]
    if not -n <= i < n:
        raise IndexError(f"index {i} is out of bounds for dimension {place} with size {n}")
    return select_op(x, dim, given(i + n, i) if i < 0 else i)


def _getitem(self, index):
    kind = index.__class__
    if self._a.ndim == 0:
        _refuse_of_one(index)
    if kind is slice:
        return _slice(self, 0, index, always=True)
    reader = _read(self, index if kind is tuple else _entries(index))
    out = reader.out
    if reader.pending:
        index = reader.index()
        index.check_bounds()
        return keep(index_op(out, index.numpy()), *reader.tensors)
    return alias_op(out) if out is self else out


def _refuse_of_one(index):
    """IndexError for an integer or slice of a tensor without dimensions."""
    if index.__class__ is int:
        raise IndexError(
            f"index {index} is out of bounds for dimension 0 with size 0" if index else _ZERO_DIM
        )
    if index.__class__ is slice:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")


getitem = viewing(
    select_op.op,
    "input, index",
    """
if index.__class__ is not int:
    return otherwise(input, index)
try:
    o = a[index, ...]
except IndexError:
    return otherwise(input, index)
""",
    attrs="(0, index if index >= 0 else given(index + len(a), index))",
    otherwise=_getitem,
    given=given,
)
getitem.__name__ = getitem.__qualname__ = "__getitem__"
getitem.__doc__ = """``self[index]``: a view for integers, slices, None and ``...``; a copy for
index tensors, lists and masks.
"""


def setitem(self, index, value):
    """``self[index] = value``: written in place and recorded."""
    if not isinstance(value, Tensor):
        if not isinstance(value, (bool, int, float, complex, xp.generic)):
            raise TypeError(
                f"can't assign a {type(value).__name__} to a torch.{self.dtype.type_name}"
            )
        kind = self._a.dtype.kind
        if kind in "iu" or isinstance(value, (float, complex)):
            value = dtypes.held(value, self._a.dtype)
        value = wrap(xp.asarray(value).astype(self._a.dtype))
    if index is False:
        return
    if self._a.ndim == 0:
        _refuse_of_one(index)
    reader = _read(self, index if index.__class__ is tuple else _entries(index))
    target = reader.out
    if reader.pending:
        shape = _without_leading_ones(value._a.shape)
        if shape != value._a.shape:
            value = value.view(shape)
        found = reader.index()
        bytes_alone = (
            len(reader.pending) == 1
            and reader.tensors[:1]
            and (reader.tensors[0]._a.dtype == xp.uint8)
        )
        if bytes_alone and value._a.size == 1:
            raise RuntimeError(
                "masked_fill_ only supports boolean masks, but got mask with dtype unsigned char"
            )
        _put(target, found, value, False, reader.tensors)
        return
    _copy_to(target, value)


def _copy_to(target, value):
    """Write ``value`` as an assignment does: leading ones dropped, expanded, or filled in."""
    if value._a.shape == target._a.shape:
        copy_(target, value)
    elif value._a.ndim == 0:
        target.fill_(value)
    else:
        value = value.view(_without_leading_ones(value._a.shape))
        if value._a.shape != target._a.shape:
            value = value.expand(target._a.shape)
        copy_(target, value)


def _without_leading_ones(shape):
    k = 0
    while k < len(shape) and shape[k] == 1:
        k += 1
    return shape[k:]


def _check_put_shape(index, value):
    shape = index.result_shape()
    try:
        xp.broadcast_to(value._a, shape)
    except ValueError:
        raise RuntimeError(
            f"shape mismatch: value tensor of shape {list(value._a.shape)} cannot be broadcast "
            "to indexing result of shape "
            f"{list(shape)}"
        ) from None


def _put(self, index, value, accumulate, tensors):
    views.check_inplace(self, is_recording() and (self.requires_grad or value.requires_grad))
    if views.is_expanded(self._a):
        warnings.warn(_EXPANDED, UserWarning, stacklevel=4)
    found = _checked_put(self, index, value, accumulate)
    return views.write(index_put_op.op, (self, value), (found, accumulate), tensors)


def _checked_put(self, index, value, accumulate):
    """The index in NumPy's form, once value, dtypes and bounds were looked at."""
    _check_put_shape(index, value)
    if value._a.dtype != self._a.dtype and not (
        not accumulate and _fills_mask(index, value) and _real_enough(self, value)
    ):
        raise RuntimeError(
            "Index put requires the source and destination dtypes match, got "
            f"{dtypes.scalar_name(self.dtype)} for the destination and "
            f"{dtypes.scalar_name(value.dtype)} for the source."
        )
    index.check_bounds()
    return index.numpy()


def _fills_mask(index, value):
    """Whether one value is written where one mask holds: PyTorch fills, and casts it."""
    tensors = index.pending
    return value._a.size == 1 and len(tensors) == 1 and tensors[0][1].dtype == bool


def _real_enough(self, value):
    """RuntimeError for a complex value that a real tensor does not hold."""
    if value._a.dtype.kind == "c" and self._a.dtype.kind != "c" and value._a.imag.any():
        raise RuntimeError(
            f"value cannot be converted to type {dtypes.c_name(self.dtype)} without overflow"
        )
    return True


def _no_delete(self, index):
    raise TypeError("Tensor does not support deleting items")


Tensor.__getitem__ = getitem
Tensor.__setitem__ = setitem
Tensor.__delitem__ = _no_delete


def _given(self, indices):
    """The index of ``index_put``: tensors, with None for a whole dimension."""
    reader = _Reader(self)
    for i in indices:
        reader.collect(None if i is None else i._a)
    return reader.index()


def index_put_(self, indices, values, accumulate=False):
    """In-place ``self[indices] = values`` (added with ``accumulate``)."""
    return _put(self, _given(self, indices), values, accumulate, _tensors(indices))


def index_put(input, indices, values, accumulate=False):
    """A copy with ``values`` at ``indices``."""
    index = _checked_put(input, _given(input, indices), values, accumulate)
    result = index_put_op(input, values, index, accumulate)
    return keep(result, *_tensors(indices))


def _tensors(indices):
    return [i for i in indices if i is not None]


method(index_put_)
Tensor.index = lambda self, indices: getitem(
    self, tuple(slice(None) if i is None else i for i in indices)
)
method(index_put)


def nonzero(input, *, as_tuple=False):
    """The indices of nonzero elements: a matrix, or one vector a dimension."""
    if as_tuple:
        found = nonzero(input if input._a.ndim else reshape(input, (1,)))
        return TENSOR.unbind(found, 1)
    if input._a.ndim == 0:
        places = xp.zeros((int(bool(input._a)), 0), xp.int64, like=input._a)
    else:
        places = xp.stack(xp.nonzero(input._a), 0).astype(xp.int64).T
    return untracked("nonzero", places, input)


method(nonzero)
method(lambda input: nonzero(input), "argwhere")


def unravel_index(indices, shape):
    """Coordinates of flat indices, one tensor a dimension."""
    if indices._a.dtype.kind not in "iu":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {type(shape)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"'shape' cannot have negative values, but got {shape}")
    found, rest = [], indices._a
    for size in reversed(shape):
        found.append(wrap(as_array(rest % size, dtype=xp.int64)))
        rest = rest // size
    return tuple(reversed(found))


public("unravel_index", unravel_index)
