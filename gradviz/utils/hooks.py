"""Handles of hooks, and what carries the backward hooks of modules."""

from ..engine.hooks import RemovableHandle
from ..nn.modules.backward_hooks import BackwardHook
from ..ops.copying import warn_if_has_hooks

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Mark a hook that need not survive a copy or pickle of its tensor: no warning then."""
    f.__torch_unserializable__ = True
    return f
