"""Tensors beside Python, NumPy and other libraries: numbers and lists out, arrays and buffers in
and out, DLPack both ways.
"""

from __future__ import annotations

import ctypes

from ..backend import accelerator, host, pointer, xp
from ..engine import dtypes
from ..engine.construct import BACKWARDS, OTHER_ORDER, full_name, mark
from ..engine.device import default
from ..engine.dispatch import Tensor, wrap
from ..engine.errors import advised, warn_once
from ..engine.events import door
from ..engine.modes import is_grad_enabled
from ..engine.operands import broadcast_error
from .create import tensor, to
from .declare import only_function, only_method, public


# ---------------------------------------------------------------- to Python
def _cut(self, how):
    if door.observer is not None:
        door.observer.cut(self, None, how)


def item(self):
    """The one element as a Python number; RuntimeError with more."""
    if self._a.size != 1:
        raise RuntimeError(f"a Tensor with {self._a.size} elements cannot be converted to Scalar")
    _cut(self, "item")
    return _python(self._a.item())


def _python(x):
    return x if isinstance(x, (bool, int, float, complex)) else float(x)


def tolist(self):
    """Nested lists of Python numbers."""
    _cut(self, "tolist")
    if self._a.dtype.kind == "V":
        return self._a.astype(xp.float32).tolist()
    return self._a.tolist()


_LIKELY_A_SLIP = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)


def _scalar(self, kind, name):
    """The one element as an int, float or complex."""
    if kind is float and self.requires_grad and is_grad_enabled():
        warn_once(_LIKELY_A_SLIP)
    if self._a.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    _cut(self, "item")
    value = self._a.item()
    if isinstance(value, complex) and kind is not complex:
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {name} without overflow")
        value = value.real
    return kind(value)


def _truth(self):
    if self._a.size > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    if self._a.size == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    _cut(self, "bool")
    return bool(self._a)


def _as_index(self):
    if self._a.dtype.kind not in "iub" or self._a.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self._a.item())


def _contains(self, element):
    if isinstance(element, Tensor):
        try:
            return bool((self._a == element._a).any())
        except ValueError:
            raise broadcast_error(element._a.shape, self._a.shape) from None
    if isinstance(element, (int, float, complex, xp.number, xp.bool_)):
        return bool((self._a == element).any())
    raise RuntimeError(
        f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}."
    )


Tensor.__float__ = lambda self: _scalar(self, float, "double")
Tensor.__int__ = lambda self: _scalar(self, int, "int64_t")
Tensor.__complex__ = lambda self: _scalar(self, complex, "c10::complex<double>")
Tensor.__bool__ = _truth
Tensor.__index__ = _as_index
Tensor.__contains__ = _contains


# ---------------------------------------------------------------- to NumPy
def numpy(self, *, force=False):
    """The array, sharing memory. RuntimeError for a tracked tensor, TypeError for one on a GPU,
    unless ``force``.
    """
    if self._g is not None and not force:
        raise advised(
            RuntimeError(
                "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() "
                "instead."
            ),
            "numpy_tracked",
        )
    if self._a.__class__ is not xp.ndarray and not force:
        raise advised(
            TypeError(
                f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to "
                "copy the tensor to host memory first."
            ),
            "numpy_on_gpu",
        )
    if self._a.dtype.kind == "V":
        raise TypeError("Got unsupported ScalarType BFloat16")
    _cut(self, "numpy")
    return host(self._a)


def _to_array(self, dtype=None, copy=None):
    found = numpy(self)
    if dtype is None or found.dtype == dtype:
        return found.copy() if copy else found
    if copy is False:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    return found.astype(dtype)


def _from_ufunc(self, array, context=None, return_scalar=False):
    """What NumPy's functions give for a tensor is a tensor; bool becomes uint8, as in PyTorch."""
    array = xp.asarray(array)
    return from_numpy(array.astype(xp.uint8) if array.dtype == bool else array)


Tensor.__array__ = _to_array
Tensor.__array_wrap__ = _from_ufunc
for _f in (item, tolist, numpy):
    only_method(_f)


# ---------------------------------------------------------------- from NumPy and buffers
_READ_ONLY = (
    "The given {what} is not writable, and PyTorch does not support non-writable tensors. This "
    "means {risk}. You may want to copy the {name} to protect its data or make it writable before "
    "converting it to a tensor. This type of warning will be suppressed for the rest of this "
    "program."
)
_READ_ONLY_ARRAY = _READ_ONLY.format(
    what="NumPy array",
    risk="writing to this tensor will result in undefined behavior",
    name="array",
)
_READ_ONLY_BUFFER = _READ_ONLY.format(
    what="buffer",
    risk="you can write to the underlying (supposedly non-writable) buffer using the tensor",
    name="buffer",
)


def from_numpy(array):
    """A tensor on the memory of ``array``. TypeError for what is no array of numbers, ValueError
    for strides and byte orders that tensors do not have.
    """
    if not isinstance(array, xp.ndarray):
        raise TypeError(f"expected np.ndarray (got {full_name(array)})")
    check_layout(array)
    dtypes.from_np(array.dtype)
    if not array.flags.writeable:
        warn_once(_READ_ONLY_ARRAY)
    return wrap(array)


def check_layout(array):
    """ValueError unless a tensor can lie on the memory of ``array``."""
    if any(s < 0 for s in array.strides):
        raise ValueError(BACKWARDS)
    if array.dtype.kind in "biufc" and any(s % array.itemsize for s in array.strides):
        raise ValueError(
            "given numpy array strides not a multiple of the element byte size. Copy the numpy "
            "array to reallocate the memory."
        )
    if not array.dtype.isnative:
        raise ValueError(OTHER_ORDER)


def as_tensor(data, dtype=None, device=None):
    """``data`` as a tensor, sharing memory where it can."""
    if isinstance(data, Tensor):
        return to(data, device=device, dtype=dtype)
    if isinstance(data, xp.ndarray):
        return to(from_numpy(data), device=device or default.device, dtype=dtype)
    return tensor(data, dtype=dtype, device=device)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=None):
    """``obj`` (tensor, array, capsule, buffer, numbers) as a tensor; ``copy`` True never shares
    memory, False never copies and raises ValueError where that cannot be. With ``requires_grad``
    False the result leaves the graph.
    """
    found = _sharing(obj, dtype)
    if found is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    if requires_grad is None and isinstance(obj, Tensor) and obj.requires_grad:
        warn_once(_GRAD_OF_SOURCE)
    made = to(found, device=device, dtype=dtype)
    if made is not found and copy is False:
        raise ValueError(
            f"can't alias tensor with dtype '{dtypes.scalar_name(found.dtype)}' into dtype "
            f"'{dtypes.scalar_name(made.dtype)}'."
        )
    if copy and made is found:
        made = made.clone()
    if requires_grad is None or made.requires_grad and requires_grad:
        return made
    if requires_grad or made.is_leaf:
        return made.requires_grad_(requires_grad)
    return made.detach()


_GRAD_OF_SOURCE = (
    "torch.asarray: unspecified requires_grad now defaults to obj.requires_grad instead of False. "
    "Pass requires_grad=False explicitly to get the old behavior and silence this warning."
)


def _sharing(obj, dtype):
    """A tensor on the memory of ``obj``, None for what has none of its own."""
    if isinstance(obj, Tensor):
        return obj
    if isinstance(obj, xp.ndarray):
        return from_numpy(obj)
    if isinstance(obj, xp.generic):
        return tensor(obj)
    if hasattr(obj, "__dlpack__") or _is_capsule(obj):
        return from_dlpack(obj)
    if isinstance(obj, (bytes, bytearray, memoryview)) or hasattr(obj, "tobytes"):
        try:
            return frombuffer(obj, dtype=dtype or dtypes.default.float)
        except BufferError:
            return None
    return None


def frombuffer(buffer, *, dtype, count=-1, offset=0, requires_grad=False):
    """A tensor of one dimension on the memory of a buffer. ValueError for a size that does not
    fit.
    """
    try:
        view = memoryview(buffer)
    except TypeError:
        raise ValueError("object does not implement Python buffer protocol.") from None
    length, size = view.nbytes, dtype.itemsize
    if length == 0 or count == 0:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length "
            f"({length} bytes) minus 1"
        )
    if count > 0 and offset + count * size > length:
        raise ValueError(
            f"requested buffer length ({count} * {size} bytes) after offset ({offset} bytes) must "
            f"not be greater than actual buffer length ({length} bytes)"
        )
    if count < 0 and (length - offset) % size:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a "
            f"multiple of element size ({size})"
        )
    if view.readonly:
        warn_once(_READ_ONLY_BUFFER)
    return mark(wrap(xp.frombuffer(buffer, dtype.np, count, offset)), requires_grad)


for _f in (from_numpy, as_tensor, asarray, frombuffer):
    only_function(_f)


# ---------------------------------------------------------------- DLPack
_INVALID_CAPSULE = (
    "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only "
    "once, so you might have already constructed a tensor from it once."
)


def _is_capsule(obj):
    return type(obj).__name__ == "PyCapsule"


class _Producer:
    """A bare capsule of the CPU, in the form in which NumPy takes one."""

    def __init__(self, capsule):
        self._capsule = capsule

    def __dlpack__(self, **options):
        return self._capsule

    def __dlpack_device__(self):
        return 1, 0


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor on the memory of an array of another library, or of a capsule. RuntimeError for
    what is neither.
    """
    if isinstance(ext_tensor, Tensor):
        _refuse_tracked(ext_tensor)
        found = ext_tensor.detach()
    elif _is_capsule(ext_tensor):
        found = wrap(_writable(_from_producer(_Producer(ext_tensor))))
    elif hasattr(ext_tensor, "__dlpack__"):
        found = wrap(_from_producer(ext_tensor))
    else:
        raise RuntimeError(_INVALID_CAPSULE)
    made = to(found, device=device)
    return made.clone() if copy and made is found else made


def _from_producer(producer):
    if producer.__dlpack_device__()[0] == 2:
        return accelerator.gpu().from_dlpack(producer)
    try:
        array = xp.from_dlpack(producer)
    except ValueError:
        raise RuntimeError(_INVALID_CAPSULE) from None
    check_layout(array)
    return array


def _writable(array):
    """The same memory, to be written: a bare capsule does not say whether that is wanted, NumPy
    takes it for a no, PyTorch for a yes.
    """
    if array.__class__ is not xp.ndarray or not array.size:
        return array
    span = sum((n - 1) * s for n, s in zip(array.shape, array.strides, strict=True))
    memory = (ctypes.c_char * (span + array.itemsize)).from_address(pointer(array))
    memory.owner = array  # the memory lives as long as what looks at it
    return xp.ndarray(array.shape, array.dtype, memory, 0, array.strides)


def _refuse_tracked(self):
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")


def _dlpack(self, **options):
    """A capsule with the memory of this tensor; BufferError for a tracked one, and for a dtype that
    the array library does not export.
    """
    _refuse_tracked(self)
    array = self._a
    if self.is_cpu and options.get("stream") is not None:
        raise AssertionError("stream should be None on cpu.")
    if self.is_meta:
        raise BufferError("Cannot pack tensors on meta")
    return array.gpu.to_dlpack(array.raw) if self.is_cuda else array.__dlpack__(**options)


def _dlpack_device(self):
    if self.is_meta:
        raise ValueError("Unknown device type meta for Dlpack")
    return (2, self._a.index) if self.is_cuda else self._a.__dlpack_device__()


def to_dlpack(tensor):
    """A capsule with the memory of a tensor."""
    return tensor.detach().__dlpack__()


Tensor.__dlpack__ = _dlpack
Tensor.__dlpack_device__ = _dlpack_device
public("from_dlpack", from_dlpack)
public("to_dlpack", to_dlpack)
