"""``gradviz.special``: special functions, as in ``torch.special``."""

from .absent import absent as _absent
from .ops.special import SPECIAL

globals().update(SPECIAL)
globals().update(_absent("torch.special"))

__all__ = sorted(SPECIAL)
