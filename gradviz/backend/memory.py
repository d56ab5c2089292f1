"""The C library's allocator, told to keep what a training step frees and needs again, and scratch
arrays.

glibc hands blocks of some megabytes back to the system when they are freed; the next array of that
size then pays a page fault for every 4 KiB, which costs more than computing it. ``keep_freed``
raises the two limits: blocks below 32 MiB come from the heap, and up to 256 MiB of its free end
stay, or all of it while something small lies at that end.
Larger blocks still go back at once, and so does what is free beyond the 256 MiB.
Whoever has set glibc's own variables is left alone; so is every other C library.
"""

from __future__ import annotations

import ctypes
import os
import sys
import threading

import numpy as xp

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters in malloc.h
FROM_HEAP = 32 << 20  # the most that glibc takes for M_MMAP_THRESHOLD
KEPT_FREE = 256 << 20
_CHOSEN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES")


def keep_freed():
    """Raise glibc's limits; whether it was done."""
    if sys.platform != "linux" or any(name in os.environ for name in _CHOSEN):
        return False
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018  other C libraries have none
        return bool(
            library.mallopt(_MMAP_THRESHOLD, FROM_HEAP)
            and library.mallopt(_TRIM_THRESHOLD, KEPT_FREE)
        )
    except (OSError, AttributeError):
        return False


class Scratch(threading.local):
    """Flat arrays for intermediate results, kept from call to call, a set a thread. They hold one
    block each, so all of them together stay small.
    """

    def __init__(self):
        self._kept = {}

    def like(self, array, which=0):
        """A C-contiguous array of the kind, dtype and shape of ``array``, its values undefined;
        ``which`` tells those apart that are needed at once.
        """
        key = (which, array.dtype, array.__class__)
        flat = self._kept.get(key)
        size = array.size
        if flat is None or flat.size < size:
            flat = self._kept[key] = xp.empty_like(array, shape=(size,))
        return flat[:size].reshape(array.shape)


scratch = Scratch()
