"""Which tracked leaves a tensor was computed from."""

from __future__ import annotations

from ..engine.node import LEAF
from ..engine.tensor import Tensor


def leaves(tensor):
    """The tracked leaves from which ``tensor`` was computed, each once."""
    stack = [tensor if tensor._g is LEAF else tensor._g]
    seen, found = set(), []
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


def depends_only_on(tensor, own):
    """Whether no tracked leaf but those of ``own`` (compared by identity) takes part in
    ``tensor``.
    """
    return all(any(x is o for o in own) for x in leaves(tensor))
