"""``gradviz.accelerator``: the GPU where there is one, whatever its kind is called."""

from __future__ import annotations

from . import cuda
from .engine.device import Device

__all__ = [
    "current_accelerator",
    "current_device_index",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_peak_memory_stats",
    "set_device_index",
    "set_stream",
    "synchronize",
]


def is_available():
    """Whether there is a GPU that CuPy can use."""
    return cuda.is_available()


def device_count():
    """How many GPUs there are."""
    return cuda.device_count()


def current_accelerator(check_available=False):
    """``device(type="cuda")``, None where there is no GPU."""
    return Device("cuda") if cuda.is_available() else None


def _needs_one(function):
    def asked(*args, **kwargs):
        if not cuda.is_available():
            raise RuntimeError("Cannot access accelerator device when none is available.")
        return function(*args, **kwargs)

    asked.__name__, asked.__doc__ = function.__name__, function.__doc__
    return asked


current_device_index = _needs_one(cuda.current_device)
set_device_index = _needs_one(cuda.set_device)
current_stream = _needs_one(cuda.current_stream)
set_stream = _needs_one(cuda.set_stream)
synchronize = _needs_one(cuda.synchronize)
empty_cache = _needs_one(cuda.empty_cache)
memory_allocated = _needs_one(cuda.memory_allocated)
max_memory_allocated = _needs_one(cuda.max_memory_allocated)
memory_reserved = _needs_one(cuda.memory_reserved)
max_memory_reserved = _needs_one(cuda.max_memory_reserved)
memory_stats = _needs_one(cuda.memory_stats)
reset_peak_memory_stats = _needs_one(cuda.reset_peak_memory_stats)
