"""Views in other shapes: strided views, reshape, view, flatten."""

from __future__ import annotations

import operator

from ..backend import xp, zeros_by
from ..engine import dtypes, strides
from ..engine.arguments import refusal
from ..engine.dispatch import Tensor, viewing, wrap
from ..engine.given import given
from ..engine.memory_format import contiguous_format
from ..engine.operands import not_a_tensor
from ..engine.operation import RAW, TENSOR
from ..engine.strides import (
    extent,
    flat_storage,
    gather,
    geometry,
    overlaps,
    scatter,
    strided,
)
from ..engine.tensor import wrap_dim
from .clone import clone
from .declare import declare, method, only_method, public

ndarray = xp.ndarray


def sizes(args):
    """A shape given as numbers or as one sequence."""
    if len(args) == 1 and not isinstance(args[0], (int, xp.integer, Tensor)):
        args = tuple(args[0])
    return tuple(operator.index(n) for n in args)


def told_of(name, given, error, method=True):
    """PyTorch's TypeError for sizes that are none, ``error`` for others."""
    return refusal(name, given, {}, method=method) or error


def check_sizes(shape):
    """``shape``; RuntimeError where a new tensor cannot have it."""
    wrong = next((n for n in shape if n < 0), None)
    if wrong is not None:
        raise RuntimeError(
            f"Trying to create tensor with negative dimension {wrong}: {list(shape)}"
        )
    return shape


def infer(shape, numel):
    """``shape`` with a −1 filled in; RuntimeError when the element counts differ."""
    known = 1
    unknown = None
    for i, n in enumerate(shape):
        if n == -1:
            if unknown is not None:
                raise RuntimeError("only one dimension can be inferred")
            unknown = i
        elif n < 0:
            raise RuntimeError(f"invalid shape dimension {n} at index {i} of shape {list(shape)}")
        else:
            known *= n
    if unknown is None:
        if known != numel:
            raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
        return shape
    if known == 0 and numel == 0:
        raise RuntimeError(
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the "
            "unspecified dimension size -1 can be any "
            "value and is ambiguous"
        )
    if known == 0 or numel % known:
        raise RuntimeError(f"shape '{list(shape)}' is invalid for input of size {numel}")
    return (*shape[:unknown], numel // known, *shape[unknown + 1 :])


# ---------------------------------------------------------------- helpers of derivatives
def _sum_to(x, shape):
    extra = x.ndim - len(shape)
    if x.__class__ is ndarray and extra == 1 and x.ndim == 2 and x.size > 4096:
        if x.dtype.char in "fd" and x.shape[1:] == shape:
            return xp.ones_like(x, shape=(x.shape[0],)).dot(x)  # BLAS adds rows faster
    axes = tuple(range(extra)) + tuple(
        i + extra for i, n in enumerate(shape) if n == 1 and x.shape[i + extra] != 1
    )
    return xp.add.reduce(x, axes, keepdims=True).reshape(shape) if axes else x.reshape(shape)


sum_to = declare(
    "sum_to",
    _sum_to,
    "self",
    "shape",
    node="SumBackward1",
    self=lambda F, g, self_shape: F.expand_to(g, self_shape),
)


def _broadcast(x, shape):
    out = xp.broadcast_to(x, shape)
    out.flags.writeable = True
    return out


def _expand_to(x, shape):
    if x.shape == () and x.__class__ is ndarray:
        return ndarray(shape, x.dtype, x, 0, (0,) * len(shape))
    return xp.broadcast_to(x, shape)


expand_to = declare(
    "expand_to",
    _expand_to,
    "self",
    "shape",
    node="ExpandBackward0",
    self=lambda F, g, self_shape: F.sum_to(g, self_shape),
)

# ---------------------------------------------------------------- strided views
as_strided_op = declare(
    "as_strided_op",
    lambda x, size, stride, offset, outer: strided(flat_storage(x), size, stride, offset),
    "self",
    "size stride storage_offset outer",
    node="AsStridedBackward0",
    view=True,
    hidden=("outer",),
    formula="g laid back into the storage",
    self=lambda F, g, size, stride, storage_offset, outer: F.strided_scatter(
        g, (size, stride, storage_offset), outer
    ),
)
declare(
    "strided_scatter",
    lambda g, inner, outer: scatter(g, inner, outer),
    "self",
    "inner outer",
    node="AsStridedScatterBackward0",
    self=lambda F, g, inner, outer: F.strided_gather(g, inner, outer),
)
_scatter_op = TENSOR.strided_scatter


def _laid_back(g, inner, outer):
    """As PyTorch does it: a view of ``g`` written into zeros; what ``inner`` has several times adds
    up.
    """
    if overlaps(outer):
        return _scatter_op(g, inner, outer)
    whole = wrap(zeros_by(g._a, extent(inner, outer)))
    if overlaps(inner):
        places = strided(xp.arange(whole._a.size, like=whole._a), *inner).ravel()
        whole = TENSOR.index_add(whole, reshape(g, (-1,)), wrap(places), 0, 1)
    else:
        as_strided_op(whole, *inner, geometry(whole._a)).copy_(g)
    return as_strided_op(whole, *outer, geometry(whole._a))


TENSOR.strided_scatter = _laid_back
declare(
    "strided_gather",
    lambda x, inner, outer: gather(x, inner, outer),
    "self",
    "inner outer",
    node="AsStridedBackward0",
    self=lambda F, g, inner, outer: F.strided_scatter(g, inner, outer),
)


def as_strided(input, size, stride, storage_offset=None):
    """A view with the given sizes, strides and offset (in elements) on the storage of ``input``."""
    offset = storage_offset
    if offset is None:
        offset = given(strides.storage_offset(input._a), None)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    return as_strided_op(input, tuple(size), tuple(stride), offset, geometry(input._a))


method(as_strided)


# ---------------------------------------------------------------- reshape
def _viewable(array, shape):
    """``array`` seen in another shape without a copy, None when its strides do not allow that."""
    if array.flags.c_contiguous:
        return array.reshape(shape)
    out = array.view()
    try:
        out.shape = shape
    except AttributeError:
        return None
    return out


view_op = declare(
    "view",
    lambda x, size: x.reshape(*size) if size else x.reshape(()),
    "self",
    "size",
    node="ViewBackward0",
    view=True,
    formula="g in the shape of self",
    self=lambda F, g, self_shape: F.reshape(g, self_shape),
)
reshape_alias_op = declare(
    "reshape_alias",
    lambda x, size: x.reshape(size),
    "self",
    "size",
    node="ReshapeAliasBackward0",
    view=True,
    formula="g in the shape of self",
    self=lambda F, g, self_shape: F.reshape(g, self_shape),
)
unsafe_view_op = declare(
    "unsafe_view",
    lambda x, size: x.reshape(size),
    "self",
    "size",
    node="UnsafeViewBackward0",
    formula="g in the shape of self",
    self=lambda F, g, self_shape: F.reshape(g, self_shape),
)
alias_op = declare(
    "alias", lambda x: x.view(), "self", "", node="AliasBackward0", view=True, self=lambda F, g: g
)
RAW.reshape = lambda x, shape: x.reshape(shape)


def _reshape(input, shape):
    """Where the quick way does not lead: one size is −1, or a copy is needed."""
    array = input._a
    try:
        shape = infer(sizes(shape), array.size)
    except (RuntimeError, TypeError, ValueError) as error:
        raise told_of("reshape", shape, error) from None
    if array.flags.c_contiguous:
        return view_op(input, shape)
    if _viewable(array, shape) is not None:
        return reshape_alias_op(input, shape)
    return unsafe_view_op(clone(input, memory_format=contiguous_format), shape)


def _odd(shape):
    """Whether a size is below −1, which NumPy takes for −1, or none."""
    given = shape[0] if len(shape) == 1 else shape
    if isinstance(given, (tuple, list)):
        return min(given, default=0) < -1
    return given is None or given < -1  # NumPy takes None for the shape that is there


reshape = viewing(
    view_op.op,
    "input, *shape",
    """
try:
    o = a.reshape(*shape)
except (ValueError, TypeError):
    return otherwise(input, shape)
if not a.flags.c_contiguous or o.shape != shape and -1 not in shape and odd(shape):
    return otherwise(input, shape)
""",
    attrs="(shape,)",
    otherwise=_reshape,
    odd=_odd,
)
reshape.__name__ = reshape.__qualname__ = "reshape"
reshape.__doc__ = """The same elements in another shape: a view where strides allow, a copy
otherwise. One size may be −1.
"""


def _view(self, shape, size, dtype):
    """Where the quick way does not lead: another dtype, or strides that are not those of rows."""
    named = {k: v for k, v in (("size", size), ("dtype", dtype)) if v is not None}
    if len(shape) + len(named) != 1 and (named or not shape):
        raise refusal("view", shape, named, method=True)
    shape = (*shape, *named.values())
    if len(shape) == 1 and isinstance(shape[0], (dtypes.dtype, type)):
        return _view_dtype(self, shape[0])
    array = self._a
    try:
        shape = infer(sizes(shape), array.size)
    except (RuntimeError, TypeError, ValueError) as error:
        raise told_of("view", shape, error) from None
    if not array.flags.c_contiguous and _viewable(array, shape) is None:
        raise RuntimeError(
            "view size is not compatible with input tensor's size and stride (at least one "
            "dimension spans across two contiguous "
            "subspaces). Use .reshape(...) instead."
        )
    return view_op(self, shape)


view = viewing(
    view_op.op,
    "input, *shape, size=None, dtype=None",
    """
try:
    o = a.reshape(*shape)
except (ValueError, TypeError):
    return otherwise(input, shape, size, dtype)
if not a.flags.c_contiguous or size is not None or dtype is not None:
    return otherwise(input, shape, size, dtype)
if o.shape != shape and -1 not in shape and odd(shape):
    return otherwise(input, shape, size, dtype)
""",
    attrs="(shape,)",
    otherwise=_view,
    odd=_odd,
)
view.__name__ = view.__qualname__ = "view"
view.__doc__ = """The same storage in another shape; RuntimeError where strides do not allow it.
``view(dtype)`` reads the same bytes as other numbers, outside the graph.
"""


def _view_dtype(self, dtype):
    dtype = dtypes.PYTHON.get(dtype, dtype)
    wide, narrow = self._a.itemsize, dtype.np.itemsize
    if self._a.ndim == 0 and wide != narrow:
        raise RuntimeError(
            f"self.dim() cannot be 0 to view {dtypes.scalar_name(self.dtype)} as "
            f"{dtypes.scalar_name(dtype)} (different element sizes)"
        )
    array = self._a
    if array.ndim and wide != narrow and array.size:
        _check_view_dtype(self, dtype, wide, narrow)
    seen = array.view(dtype.np) if array.ndim else array.reshape(1).view(dtype.np).reshape(())
    t = self.detach()  # not even a view, in PyTorch
    t._a = seen
    return t


def _check_view_dtype(self, dtype, wide, narrow):
    """RuntimeError where elements of another size do not fall on those that there are."""
    ratio = narrow // wide
    text = None
    if narrow > wide and self._a.shape[-1] % ratio:
        text = f"self.size(-1) must be divisible by {ratio}", self._a.shape[-1]
    elif narrow > wide and strides.storage_offset(self._a) % ratio:
        text = f"self.storage_offset() must be divisible by {ratio}", self.storage_offset()
    elif self.stride(-1) != 1:
        text = "self.stride(-1) must be 1", self.stride(-1)
    if text is not None:
        raise RuntimeError(
            f"{text[0]} to view {dtypes.scalar_name(self.dtype)} as {dtypes.scalar_name(dtype)} "
            f"(different element sizes), but got {text[1]}"
        )


only_method(reshape)
public(
    "reshape",
    lambda input, *given, shape=None: reshape(input, *(given if shape is None else (shape,))),
)
only_method(view)
TENSOR.reshape = reshape


def view_as(self, other):
    """A view in the shape of another tensor."""
    if not isinstance(other, Tensor):
        raise not_a_tensor("view_as", "other", 1, other)
    return view(self, other._a.shape)


only_method(view_as)
only_method(lambda self, other: reshape(self, other._a.shape), "reshape_as")


def flatten(input, start_dim=0, end_dim=-1):
    """Dimensions from ``start_dim`` to ``end_dim`` as one."""
    n = input._a.ndim
    if n == 0:
        return reshape(input, (1,))
    a, b = wrap_dim(start_dim, n), wrap_dim(end_dim, n)
    if a > b:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    if a == b:
        return input
    s = input._a.shape
    middle = 1
    for k in s[a : b + 1]:
        middle *= k
    return reshape(input, (*s[:a], middle, *s[b + 1 :]))


def ravel(input):
    """All elements in one dimension."""
    return reshape(input, (-1,))


def unflatten(input, dim, sizes_):
    """Dimension ``dim`` split into ``sizes``."""
    d = wrap_dim(dim, input._a.ndim)
    s = input._a.shape
    try:
        parts = infer(tuple(sizes_), s[d])
    except RuntimeError:
        raise RuntimeError(
            f"unflatten: Provided sizes {list(sizes_)} don't multiply up to the size of dim {d} "
            f"({s[d]}) in the input tensor"
        ) from None
    return view(input, *s[:d], *parts, *s[d + 1 :])


for _f in (flatten, ravel, unflatten):
    method(_f)
