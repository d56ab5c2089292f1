"""``gradviz.utils``: checkpointing, data loading, hooks, DLPack."""

from . import checkpoint, data, dlpack, hooks
from .swap import swap_tensors

__all__ = ["checkpoint", "data", "dlpack", "hooks", "swap_tensors"]
