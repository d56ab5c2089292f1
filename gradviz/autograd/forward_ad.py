"""``autograd.forward_ad``: dual numbers. ``make_dual(x, v)`` inside ``dual_level()``; results carry
J·v.
"""

from __future__ import annotations

from collections import namedtuple

from ..engine import forward_mode
from ..engine.modes import Block, local
from ..engine.node import new
from ..engine.tensor import Tensor

_NOT_LAST = (
    "Trying to exit a forward AD level that was not the last one that was created. This is not "
    "supported."
)
UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


def __getattr__(name):
    if name == "_current_level":
        return -1 if local.dual is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def enter_dual_level():
    """Open a forward-mode level; 0 is its number."""
    forward_mode.enter()
    return 0


def exit_dual_level(*, level=None):
    """Close the level; RuntimeError when none is open, or for the number of another one."""
    if level not in (None, 0 if local.dual is not None else -1):
        raise RuntimeError(_NOT_LAST)
    if local.dual is None:
        raise RuntimeError("Dual level must be a positive number.")
    forward_mode.leave(local.dual)


class dual_level(Block):
    """``with dual_level():`` opens a level for the block; a decorator opens one for every call."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """``tensor`` with ``tangent`` (same shape and dtype) attached, as a view of it."""
    if local.dual is None:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(
            f"Expected primal to be floating point or complex, but got: {tensor.dtype}"
        )
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(
            f"Expected tangent to be floating point or complex, but got: {tangent.dtype}"
        )
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _make_dual")
    if forward_mode.tangent_of(tensor) is not None:
        raise RuntimeError(
            "Making a dual Tensor based on a Tensor that already has a forward gradient at the "
            "same level 0 is not supported."
        )
    if forward_mode.tangent_of(tangent) is not None:
        raise RuntimeError(
            "Setting a forward grad that itself has a forward gradient at the same level0 is not "
            "supported."
        )
    forward_mode.check_tangent(tensor, tangent)
    open_level = local.dual
    with forward_mode.outside(open_level):
        dual = tensor.view_as(tensor)
    open_level.keep(dual, tangent)
    return dual


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a dual; the tangent is None for an ordinary tensor or outside a
    level.
    """
    open_level = local.dual or local.dual_aside
    if level is not None and level < 0 or open_level is None and level is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    tangent = forward_mode.tangent_of(tensor, open_level)
    if tangent is None:
        return UnpackedDualTensor(tensor, None)
    if level not in (None, 0):
        raise RuntimeError("Invalid level given to _fw_primal")
    return UnpackedDualTensor(primal_of(tensor), tangent)


def primal_of(tensor):
    """``tensor`` without the tangent of the innermost level."""
    primal = new(Tensor)
    primal._a, primal._g, primal._v, primal._view = tensor._a, tensor._g, tensor._v, tensor._view
    if local.dual is not None:
        with forward_mode.outside(local.dual):
            forward_mode.carry(primal, tensor)
    return primal


def _is_fwd_grad_enabled():
    """Whether results carry the tangents of duals in this thread."""
    return local.dual_aside is None


class _set_fwd_grad_enabled(Block):
    """Whether results carry tangents: switched at once, and back at the end of a ``with`` block."""

    def __init__(self, mode):
        self.mode, self.prev = mode, local.dual_aside is None
        _switch(mode)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _switch(self.prev)

    def clone(self):
        return type(self)(self.mode)


def _switch(on):
    if bool(on) != (local.dual_aside is None):
        local.dual, local.dual_aside = local.dual_aside, local.dual
