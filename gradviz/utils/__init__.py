"""``gradviz.utils``: checkpointing, data loading, hooks."""

from . import checkpoint, data, hooks

__all__ = ["checkpoint", "data", "hooks"]
