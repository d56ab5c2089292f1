"""``gradviz.utils``: checkpointing, data loading, hooks, DLPack."""

from ..absent import absent as _absent
from . import _contextlib, _pytree, checkpoint, data, dlpack, hooks
from .swap import swap_tensors

__all__ = ["_contextlib", "_pytree", "checkpoint", "data", "dlpack", "hooks", "swap_tensors"]

globals().update(_absent("torch.utils"))
