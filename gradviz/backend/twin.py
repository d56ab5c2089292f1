"""The strict double of a GPU, for tests: NumPy arrays behind everything that CuPy refuses.

``with twin.installed(): …`` makes ``torch.device("cuda")`` work on a machine without one. A
function, method or argument that CuPy does not have (``cupy_surface.txt``, written down from CuPy)
is refused, so are host arrays and conversions nobody asked for; what would wait for the device is
counted in ``synchronisations``. It proves that no operation leaks to the host; it says nothing
about speed, and nothing about CuPy's own numbers.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import weakref
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from . import accelerator
from .device_array import DeviceArray, OutOfMemoryError

GIB = 1 << 30


@functools.lru_cache(1)
def surface():
    """What CuPy offers: name to the parameters it takes, "ufunc" or "property"."""
    lines = Path(__file__).with_name("cupy_surface.txt").read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines if not line.startswith("#"))


@functools.lru_cache(None)
def _accepts(path):
    """(number of positional arguments or None for any, names of the others or None for any)."""
    words = surface()[path].strip("()")
    names = [w.rstrip("=") for w in words.split(", ") if w]
    if not words.startswith("(") and words.split(" ")[0] == "ufunc":
        return None, {"out", "dtype", "casting", "where"}
    plain = [n for n in names if not n.startswith("*")]
    many = any(n.startswith("*") and n != "*" and not n.startswith("**") for n in names)
    count = names.index("*") if "*" in names else len(plain)
    return None if many else count, None if any(n.startswith("**") for n in names) else {*plain}


def _strict(path, function):
    """``function`` of NumPy with the parameters that CuPy's has."""
    count, names = _accepts(path)

    def call(*args, **kwargs):
        unknown = set() if names is None else kwargs.keys() - names
        if unknown or (count is not None and len(args) > count):
            raise TypeError(f"CuPy's {path} takes no {sorted(unknown) or len(args)}")
        return function(*args, **kwargs)

    return call


class TwinArray(DeviceArray):
    """An array of the strict double."""

    __slots__ = ()


class Functions:
    """The elementwise functions of a library as attributes."""

    def __init__(self, library):
        self._library = library

    def __getattr__(self, name):
        return self._library.ufunc(name)


class Twin:
    """The library behind a strict double: ``devices`` of ``memory`` bytes each."""

    name = "CuPy"
    raw_types = (np.ndarray, np.generic)
    out_of_memory = MemoryError

    def __init__(self, devices=1, memory=16 * GIB):
        self.devices, self.memory = devices, memory
        self.synchronisations = Counter()
        self.allocated, self.peak = [0] * devices, [0] * devices
        self.current, self._known = 0, set()
        self.roots = weakref.WeakValueDictionary()
        self.array_class = type("TwinArray", (TwinArray,), {"gpu": self, "__slots__": ()})

    # -- names -------------------------------------------------------------
    @staticmethod
    def function(path):
        """NumPy's function of that name as CuPy has it, None where CuPy has none."""
        if path not in surface():
            return None
        return _strict(path, functools.reduce(getattr, path.split("."), np))

    @staticmethod
    def ufunc(name):
        """An elementwise function by name."""
        if name in surface():
            return _strict(name, getattr(np, name))
        if f"special.{name}" not in surface():
            return None
        return _strict(f"special.{name}", getattr(importlib.import_module("scipy.special"), name))

    @staticmethod
    def scatter(name):
        """``ufunc.at`` for those that CuPy adds atomically."""
        return getattr(np, name).at if name in ("add", "maximum", "minimum") else None

    @staticmethod
    def method(raw, name):
        """A method of a raw array."""
        return _strict(f"ndarray.{name}", getattr(raw, name))

    # -- arrays --------------------------------------------------------------
    def as_array(self, found):
        """A result as an array whose memory is counted."""
        if isinstance(found, np.generic):
            found = np.asarray(found)
        if not found.flags.writeable and self.owner(found).flags.writeable:
            found.flags.writeable = True  # CuPy has no arrays that refuse to be written
        self._count(self.owner(found))
        return found

    def _count(self, array):
        index, size = self.current, array.nbytes
        if id(array) in self._known:
            return
        if self.allocated[index] + size > self.memory:
            raise MemoryError(size)
        self.allocated[index] += size
        self.peak[index] = max(self.peak[index], self.allocated[index])
        self._known.add(id(array))
        weakref.finalize(array, self._forget, id(array), index, size)

    def _forget(self, key, index, size):
        self._known.discard(key)
        self.allocated[index] -= size

    @staticmethod
    def part(raw, index):
        """A part of an array; of one element too it is a view."""
        index = index if isinstance(index, tuple) else (index,)
        return raw[index] if any(i is Ellipsis for i in index) else raw[(*index, ...)]

    @staticmethod
    def write(raw, index, value):
        """Write into a part of an array."""
        raw[index] = value

    @staticmethod
    def owner(raw):
        """The array that owns the memory under ``raw``."""
        while True:
            base = raw.base
            if not isinstance(base, np.ndarray):
                base = getattr(base, "base", None)  # as_strided puts an object between
            if not isinstance(base, np.ndarray):
                return raw
            raw = base

    @staticmethod
    def pointer(raw):
        """Address of the first element."""
        return raw.__array_interface__["data"][0]

    def upload(self, array, index):
        """A copy of a host array on a device."""
        with self.on(index):
            try:
                return self.array_class(self.as_array(np.array(array, order="K")), index)
            except MemoryError as error:
                raise OutOfMemoryError(self.full(index, error)) from None

    @staticmethod
    def download(raw):
        """A copy of a raw array on the host."""
        return raw.copy()

    @staticmethod
    def to_dlpack(raw):
        """There is no memory of a GPU that another library could use."""
        raise BufferError("the strict double of a GPU has no memory to share")

    @staticmethod
    def from_dlpack(producer):
        """There is no memory of a GPU that another library could give."""
        raise BufferError("the strict double of a GPU has no memory to share")

    # -- the device --------------------------------------------------------
    def device(self, index):
        """Something with the number of a device as ``id``."""
        return SimpleNamespace(id=index)

    @contextlib.contextmanager
    def on(self, index):
        """Compute on another device for a while."""
        before, self.current = self.current, index
        try:
            yield
        finally:
            self.current = before

    def synchronised(self, what):
        """Count a wait for the device."""
        self.synchronisations[what] += 1
        accelerator.warn_of_wait()

    def synchronize(self, index):
        """Wait for all work of a device."""

    def use(self, index):
        """Make ``index`` the current device."""
        self.current = index

    def full(self, index, error):
        """The message of an OutOfMemoryError."""
        return accelerator.full_message(
            index, error.args[0] if error.args else 0, self.memory, self.allocated[index]
        )

    def properties(self, index):
        """Name, memory, compute capability and number of multiprocessors of a device."""
        return {
            "name": "strict double of a GPU",
            "total_memory": self.memory,
            "major": 0,
            "minor": 0,
            "multi_processor_count": 1,
        }

    def statistics(self, index):
        """Bytes (in use, most in use, held) on a device."""
        return self.allocated[index], self.peak[index], self.allocated[index]

    def reset_peak(self, index):
        """Let the most bytes in use be those in use now."""
        self.peak[index] = self.allocated[index]

    def empty_cache(self):
        """Nothing is held beyond what is in use."""

    @contextlib.contextmanager
    def stream(self, stream):
        """A double has no queues: work is done when it is asked for."""
        yield

    def new_stream(self, priority):
        """Nothing stands for a stream."""

    def new_event(self, timing):
        """Nothing stands for an event."""

    def record(self, event, stream):
        """Work is done already."""

    def wait(self, stream, event):
        """Work is done already."""

    def elapsed(self, first, second):
        """Milliseconds between two events."""
        return 0.0

    def fused(self, kernel):
        """A kernel's arithmetic, read by NumPy."""
        return functools.partial(kernel, Functions(self))


@contextlib.contextmanager
def installed(devices=1, memory=16 * GIB):
    """Let ``torch.device("cuda")`` mean a strict double inside the block; gives the double."""
    double = Twin(devices, memory)
    before = accelerator.install(double)
    try:
        yield double
    finally:
        accelerator.install(before)
