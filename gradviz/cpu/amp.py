"""``autocast`` and ``GradScaler`` for the CPU by their older names."""

from __future__ import annotations

from ..amp import GradScaler as _GradScaler
from ..amp import autocast as _autocast
from ..engine.dtypes import bfloat16

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    """``torch.autocast("cpu", …)``."""

    def __init__(self, enabled=True, dtype=bfloat16, cache_enabled=True):
        super().__init__("cpu", dtype, enabled, cache_enabled)


class GradScaler(_GradScaler):
    """``torch.amp.GradScaler("cpu", …)``."""

    def __init__(self, *args, **kwargs):
        super().__init__("cpu", *args, **kwargs)
