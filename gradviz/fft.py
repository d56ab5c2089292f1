"""``gradviz.fft``: discrete Fourier transforms, as in ``torch.fft``."""

from .ops.fft import FFT

globals().update(FFT)

__all__ = sorted(FFT)
