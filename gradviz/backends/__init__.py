"""``gradviz.backends``: switches of PyTorch's backends, accepted and remembered; NumPy decides for
itself.
"""

from __future__ import annotations


class _Switches:
    """A namespace of settings with PyTorch's defaults."""

    def __init__(self, **settings):
        self.__dict__.update(settings)

    def is_available(self):
        """Whether this backend is there."""
        return False


cudnn = _Switches(
    enabled=True,
    benchmark=False,
    benchmark_limit=10,
    deterministic=False,
    allow_tf32=True,
    version=lambda: None,
)
cuda = _Switches(
    matmul=_Switches(allow_tf32=False, allow_fp16_reduced_precision_reduction=True),
    is_built=lambda: False,
)
mps = _Switches(is_built=lambda: False)
mkldnn = _Switches(enabled=True)
mkl = _Switches()
openmp = _Switches()
opt_einsum = _Switches(enabled=True, strategy="auto")

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp", "opt_einsum"]
