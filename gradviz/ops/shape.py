"""Views and copies: reshape, transpose, expand, squeeze, clone."""

from __future__ import annotations

import operator
import warnings

from ..backend import xp
from ..engine import dtypes, views
from ..engine.accumulator import before_change
from ..engine.arguments import refusal
from ..engine.dispatch import Tensor, viewing, wrap
from ..engine.errors import warn_once
from ..engine.forward_mode import carry
from ..engine.given import given
from ..engine.hooks import let_join
from ..engine.memory_format import contiguous_format, has_format, in_format, preserve_format
from ..engine.modes import is_recording, local, state
from ..engine.operands import (
    all_tensors,
    is_number,
    not_a_tensor,
    number,
    together,
    type_name,
)
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import Size, edge_now, read_only, wrap_dim
from .declare import alias, declare, method, only_method, public

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
    lambda x, size, stride, offset, outer: views.strided(
        views.flat_storage(x), size, stride, offset
    ),
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
    lambda g, inner, outer: views.scatter(g, inner, outer),
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
    if views.overlaps(outer):
        return _scatter_op(g, inner, outer)
    whole = wrap(views.zeros_by(g._a, views.extent(inner, outer)))
    if views.overlaps(inner):
        places = views.strided(xp.arange(whole._a.size, like=whole._a), *inner).ravel()
        whole = TENSOR.index_add(whole, reshape(g, (-1,)), wrap(places), 0, 1)
    else:
        as_strided_op(whole, *inner, views.geometry(whole._a)).copy_(g)
    return as_strided_op(whole, *outer, views.geometry(whole._a))


TENSOR.strided_scatter = _laid_back
declare(
    "strided_gather",
    lambda x, inner, outer: views.gather(x, inner, outer),
    "self",
    "inner outer",
    node="AsStridedBackward0",
    self=lambda F, g, inner, outer: F.strided_scatter(g, inner, outer),
)


def as_strided(input, size, stride, storage_offset=None):
    """A view with the given sizes, strides and offset (in elements) on the storage of ``input``."""
    offset = storage_offset
    if offset is None:
        offset = given(views.storage_offset(input._a), None)
    if len(size) != len(stride):
        raise RuntimeError("mismatch in length of strides and shape")
    return as_strided_op(input, tuple(size), tuple(stride), offset, views.geometry(input._a))


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
    elif narrow > wide and views.storage_offset(self._a) % ratio:
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

# ---------------------------------------------------------------- permutations
permute_op = declare(
    "permute",
    lambda x, dims: x.transpose(dims),
    "self",
    "dims",
    node="PermuteBackward0",
    view=True,
    formula="g, dimensions put back",
    self=lambda F, g, dims: F.permute(g, _inverse(dims)),
)
transpose_op = declare(
    "transpose",
    lambda x, d0, d1: x.swapaxes(d0, d1) if x.ndim else x.view(),
    "self",
    "dim0 dim1",
    node="TransposeBackward0",
    view=True,
    formula="g transposed",
    self=lambda F, g, dim0, dim1: F.transpose(g, dim0, dim1),
)
t_op = declare(
    "t",
    lambda x: x.T,
    "self",
    "",
    node="TBackward0",
    view=True,
    formula="gᵀ",
    self=lambda F, g: F.t(g),
)
movedim_op = declare(
    "movedim",
    lambda x, dims: x.transpose(dims),
    "self",
    "dims",
    node="PermuteBackward0",
    view=True,
    self=lambda F, g, dims: F.permute(g, _inverse(dims)),
)


def _inverse(dims):
    out = [0] * len(dims)
    for i, d in enumerate(dims):
        out[d] = i
    return tuple(out)


def permute(input, *given, dims=None):
    """A view with its dimensions in another order."""
    try:
        dims = sizes(given if dims is None else (dims,))
    except (TypeError, ValueError) as error:
        raise told_of("permute", given, error) from None
    n = input._a.ndim
    if len(dims) != n:
        if not given and not dims:
            raise told_of("permute", (), None)
        raise RuntimeError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the "
            "length of the desired ordering of "
            f"dimensions i.e. input.dim() = {n} is not equal to len(dims) = {len(dims)}"
        )
    dims = tuple(wrap_dim(d, n) for d in dims)
    if len(set(dims)) != n:
        raise RuntimeError("permute(): duplicate dims are not allowed.")
    return permute_op(input, dims)


def transpose(input, dim0, dim1):
    """A view with two dimensions exchanged."""
    n = input._a.ndim
    try:
        d0, d1 = wrap_dim(dim0, n), wrap_dim(dim1, n)
    except TypeError as error:
        raise told_of("transpose", (dim0, dim1), error) from None
    return transpose_op(input, d0, d1)


def t(input):
    """The transpose of a matrix, a view."""
    if input._a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {input._a.ndim}D"
        )
    return t_op(input)


def movedim(input, source, destination):
    """Dimensions moved to new places, the others in order."""
    n = input._a.ndim
    shown = [list(d) if isinstance(d, (tuple, list)) else [d] for d in (source, destination)]
    if len(shown[0]) != len(shown[1]):
        raise RuntimeError(
            f"movedim: Invalid source or destination dims: source ({shown[0]} dims) should contain "
            f"the same number of dims as destination ({shown[1]} dims)"
        )
    src = [wrap_dim(d, n) for d in (source if isinstance(source, (tuple, list)) else (source,))]
    dst = [
        wrap_dim(d, n)
        for d in (destination if isinstance(destination, (tuple, list)) else (destination,))
    ]
    for what, dims, told in (("source", src, shown[0]), ("destination", dst, shown[1])):
        if len(set(dims)) != len(dims):
            raise RuntimeError(f"movedim: repeated dim in `{what}` ({told})")
    if not n:
        return alias_op(input)
    order = [d for d in range(n) if d not in src]
    for d, s in sorted(zip(dst, src, strict=True)):
        order.insert(d, s)
    return permute_op(input, tuple(order))


for _f in (permute, transpose, t, movedim):
    method(_f)
for _new, _old in [("swapaxes", "transpose"), ("swapdims", "transpose"), ("moveaxis", "movedim")]:
    alias(_new, _old)


def adjoint(input):
    """The conjugate transpose of matrices."""
    if input._a.ndim == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return (mT(input) if input._a.ndim else alias_op(input)).conj()


method(adjoint)


def _turned(self, name, instead):
    n = self._a.ndim
    if n == 0:
        warn_once(f"Tensor.{name} is deprecated on 0-D tensors. {instead}")
        return self
    if n == 1:
        raise RuntimeError(
            f"tensor.{name} is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return transpose(self, -2, -1)


_IDENTITY = "This function is the identity in these cases."


def mT(self):
    """The last two dimensions exchanged."""
    return _turned(self, "mT", _IDENTITY)


Tensor.mT = read_only("mT", mT)
Tensor.mH = read_only("mH", lambda self: _turned(self, "mH", "Consider using x.conj().").conj())


def _H(self):
    if self._a.ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {self._a.ndim}-D tensor."
        )
    return transpose(self, -2, -1).conj() if self._a.ndim else self.conj()


def _T(self):
    n = self._a.ndim
    if n != 2:
        warn_once(_T_OF_A_NUMBER if n == 0 else _T_OF_OTHERS)
    return permute_op(self, tuple(reversed(range(n))))


_T_OF_A_NUMBER = f"Tensor.T is deprecated on 0-D tensors. {_IDENTITY}"
_T_OF_OTHERS = (
    "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated "
    "and it will throw an error in a future release. Consider `x.mT` to transpose batches of "
    "matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a "
    "tensor."
)
Tensor.H = read_only("H", _H)
Tensor.T = read_only("T", _T)

# ---------------------------------------------------------------- expand, squeeze
expand_op = declare(
    "expand",
    lambda x, size: _broadcast(x, size),
    "self",
    "size",
    node="ExpandBackward0",
    view=True,
    formula="g summed over the expanded dimensions",
    self=lambda F, g, self_shape: g if g.shape == self_shape else F.sum_to(g, self_shape),
)
unsqueeze_op = declare(
    "unsqueeze",
    lambda x, dim: xp.expand_dims(x, dim),
    "self",
    "dim",
    node="UnsqueezeBackward0",
    view=True,
    formula="g squeezed",
    self=lambda F, g, dim: F.squeeze_dim(g, dim),
)


def _with_dims(x, shape, dims):
    """``x`` with those of ``dims`` that are gone of a tensor of ``shape``, of size 1."""
    for dim in sorted(dims) if shape else ():
        x = unsqueeze_op(x, dim)
    return x


RAW.with_dims = lambda x, shape, dims: x.reshape(
    tuple(1 if i in dims else n for i, n in enumerate(shape))
)
TENSOR.with_dims = _with_dims


def _unsqueezed(F, g, self_shape, dim):
    """``g`` itself where nothing was squeezed, as in PyTorch."""
    if g.shape == self_shape:
        return g
    if F is RAW:
        return g.reshape(self_shape)
    return F.with_dims(g, self_shape, [d for d in dim if self_shape[d] == 1])


squeeze_op = declare(
    "squeeze_all",
    lambda x: x.reshape(tuple(n for n in x.shape if n != 1)),
    "self",
    "",
    node="SqueezeBackward0",
    view=True,
    formula="g in the shape of self",
    self=lambda F, g, self_shape: _unsqueezed(F, g, self_shape, range(len(self_shape))),
)
squeeze_dim_op = declare(
    "squeeze_dim",
    lambda x, dim: x.squeeze(dim) if x.ndim and x.shape[dim] == 1 else x.view(),
    "self",
    "dim",
    node="SqueezeBackward1",
    view=True,
    formula="g in the shape of self",
    self=lambda F, g, self_shape, dim: _unsqueezed(F, g, self_shape, (dim,)),
)
squeeze_dims_op = declare(
    "squeeze_dims",
    lambda x, dim: x.squeeze(tuple(d for d in dim if x.shape[d] == 1)),
    "self",
    "dim",
    node="SqueezeBackward2",
    view=True,
    formula="g in the shape of self",
    self=_unsqueezed,
)


def _nothing_to_keep(i, shape, own):
    """PyTorch's error for a −1 in dimension ``i``, where there is no size to keep."""
    if own == () and 0 not in shape:
        return RuntimeError("numel: integer multiplication overflow")
    return RuntimeError(
        "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension "
        f"{i}"
    )


def expand(self, *given):
    """A view with singleton dimensions repeated without a copy; −1 keeps a size."""
    try:
        shape = sizes(given)
    except (TypeError, ValueError) as error:
        raise told_of("expand", given, error) from None
    own = self._a.shape
    extra = len(shape) - len(own)
    if extra < 0:
        if not given:
            raise told_of("expand", (), None)
        raise RuntimeError(
            f"expand({dtypes.tensor_name(self._a)}{{{list(own)}}}, size={list(shape)}): the "
            "number of sizes provided "
            f"({len(shape)}) must be greater or equal to the number of dimensions in the tensor "
            f"({len(own)})"
        )
    out = list(shape)
    for i in reversed(range(len(shape))):
        n = shape[i]
        have = own[i - extra] if i >= extra else 1
        if n == -1:
            if i < extra:
                raise _nothing_to_keep(i, out, own)
            out[i] = have
        elif i >= extra and have != n and have != 1:
            raise RuntimeError(
                f"The expanded size of the tensor ({n}) must match the existing size ({have}) at "
                f"non-singleton dimension {i}.  "
                f"Target sizes: {list(shape)}.  Tensor sizes: {list(own)}"
            )
    return expand_op(self, tuple(out))


only_method(expand)
only_method(lambda self, other: expand(self, other._a.shape), "expand_as")
method(lambda input, *size: expand(input, *size), "broadcast_to")


def broadcast_tensors(*tensors):
    """Views of all tensors in their common shape."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shape = together(*all_tensors(tensors))
    return tuple(x if x._a.shape == shape else expand(x, shape) for x in tensors)


public("broadcast_tensors", broadcast_tensors)
public("broadcast_shapes", lambda *shapes: Size(xp.broadcast_shapes(*shapes)))


def unsqueeze(input, dim=None, *, axis=None):
    """A view with a dimension of size 1 at ``dim``."""
    try:
        return unsqueeze_op(input, wrap_dim(dim, input._a.ndim + 1))
    except TypeError as error:
        if dim is None and axis is not None:
            return unsqueeze(input, axis)
        raise told_of("unsqueeze", (dim,), error) from None


def squeeze(input, dim=None, *, axis=None):
    """A view without dimensions of size 1, or without that one if its size is 1."""
    if dim is None:
        return squeeze_op(input) if axis is None else squeeze(input, axis)
    if isinstance(dim, (tuple, list)):
        return squeeze_dims_op(input, tuple(wrap_dim(d, input._a.ndim) for d in dim))
    try:
        return squeeze_dim_op(input, wrap_dim(dim, input._a.ndim))
    except TypeError as error:
        raise told_of("squeeze", (dim,), error) from None


method(unsqueeze)
method(squeeze)


def _relabel(name, function, node):
    """An in-place change of sizes and strides: the tensor becomes its own view."""

    def inplace(self, *args, **kwargs):
        tracked = is_recording() and self.requires_grad
        views.check_inplace(self, tracked)
        before = edge_now(self)
        try:
            other = function(self, *args, **kwargs)
        except RuntimeError as error:
            raise RuntimeError(str(error).replace(f"{name[:-1]}()", f"{name}()", 1)) from None
        made = other._g
        if not tracked:
            before_change(self, other._a)
        self._a = other._a
        if state.special and local.dual is not None:
            carry(self, other)
        views.bump(self)
        if tracked:
            made.__class__ = _renamed(type(made), _inplace_name(node, made))
            self._g = made
            let_join(self, before)
        return self

    inplace.__name__ = name
    inplace.__doc__ = f"In-place ``{name[:-1]}``."
    only_method(inplace, name)


def _inplace_name(name, made):
    """``squeeze_`` has three names, by what it was given."""
    if name != "SqueezeBackward3":
        return name
    return f"SqueezeBackward{3 + int(type(made).__name__.removeprefix('SqueezeBackward'))}"


def _renamed(node_class, name):
    """The node class as PyTorch calls it for the in-place form."""
    found = _INPLACE_NAMES.get((node_class, name))
    if found is None:
        found = _INPLACE_NAMES[node_class, name] = type(
            name, (node_class,), {"__slots__": (), "__module__": "builtins"}
        )
    return found


_INPLACE_NAMES = {}
for _n, _f, _node in [
    ("unsqueeze_", unsqueeze, "UnsqueezeBackward1"),
    ("squeeze_", squeeze, "SqueezeBackward3"),
    ("t_", t, "TBackward1"),
    ("transpose_", transpose, "TransposeBackward1"),
    ("swapaxes_", transpose, "TransposeBackward1"),
    ("swapdims_", transpose, "TransposeBackward1"),
    ("as_strided_", as_strided, "AsStridedBackward1"),
]:
    _relabel(_n, _f, _node)
public("as_strided_", Tensor.as_strided_)

# ---------------------------------------------------------------- copies
clone_op = declare(
    "clone",
    lambda x, format: x.copy("K") if format is None else in_format(x.copy("C"), format),
    "self",
    "format",
    node="CloneBackward0",
    formula="g",
    self=lambda F, g: g,
)


def clone(input, *, memory_format=None):
    """A copy with storage of its own, still in the graph; in memory it lies as ``input`` unless
    ``memory_format`` says otherwise.
    """
    if memory_format is None or memory_format is preserve_format:
        array = input._a
        overlaps = array.ndim and any(
            s == 0 and n > 1 for s, n in zip(array.strides, array.shape, strict=True)
        )
        memory_format = contiguous_format if overlaps else None
    return clone_op(input, memory_format)


method(clone)


def contiguous(self, memory_format=None):
    """Itself when it lies in memory as ``memory_format`` says (row-major by default) without gaps,
    a copy that does otherwise.
    """
    wanted = contiguous_format if memory_format is None else memory_format
    return self if has_format(self._a, wanted) else clone_op(self, wanted)


only_method(contiguous)


def _copied(x, src):
    """``src`` as it is written into ``x``: in its dtype and, broadcast, in its shape."""
    if src.dtype != x.dtype:
        src = (src.real if src.dtype.kind == "c" and x.dtype.kind != "c" else src).astype(x.dtype)
    return (
        src
        if src.shape == x.shape
        else xp.broadcast_to(src, xp.broadcast_shapes(src.shape, x.shape))
    )


copy_op = declare(
    "copy",
    _copied,
    "self src",
    node="CopyBackwards",
    formula="∂src: g",
    self=lambda F, g: F.zeros_like(g),
    src=lambda F, g: g,
)
copy_op.op.node.name = lambda self: "torch::autograd::CopyBackwards"


def warn_of_real(kind, wanted):
    """UserWarning where numbers of dtype ``kind`` are complex and ``wanted`` is not."""
    if kind.kind == "c" and wanted.kind != "c":
        warnings.warn(
            "Casting complex values to real discards the imaginary part", UserWarning, stacklevel=3
        )


def copy_(self, src, non_blocking=False):
    """Write the elements of ``src`` (broadcast, converted) into this tensor."""
    if is_number(src):
        src = number(src, dtypes.of_scalar(src))
    if not isinstance(src, Tensor):
        raise TypeError(
            f"copy_(): argument 'other' (position 1) must be Tensor, not {type_name(src)}"
        )
    if src._a.__class__ is not xp.ndarray or self._a.__class__ is not xp.ndarray:
        src = src.to(self.device)
    warn_of_real(src._a.dtype, self._a.dtype)
    return views.write(copy_op.op, (self, src))


only_method(copy_)
