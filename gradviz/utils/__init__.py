"""``gradviz.utils``: checkpointing, data loading, hooks, DLPack."""

from . import _contextlib, _pytree, checkpoint, data, dlpack, hooks
from .swap import swap_tensors

__all__ = ["_contextlib", "_pytree", "checkpoint", "data", "dlpack", "hooks", "swap_tensors"]
