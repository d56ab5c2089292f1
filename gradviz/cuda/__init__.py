"""``gradviz.cuda``: GPUs, through CuPy. Without CuPy and a card there are none, and what needs one
says so in PyTorch's words.
"""

from __future__ import annotations

import importlib
from collections import namedtuple

from ..backend import OutOfMemoryError, accelerator
from ..engine.device import Device, library, resolve
from .memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_max_memory_allocated,
    reset_peak_memory_stats,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import Event, Stream, current_stream, default_stream, set_stream, stream

__all__ = [
    "Event",
    "OutOfMemoryError",
    "Stream",
    "amp",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "get_sync_debug_mode",
    "init",
    "initial_seed",
    "ipc_collect",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_max_memory_allocated",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "set_sync_debug_mode",
    "stream",
    "synchronize",
    "synchronizing_calls",
]


# ---------------------------------------------------------------- which there are
def is_available():
    """Whether there is a GPU that can compute."""
    return accelerator.gpu() is not None


def device_count():
    """The number of GPUs."""
    found = accelerator.gpu()
    return 0 if found is None else found.devices


def is_initialized():
    """Whether a GPU was looked for and found in this process."""
    return accelerator.in_use() is not None


def init():
    """Look for a GPU now; AssertionError or RuntimeError where there is none."""
    library()


def current_device():
    """The index of the GPU in use."""
    return library().current


def set_device(device):
    """Use another GPU; a negative number changes nothing."""
    found = _index(device)
    if found >= 0:
        library().use(found)


def _index(device):
    """The number of the GPU that is meant; ValueError for a device that is none."""
    if device is None:
        return library().current
    if isinstance(device, int) and device < 0:
        return device
    found = Device(device)
    if found.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {found}")
    return resolve(found).index


class device:
    """``with cuda.device(1):`` makes another GPU the current one inside the block."""

    def __init__(self, device):
        self.idx, self.prev_idx = _index(device), -1

    def __enter__(self):
        if self.idx >= 0:
            self.prev_idx = library().current
            library().use(self.idx)

    def __exit__(self, *error):
        if self.idx >= 0:
            library().use(self.prev_idx)
        return False


class device_of(device):
    """The GPU of a tensor is the current one inside the block; nothing for one on the CPU."""

    def __init__(self, obj):
        super().__init__(obj.device.index if obj.is_cuda else -1)


# ---------------------------------------------------------------- what they are
Properties = namedtuple("Properties", "name total_memory major minor multi_processor_count")


def get_device_properties(device=None):
    """Name, bytes of memory, compute capability and number of multiprocessors of a GPU."""
    return Properties(**library().properties(_index(device)))


def get_device_name(device=None):
    """The name of a GPU."""
    return get_device_properties(device).name


def get_device_capability(device=None):
    """The compute capability of a GPU: (major, minor)."""
    found = get_device_properties(device)
    return found.major, found.minor


def is_bf16_supported(including_emulation=True):
    """Whether the GPU in use computes in bfloat16."""
    return is_available() and get_device_capability()[0] >= 8


def get_arch_list():
    """The architectures for which kernels were compiled ahead: CuPy compiles when one is used."""
    return []


def ipc_collect():
    """Memory is not shared between processes: nothing to give back."""


# ---------------------------------------------------------------- waiting
def synchronize(device=None):
    """Wait for all work on a GPU."""
    library().synchronize(_index(device))


_MODES = {"default": 0, "warn": 1, "error": 2}


def set_sync_debug_mode(debug_mode):
    """What a call that waits for the GPU (``item``, ``cpu``, ``bool``, printing) does: nothing (0,
    "default"), warn (1, "warn") or raise (2, "error"). RuntimeError for another mode.
    """
    library()
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`"
            )
        debug_mode = _MODES[debug_mode]
    if debug_mode not in _MODES.values():
        raise RuntimeError("invalid value of debug_mode, expected 0, 1 or 2")
    accelerator.set_sync_mode(debug_mode)


def get_sync_debug_mode():
    """What a call that waits for the GPU does: 0, 1 or 2."""
    library()
    return accelerator.sync_mode()


def synchronizing_calls():
    """How often the program waited for the GPU so far, by what it asked for. Not in PyTorch."""
    return dict(library().synchronisations)


def __getattr__(name):
    if name == "amp":
        return importlib.import_module("gradviz.cuda.amp")
    raise AttributeError(f"module 'gradviz.cuda' has no attribute '{name}'")
