"""Which operations autocast computes in float32, as PyTorch does on the CPU."""

from __future__ import annotations

from ..engine.dispatch import Tensor
from .declare import FUNCTIONS
from .fft import FFT
from .linalg import LINALG
from .lower import keeps_precise

NAMES = (
    "prod trace cdist quantile nanquantile stft polar inverse pinverse qr svd cholesky "
    "cholesky_inverse cholesky_solve view_as_complex"
).split()
OF_LINALG = (
    "solve inv inv_ex qr svd svdvals eig eigvals eigh eigvalsh cholesky cholesky_ex lstsq cond "
    "matrix_rank tensorinv tensorsolve householder_product"
).split()


def keep_precise():
    """Let them cast their operands inside autocast blocks."""
    for table, names in ((FUNCTIONS, NAMES), (LINALG, OF_LINALG), (FFT, FFT)):
        for name in names:
            if name in table:
                table[name] = keeps_precise(table[name])
    for name in NAMES:
        if hasattr(Tensor, name):
            setattr(Tensor, name, keeps_precise(getattr(Tensor, name)))
