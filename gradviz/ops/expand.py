"""Views with other dimensions of size 1: expand, squeeze, unsqueeze, broadcasts."""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.operands import (
    all_tensors,
    together,
)
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import Size, wrap_dim
from .declare import declare, method, only_method, public
from .shape import _broadcast, sizes, told_of

ndarray = xp.ndarray


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
