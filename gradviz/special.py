"""``gradviz.special``: special functions, as in ``torch.special``."""

from .ops.special import SPECIAL

globals().update(SPECIAL)

__all__ = sorted(SPECIAL)
