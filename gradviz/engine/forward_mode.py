"""Forward mode: tangents carried along with values, from the same declarations as backward.

Inside a dual level every operation takes its slow path, and its tangent is J·v. A view of a dual
has the same view of its tangent; everything else gets J·v as the derivative of (Jᵀ·u)·v with
respect to u, so no second set of rules exists.
"""

from __future__ import annotations

from ..backend import xp
from .backward import grad
from .dispatch import call, wrap
from .modes import enable_grad, local, state
from .node import new
from .tensor import Tensor


class Level:
    """An open dual level; tangents belong to one and end with it."""

    __slots__ = ("duals",)

    def __init__(self):
        self.duals = []

    def keep(self, tensor, tangent):
        tensor._tangent = (self, tangent)
        self.duals.append(tensor)


def enter():
    """Open a level; RuntimeError when one is open, as PyTorch has one only."""
    if local.dual is not None:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    local.dual = Level()
    state.special += 1
    return local.dual


def leave(level):
    """Close it: its duals lose their tangents."""
    if local.dual is not level:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created."
        )
    for tensor in level.duals:
        tensor._tangent = None
    level.duals.clear()
    local.dual = None
    state.special -= 1


def tangent_of(tensor):
    """The tangent of ``tensor`` in the open level, or None."""
    held = tensor._tangent
    return (
        held[1] if held is not None and held[0] is local.dual and local.dual is not None else None
    )


def check_tangent(tensor, tangent):
    """RuntimeError unless ``tangent`` has the shape of ``tensor``."""
    if tensor._a.shape != tangent._a.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            "Tensor, this is not supported. "
            f"Tensor is of size {list(tensor.shape)} while the given forward gradient is of size "
            f"{list(tangent.shape)}."
        )


def propagate(op, outs, ins, attrs):
    """Give the results of ``op`` their tangents."""
    tangents = [None if x is None else tangent_of(x) for x in ins]
    if all(t is None for t in tangents):
        return
    level, local.dual = local.dual, None
    try:
        with enable_grad():
            found = _tangents(op, outs, ins, attrs, tangents)
    finally:
        local.dual = level
    for out, tangent in zip(outs, found, strict=True):
        if tangent is not None:
            level.keep(out, tangent)


def _tangents(op, outs, ins, attrs, tangents):
    if op.view and tangents[0] is not None:
        found = call(op, (tangents[0], *ins[1:]), attrs)
        return found if isinstance(found, tuple) else (found,)
    leaves = [None if t is None else _tracked(x) for x, t in zip(ins, tangents, strict=True)]
    made = call(
        op, [x if leaf is None else leaf for x, leaf in zip(ins, leaves, strict=True)], attrs
    )
    made = made if isinstance(made, tuple) else (made,)
    pairs = [
        (x, t) for x, t in zip(leaves, tangents, strict=True) if x is not None and x._g is not None
    ]
    return [directional(y, pairs) for y in made]


def _tracked(x):
    """An alias of ``x`` that gradients can be taken for, joined to what ``x`` came from."""
    from .operation import TENSOR

    if x._g is not None:
        return TENSOR.alias(x)
    t = new(Tensor)
    t._a, t._g, t._v = x._a, None, None
    return t.requires_grad_() if x._a.dtype.kind in "fcV" else t


def directional(output, pairs):
    """J·v of ``output`` for (input, tangent) pairs; None for what has no derivative."""
    if output._g is None or not pairs:
        return None
    zeros = wrap(xp.zeros(output._a.shape, output._a.dtype, like=output._a))
    through = zeros.requires_grad_()
    inputs = [x for x, _ in pairs]
    back = grad(output, inputs, through, create_graph=True, allow_unused=True)
    kept = [
        (b, t) for b, (_, t) in zip(back, pairs, strict=True) if b is not None and b._g is not None
    ]
    if not kept:
        return wrap(xp.zeros(output._a.shape, output._a.dtype, like=output._a))
    (found,) = grad(
        [b for b, _ in kept], through, [t for _, t in kept], create_graph=True, allow_unused=True
    )
    if found is None:
        return wrap(xp.zeros(output._a.shape, output._a.dtype, like=output._a))
    if not any(t._g is not None for _, t in pairs) and not any(_joined(x) for x in inputs):
        return wrap(xp.array(found._a, like=found._a))
    return found


def _joined(x):
    """Whether an input came out of a graph rather than being a copy made here."""
    return not x.is_leaf
