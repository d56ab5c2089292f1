"""Whether numba's kernels are used: where the extra ``fast`` is installed, for large float32 arrays
in row-major order. It is looked for when the first such array comes, never at import.
``GRADVIZ_FAST=0`` turns it off.
"""

from __future__ import annotations

import os

import numpy as xp

LARGE = 1 << 14  # elements
_UNKNOWN = object()
_kernels = _UNKNOWN
_single = xp.dtype(xp.float32)
ndarray = xp.ndarray


def kernels_for(*arrays):
    """The module of compiled kernels, or None."""
    if arrays[0].size < LARGE:
        return None
    for a in arrays:
        if a.__class__ is not ndarray or a.dtype is not _single:
            return None
        if not (a.flags.c_contiguous and a.flags.writeable):
            return None  # numba would compile them a kernel of their own
    return _kernels if _kernels is not _UNKNOWN else _look()


def _look():
    global _kernels
    _kernels = None
    if os.environ.get("GRADVIZ_FAST") != "0":
        try:
            from . import compiled

            _kernels = compiled
        except ImportError:
            pass
    return _kernels


def elementwise(name, *arrays):
    """What the kernel of that name makes of ``arrays``, or None where it is not used."""
    kernels = kernels_for(*arrays)
    if kernels is None:
        return None
    out = xp.empty_like(arrays[0])
    getattr(kernels, name)(*(a.reshape(-1) for a in arrays), out.reshape(-1))
    return out
