"""``gradviz.nn.attention``: which kernels ``scaled_dot_product_attention`` may take."""

from __future__ import annotations

import enum
from contextlib import contextmanager

from ..absent import absent as _absent
from .functional import attention as kernels

__all__ = ["SDPBackend", "sdpa_kernel"]


class SDPBackend(enum.Enum):
    """The kernels that PyTorch names; here there are ``MATH`` and, for four dimensions,
    ``FLASH_ATTENTION``.
    """

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self):
        return self.value


@contextmanager
def sdpa_kernel(backends, set_priority=False):
    """Allow one kernel or those of a list, inside. AssertionError for what is neither; attention
    raises RuntimeError where none of them fits. The order of the list changes nothing.
    """
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, got "
            f"{type(backends).__name__}"
        )
    chosen = {backends} if isinstance(backends, SDPBackend) else set(backends)
    before = kernels.allowed
    kernels.allowed = kernels.Kernels(
        SDPBackend.FLASH_ATTENTION in chosen,
        SDPBackend.MATH in chosen,
        SDPBackend.EFFICIENT_ATTENTION in chosen,
        SDPBackend.CUDNN_ATTENTION in chosen,
    )
    try:
        yield {}
    finally:
        kernels.allowed = before


globals().update(_absent("torch.nn.attention"))
