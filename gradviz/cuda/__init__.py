"""``gradviz.cuda``: what there is to say about GPUs. Without CuPy and a card: none."""

from __future__ import annotations

from ..engine.device import Device as device
from ..ops.random import default_generator

__all__ = [
    "OutOfMemoryError",
    "amp",
    "current_device",
    "device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "set_device",
    "synchronize",
]


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for a tensor."""


def is_available():
    """Whether there is a GPU that can compute."""
    return False


def device_count():
    """The number of GPUs."""
    return 0


def is_initialized():
    """Whether a GPU was used in this process."""
    return False


def is_bf16_supported(including_emulation=True):
    """Whether the GPU computes in bfloat16."""
    return False


def _none():
    raise AssertionError("Torch not compiled with CUDA enabled")


def current_device():
    """The index of the GPU in use; AssertionError where there is none."""
    _none()


def get_device_name(device=None):
    """The name of a GPU; AssertionError where there is none."""
    _none()


def get_device_properties(device=None):
    """The properties of a GPU; AssertionError where there is none."""
    _none()


def set_device(device):
    """Use another GPU; AssertionError where there is none."""
    _none()


def synchronize(device=None):
    """Wait for all work on a GPU; AssertionError where there is none."""
    _none()


def empty_cache():
    """Give unused memory back: nothing without a GPU."""


def memory_allocated(device=None):
    """Bytes in use on a GPU."""
    return 0


def memory_reserved(device=None):
    """Bytes held on a GPU."""
    return 0


def max_memory_allocated(device=None):
    """The most bytes in use on a GPU so far."""
    return 0


def max_memory_reserved(device=None):
    """The most bytes held on a GPU so far."""
    return 0


def reset_peak_memory_stats(device=None):
    """Forget the peaks: nothing without a GPU."""


def manual_seed(seed):
    """Seed the stream of the GPU in use: nothing without one."""


def manual_seed_all(seed):
    """Seed the streams of all GPUs: nothing without one."""


def get_rng_state(device="cuda"):
    """The state of a GPU's stream; without a GPU that of the CPU."""
    return default_generator.get_state()


def __getattr__(name):
    if name == "amp":
        import importlib

        return importlib.import_module("gradviz.amp")
    raise AttributeError(f"module 'gradviz.cuda' has no attribute '{name}'")
