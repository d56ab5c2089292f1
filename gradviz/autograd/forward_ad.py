"""Forward mode: dual tensors inside a ``dual_level``.

A dual tensor is ``primal + ε · tangent`` with ε = 0 a tracked scalar of its level; the tangent of a result is its derivative with
respect to ε, found by differentiating a vector-Jacobian product. So forward mode needs no second set of rules, and nests.
"""

from __future__ import annotations

from collections import namedtuple

from ..backend import xp
from ..engine.dispatch import TENSOR, wrap
from ..engine.modes import enable_grad
from ..engine.node import LEAF
from ..engine.tensor import Tensor
from .functional import pushed

__all__ = ["dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ("primal", "tangent"))
UnpackedDualTensor.__doc__ = "The primal and the tangent (None without one) of a tensor."
_levels = []


class _Level:
    """An open level: one ε a dtype."""

    def __init__(self):
        self.epsilons = {}

    def epsilon(self, np_dtype):
        if np_dtype not in self.epsilons:
            self.epsilons[np_dtype] = wrap(xp.zeros((), np_dtype)).requires_grad_()
        return self.epsilons[np_dtype]


def enter_dual_level():
    """Open a level; returns its number."""
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append(_Level())
    return len(_levels) - 1


def exit_dual_level(*, level=None):
    """Close the innermost level."""
    if not _levels or level is not None and level != len(_levels) - 1:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This is not supported."
        )
    _levels.pop()


class dual_level:
    """``with dual_level():`` dual tensors exist inside; their tangents are gone outside."""

    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, *_):
        exit_dual_level()


def _level_of(level):
    number = len(_levels) - 1 if level is None else level
    return _levels[number] if 0 <= number < len(_levels) else None


def make_dual(tensor, tangent, *, level=None):
    """``tensor`` with a tangent of the same shape and dtype; RuntimeError outside a level."""
    found = _level_of(level)
    if found is None:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if not (tensor.is_floating_point() or tensor.is_complex()):
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if not (tangent.is_floating_point() or tangent.is_complex()):
        raise ValueError(f"Expected tangent to be floating point or complex, but got: {tangent.dtype}")
    if tensor._a.shape != tangent._a.shape:
        raise RuntimeError(f"Expected tangent to have the same shape as primal, but got: {list(tangent._a.shape)} and {list(tensor._a.shape)}")
    with enable_grad():
        return tensor + found.epsilon(tensor._a.dtype) * tangent


def unpack_dual(tensor, *, level=None):
    """(primal, tangent) of a tensor; the tangent is None where it has none."""
    found = _level_of(level)
    if found is None or not tensor.requires_grad:
        return UnpackedDualTensor(tensor, None)
    leaves = _leaves(tensor)
    own = [e for e in found.epsilons.values() if any(x is e for x in leaves)]
    if not own:
        return UnpackedDualTensor(tensor, None)
    others = len(leaves) > len(own)
    with enable_grad():
        parts = [pushed((tensor,), (e,), (wrap(xp.ones((), e._a.dtype)),), True)[0] for e in own]
    parts = [p for p in parts if p is not None]
    tangent = None if not parts else parts[0] if len(parts) == 1 else TENSOR.stack_list(parts).sum(0)
    if not others and tangent is not None and _only(tangent, own):
        tangent = tangent.detach()
    return UnpackedDualTensor(tensor if others else tensor.detach(), tangent)


def _only(tensor, epsilons):
    return all(any(x is e for e in epsilons) or not x._a.size or _is_dummy(x) for x in _leaves(tensor))


def _is_dummy(leaf):
    """The zero vector that ``pushed`` differentiates by."""
    return leaf._g is LEAF and not leaf._a.any()


def _leaves(tensor):
    """The tracked leaves from which ``tensor`` was computed."""
    edge = tensor if tensor._g is LEAF else tensor._g
    seen, stack, found = set(), [edge], []
    while stack:
        x = stack.pop()
        if x is None:
            continue
        if x._kind == 1:
            x = x.node
        if id(x) in seen:
            continue
        seen.add(id(x))
        if isinstance(x, Tensor):
            found.append(x)
        else:
            stack.extend(x.e)
    return found
