"""Handles of hooks, and what carries the backward hooks of modules."""

from ..engine.hooks import RemovableHandle
from ..nn.modules.backward_hooks import BackwardHook

__all__ = ["BackwardHook", "RemovableHandle"]
