"""Largest and smallest elements: max, min, amax, argmax, aminmax."""

from __future__ import annotations

from ..backend import as_array, xp, zeros_by
from ..engine.dispatch import Tensor, untracked
from ..engine.given import AllAxes
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import part
from ..engine.tensor import wrap_dim
from .declare import declare, into_zeros, method
from .reduce import _WHOLE, axes, keep_shape

ndarray = xp.ndarray
add_reduce = xp.add.reduce


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
