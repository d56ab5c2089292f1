"""``gradviz.backends``: switches of PyTorch's backends, accepted and remembered; NumPy decides for
itself. Those of attention decide how it is computed.
"""

from __future__ import annotations

import sys
from types import ModuleType

from ..nn.functional import attention as _attention


class _Switches(ModuleType):
    """A namespace of settings with PyTorch's defaults; ``import gradviz.backends.cudnn`` finds
    it.
    """

    def __init__(self, name, **settings):
        super().__init__(f"{__name__}.{name}")
        self.__dict__.update(settings)
        sys.modules[self.__name__] = self

    def is_available(self):
        """Whether this backend is there."""
        return False


def _attention_switch(kernel):
    """A setting of ``scaled_dot_product_attention`` as the pair that reads and writes it."""

    def enabled():
        return getattr(_attention.allowed, kernel)

    def enable(enabled):
        _attention.allowed = _attention.allowed._replace(**{kernel: bool(enabled)})

    return enabled, enable


_flash, _enable_flash = _attention_switch("fused")
_math, _enable_math = _attention_switch("math")
_efficient, _enable_efficient = _attention_switch("efficient")
_cudnn, _enable_cudnn = _attention_switch("cudnn")

cudnn = _Switches(
    "cudnn",
    enabled=True,
    benchmark=False,
    benchmark_limit=10,
    deterministic=False,
    allow_tf32=True,
    version=lambda: None,
)
cuda = _Switches(
    "cuda",
    matmul=_Switches("cuda.matmul", allow_tf32=False, allow_fp16_reduced_precision_reduction=True),
    is_built=lambda: False,
    flash_sdp_enabled=_flash,
    enable_flash_sdp=_enable_flash,
    math_sdp_enabled=_math,
    enable_math_sdp=_enable_math,
    mem_efficient_sdp_enabled=_efficient,
    enable_mem_efficient_sdp=_enable_efficient,
    cudnn_sdp_enabled=_cudnn,
    enable_cudnn_sdp=_enable_cudnn,
    is_flash_attention_available=lambda: False,
)
mps = _Switches("mps", is_built=lambda: False)
mkldnn = _Switches("mkldnn", enabled=True)
mkl = _Switches("mkl")
openmp = _Switches("openmp")
opt_einsum = _Switches("opt_einsum", enabled=True, strategy="auto")

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
