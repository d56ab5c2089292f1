"""Which tracked leaves a tensor was computed from."""

from __future__ import annotations

from .node import LEAF
from .tensor import Tensor


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


def depends_only_on(tensor, transform=None):
    """Whether no tracked leaf takes part in ``tensor`` but those of ``transform`` and of transforms
    that have ended.
    """
    return all(
        (made_by := getattr(x, "_transform", None)) is not None
        and (made_by is transform or not made_by.open)
        for x in leaves(tensor)
    )
