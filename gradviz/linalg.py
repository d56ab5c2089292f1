"""``gradviz.linalg``: linear algebra, as in ``torch.linalg``."""

from .ops.linalg import LINALG, LinAlgError

globals().update(LINALG)

__all__ = ["LinAlgError", *sorted(LINALG)]
