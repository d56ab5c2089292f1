"""``autograd.forward_ad``: dual numbers. ``make_dual(x, v)`` inside ``dual_level()``; results carry
J·v.
"""

from __future__ import annotations

from collections import namedtuple

from ..engine import forward_mode
from ..engine.modes import Block, local, switch_forward
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
        return -1 if _open_level() is None else 0
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _open_level():
    return local.dual or local.dual_aside


def enter_dual_level():
    """Open a forward-mode level; 0 is its number."""
    forward_mode.enter()
    return 0


def exit_dual_level(*, level=None):
    """Close the level; RuntimeError when none is open, or for the number of another one."""
    opened = _open_level()
    if level not in (None, 0 if opened is not None else -1):
        raise RuntimeError(_NOT_LAST)
    if opened is None:
        raise RuntimeError("Dual level must be a positive number.")
    forward_mode.leave(opened)


class dual_level(Block):
    """``with dual_level():`` opens a level for the block; a decorator opens one for every call."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


def make_dual(tensor, tangent, *, level=None):
    """``tensor`` with ``tangent`` (same shape and dtype) attached, as a view of it."""
    opened = _open_level()
    if opened is None and (level is None or level < 0):
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
    if opened is None:
        raise RuntimeError(
            "Trying to access a forward AD level with an invalid index. This index was either not "
            "created or is already deleted."
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
    with forward_mode.outside(opened):
        dual = tensor.view_as(tensor)
        if not local.inference:
            opened.keep(dual, forward_mode.laid_out_as(dual, tangent))
    return dual


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a dual; the tangent is None for an ordinary tensor or outside a
    level.
    """
    opened = _open_level()
    if level is not None and level < 0 or opened is None and level is None:
        return UnpackedDualTensor(tensor, None)
    if not isinstance(tensor, Tensor):
        raise TypeError(
            "_unpack_dual(): argument 'dual' (position 1) must be Tensor, not "
            f"{type(tensor).__name__}"
        )
    tangent = forward_mode.tangent_of(tensor)
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
    return local.forward


class _set_fwd_grad_enabled(Block):
    """Whether results carry tangents: switched at once, and back at the end of a ``with`` block."""

    def __init__(self, mode):
        self.mode, self.prev = mode, local.forward
        switch_forward(bool(mode))

    def __enter__(self):
        pass

    def __exit__(self, *_):
        switch_forward(self.prev)

    def clone(self):
        return type(self)(self.mode)
