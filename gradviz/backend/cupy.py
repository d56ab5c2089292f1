"""CuPy as the library that computes on a GPU.

Nothing here was run on a GPU by the project's own checks: they have none. The strict double runs
the same operations and refuses what CuPy does not have.
"""

from __future__ import annotations

import functools
from types import SimpleNamespace
from weakref import WeakValueDictionary

import cupy
import cupyx

from . import accelerator
from .device_array import DeviceArray, OutOfMemoryError

SCATTER = {
    "add": cupyx.scatter_add,
    "maximum": cupyx.scatter_max,
    "minimum": cupyx.scatter_min,
}


class CudaArray(DeviceArray):
    """An array of CuPy."""

    __slots__ = ()


class _Peak(cupy.cuda.MemoryHook):
    """Counts bytes in use on each device as CuPy's pool hands them out and takes them back."""

    name = "gradviz"

    def __init__(self):
        self.used, self.peak = {}, {}

    def malloc_postprocess(self, *, device_id, mem_size, **_):
        now = self.used[device_id] = self.used.get(device_id, 0) + mem_size
        self.peak[device_id] = max(now, self.peak.get(device_id, 0))

    def free_postprocess(self, *, device_id, mem_size, **_):
        self.used[device_id] = self.used.get(device_id, 0) - mem_size


class CuPy:
    """The library behind ``torch.device("cuda")``; RuntimeError where CuPy finds no GPU."""

    name = "CuPy"
    raw_types = (cupy.ndarray,)
    out_of_memory = cupy.cuda.memory.OutOfMemoryError

    def __init__(self):
        self.devices = cupy.cuda.runtime.getDeviceCount()
        if not self.devices:
            raise RuntimeError("no CUDA device")
        CudaArray.gpu = self
        self.synchronisations, self._kernels = {}, {}
        self.roots = WeakValueDictionary()
        self._peak = _Peak()
        self._peak.__enter__()

    # -- names -------------------------------------------------------------
    @staticmethod
    def function(path):
        """A function of CuPy by the name it has in NumPy, None where CuPy has none."""
        try:
            return functools.reduce(getattr, path.split("."), cupy)
        except AttributeError:
            return None

    @staticmethod
    def ufunc(name):
        """An elementwise function by name."""
        found = getattr(cupy, name, None)
        if found is None:
            import cupyx.scipy.special

            found = getattr(cupyx.scipy.special, name, None)
        return found

    @staticmethod
    def scatter(name):
        """``ufunc.at`` for those that CuPy adds atomically."""
        return SCATTER.get(name)

    @staticmethod
    def method(raw, name):
        """A method of a raw array."""
        return getattr(raw, name)

    # -- arrays --------------------------------------------------------------
    @staticmethod
    def as_array(found):
        """A result as an array: CuPy gives nothing else."""
        return found

    @staticmethod
    def part(raw, index):
        """A part of an array."""
        return raw[index]

    @staticmethod
    def write(raw, index, value):
        """Write into a part of an array."""
        raw[index] = value

    @staticmethod
    def owner(raw):
        """The array that owns the memory under ``raw``."""
        return raw if raw.base is None else raw.base

    @staticmethod
    def pointer(raw):
        """Address of the first element."""
        return raw.data.ptr

    def upload(self, array, index):
        """A copy of a host array on a device."""
        with self.on(index):
            try:
                return CudaArray(cupy.array(array, order="K"), index)
            except self.out_of_memory as error:
                raise OutOfMemoryError(self.full(index, error)) from None

    @staticmethod
    def download(raw):
        """A copy of a raw array on the host."""
        return raw.get(order="A")

    @staticmethod
    def to_dlpack(raw):
        """A capsule for another library."""
        return raw.__dlpack__()

    @staticmethod
    def from_dlpack(producer):
        """An array on the memory of another library."""
        found = cupy.from_dlpack(producer)
        return CudaArray(found, found.device.id)

    # -- the device --------------------------------------------------------
    current = property(lambda self: cupy.cuda.runtime.getDevice())

    @staticmethod
    def device(index):
        """Something with the number of a device as ``id``."""
        return cupy.cuda.Device(index)

    on = device

    def synchronised(self, what):
        """Count a wait for the device."""
        self.synchronisations[what] = self.synchronisations.get(what, 0) + 1
        accelerator.warn_of_wait()

    @staticmethod
    def synchronize(index):
        """Wait for all work of a device."""
        cupy.cuda.Device(index).synchronize()

    @staticmethod
    def use(index):
        """Make ``index`` the current device."""
        cupy.cuda.Device(index).use()

    def full(self, index, error):
        """The message of an OutOfMemoryError."""
        free, total = cupy.cuda.Device(index).mem_info
        return f"{accelerator.full_message(index, 0, total, total - free)} {error}"

    @staticmethod
    def properties(index):
        """Name, memory, compute capability and number of multiprocessors of a device."""
        found = cupy.cuda.runtime.getDeviceProperties(index)
        return {
            "name": found["name"].decode(),
            "total_memory": found["totalGlobalMem"],
            "major": found["major"],
            "minor": found["minor"],
            "multi_processor_count": found["multiProcessorCount"],
        }

    def statistics(self, index):
        """Bytes (in use, most in use, held) on a device."""
        with self.on(index):
            held = cupy.get_default_memory_pool().total_bytes()
        return self._peak.used.get(index, 0), self._peak.peak.get(index, 0), held

    def reset_peak(self, index):
        """Let the most bytes in use be those in use now."""
        self._peak.peak[index] = self._peak.used.get(index, 0)

    @staticmethod
    def empty_cache():
        """Give what the pool holds unused back to the driver."""
        cupy.get_default_memory_pool().free_all_blocks()

    # -- streams and events --------------------------------------------------
    @staticmethod
    def stream(stream):
        """Send work to a stream for a while."""
        return cupy.cuda.Stream.null if stream is None else stream

    @staticmethod
    def new_stream(priority):
        """A queue of work."""
        return cupy.cuda.Stream(non_blocking=True, priority=priority)

    @staticmethod
    def new_event(timing):
        """A point in a queue."""
        return cupy.cuda.Event(disable_timing=not timing)

    @staticmethod
    def record(event, stream):
        """Put the event at the end of a queue."""
        event.record(stream)

    @staticmethod
    def wait(stream, event):
        """Let the queue wait for the event; the host, where there is no queue."""
        if stream is None:
            event.synchronize()
        else:
            stream.wait_event(event)

    @staticmethod
    def elapsed(first, second):
        """Milliseconds between two events."""
        return cupy.cuda.get_elapsed_time(first, second)

    def fused(self, kernel):
        """One kernel from a function of elementwise steps, compiled when it is first needed."""
        found = self._kernels.get(kernel)
        if found is None:
            functions = SimpleNamespace(
                **{name: self.ufunc(name) for name in ("erf", "exp", "log", "maximum", "sqrt")}
            )

            def steps(*operands):
                return kernel(functions, *operands)

            found = self._kernels[kernel] = cupy.fuse(kernel_name=kernel.__name__)(steps)
        return found
