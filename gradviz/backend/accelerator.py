"""Which library computes on a GPU, if any: CuPy where it finds one, or the strict double in a test.

Nothing is imported and nothing is asked of a driver until somebody names a GPU.
"""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np

from . import meta
from .device_array import DeviceArray

ABSENT, NO_CUPY, NO_GPU = "unknown", "no cupy", "no gpu"
_found = SimpleNamespace(gpu=None, why=ABSENT, sync_mode=0, anchors={})


def gpu():
    """The library that computes on a GPU, None where there is none."""
    if _found.gpu is None and _found.why == ABSENT:
        _look()
    return _found.gpu


def _look():
    try:
        from .cupy import CuPy
    except ImportError:
        _found.why = NO_CUPY
        return
    try:
        _found.gpu = CuPy()
    except RuntimeError:  # what CuPy raises without a driver or without a device
        _found.why = NO_GPU


def why_none():
    """Why there is no library: NO_CUPY or NO_GPU."""
    gpu()
    return _found.why


def in_use():
    """The library if a GPU was used already, None otherwise: asks nothing of a driver."""
    return _found.gpu


def install(double):
    """Compute with ``double`` (None: what the machine has); gives what was installed before."""
    before, _found.gpu = _found.gpu, double
    _found.anchors = {}
    return before


# ---------------------------------------------------------------- arrays
def upload(array, index):
    """A copy of a host array on device ``index``."""
    return gpu().upload(array, index)


def anchor(index):
    """Some array of device ``index``: what is made ``like=`` it is made there."""
    found = _found.anchors.get(index)
    if found is None:
        found = _found.anchors[index] = upload(np.zeros(0), index)
    return found


def host(array):
    """The array itself if it lies on the host, a copy of one on a device."""
    return array.get() if isinstance(array, DeviceArray) else array


def beside(array, other):
    """An array, moved to where ``other`` lies."""
    if not isinstance(other, DeviceArray):
        return host(array)
    if isinstance(other, meta.MetaArray):
        return meta.upload(array)
    if isinstance(array, DeviceArray):
        return array if array.index == other.index else upload(array.get(), other.index)
    return upload(np.asarray(array), other.index)


# ---------------------------------------------------------------- what a person is told
def set_sync_mode(mode):
    """0: say nothing of a wait for the device, 1: warn, 2: refuse."""
    _found.sync_mode = mode


def sync_mode():
    """What is said of a wait for the device."""
    return _found.sync_mode


def warn_of_wait():
    """Called before the host waits for the device."""
    if _found.sync_mode == 2:
        raise RuntimeError("called a synchronizing CUDA operation")
    if _found.sync_mode == 1:
        warnings.warn("called a synchronizing CUDA operation", UserWarning, stacklevel=6)


def full_message(index, size, total, used):
    """The words of PyTorch's OutOfMemoryError."""
    return (
        f"CUDA out of memory. Tried to allocate {in_words(size)}. GPU {index} has a total capacity "
        f"of {in_words(total)} of which {in_words(max(total - used, 0))} is free."
    )


def in_words(size):
    """Bytes as 512 bytes, 20.00 MiB, 1.50 GiB."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"
