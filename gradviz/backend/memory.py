"""The C library's allocator, told to keep what a training step frees and needs again, and scratch
arrays.

glibc hands blocks of some megabytes back to the system when they are freed; the next array of that
size then pays a page fault for every 4 KiB, which costs more than computing it. ``keep_freed``
raises the two limits: blocks below 32 MiB come from the heap, and up to 256 MiB of its free end
stay. Larger blocks still go back at once, and so does what is free beyond the 256 MiB, unless
something small lies at the heap's end (as with glibc's own limits, once they have risen):
``give_back`` hands those pages over too, and a notebook calls it when a cell has ended.
Whoever has set glibc's own variables is left alone; so is every older or other C library.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
import threading

import numpy as xp

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of mallopt's parameters in malloc.h
FROM_HEAP = 32 << 20  # the most that glibc takes for M_MMAP_THRESHOLD
KEPT_FREE = 256 << 20
_CHOSEN = ("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_MMAP_MAX_", "GLIBC_TUNABLES")


class Heap:
    """glibc's heap, once its limits were raised."""

    def __init__(self):
        self._library = None
        self._occupied = self._absent = 0

    def keep_freed(self):
        """Raise glibc's limits; whether it was done."""
        if sys.platform != "linux" or any(name in os.environ for name in _CHOSEN):
            return False
        try:
            library = ctypes.CDLL(None)
            library.mallinfo2.restype = _Mallinfo2
            done = library.mallopt(_MMAP_THRESHOLD, FROM_HEAP) and library.mallopt(
                _TRIM_THRESHOLD, KEPT_FREE
            )
        except (OSError, AttributeError):
            return False
        if done:
            self._library, self._occupied = library, resident()
        return bool(done)

    def give_back(self):
        """Hand the heap's free pages to the system, wherever they lie, once they may hold more than
        what is kept. A gigabyte takes some 60 ms.
        """
        if self._library is None:
            return
        free = self._library.mallinfo2().fordblks
        self._absent = min(self._absent, free)
        if free - self._absent > KEPT_FREE or (
            free > KEPT_FREE and resident() > self._occupied + KEPT_FREE
        ):
            self._library.malloc_trim(KEPT_FREE)
            self._occupied, self._absent = resident(), free


class _Mallinfo2(ctypes.Structure):
    """glibc's ``struct mallinfo2`` (2.33 and later): bytes, ``fordblks`` those that are free."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            *("arena", "ordblks", "smblks", "hblks", "hblkhd"),
            *("usmblks", "fsmblks", "uordblks", "fordblks", "keepcost"),
        )
    ]


def resident():
    """The bytes of memory that this process occupies."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * mmap.PAGESIZE


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
heap = Heap()
