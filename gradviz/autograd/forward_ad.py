"""``autograd.forward_ad``: dual numbers. ``make_dual(x, v)`` inside ``dual_level()``; results carry
J·v.
"""

from __future__ import annotations

from collections import namedtuple

from ..engine import forward_mode
from ..engine.modes import local
from ..engine.node import new
from ..engine.tensor import Tensor

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


def enter_dual_level():
    """Open a forward-mode level; 0 is its number."""
    forward_mode.enter()
    return 0


def exit_dual_level(*, level=None):
    """Close the level; RuntimeError when none is open."""
    if local.dual is None:
        raise RuntimeError(
            "Trying to exit a forward AD level but no level exists, make sure to enter one first."
        )
    forward_mode.leave(local.dual)


class dual_level:
    """``with dual_level():`` opens a level for the block."""

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
    if tensor._a.shape != tangent._a.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            "Tensor, this is not supported. "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )
    level_, local.dual = local.dual, None
    try:
        dual = tensor.view_as(tensor)
    finally:
        local.dual = level_
    level_.keep(dual, tangent)
    return dual


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a dual; the tangent is None for an ordinary tensor or outside a
    level.
    """
    if local.dual is None:
        return UnpackedDualTensor(tensor, None)
    tangent = forward_mode.tangent_of(tensor)
    primal = new(Tensor)
    primal._a, primal._g, primal._v, primal._view = tensor._a, tensor._g, tensor._v, tensor._view
    return UnpackedDualTensor(primal if tangent is not None else tensor, tangent)
