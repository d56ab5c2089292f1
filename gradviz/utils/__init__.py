"""``gradviz.utils``: checkpointing, data loading, hooks."""

from . import checkpoint, data, hooks
from .swap import swap_tensors

__all__ = ["checkpoint", "data", "hooks", "swap_tensors"]
