"""In-place changes of sizes and strides: squeeze_, transpose_, as_strided_ and their kin."""

from __future__ import annotations

from ..backend import xp
from ..engine import views
from ..engine.accumulator import before_change
from ..engine.dispatch import Tensor
from ..engine.forward_mode import carry
from ..engine.hooks import let_join
from ..engine.modes import is_recording, local, state
from ..engine.tensor import edge_now
from .declare import only_method, public
from .expand import squeeze, unsqueeze
from .permute import t, transpose
from .shape import as_strided

ndarray = xp.ndarray


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
