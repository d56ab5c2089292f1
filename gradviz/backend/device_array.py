"""An array on a GPU as the operations see it: NumPy's names, and nothing that reaches the host
unasked.

Operations are written with NumPy's functions. Given a ``DeviceArray`` those hand over to
``__array_ufunc__`` and ``__array_function__``, and these to the library that computes on the
device: CuPy, or the strict double. New arrays are made beside another: ``zeros(n, like=x)``. Host
code pays nothing for any of this; a host array that meets a device array is an error, no copy.
"""

from __future__ import annotations

import numpy as np

REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_or": "any",
    "logical_and": "all",
}
RUNNING = {"add": "cumsum", "multiply": "cumprod"}
# these take numbers from the host: that is what they are for
UPLOADS = {"array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray"}

# the size of their result is known only when they are done
COUNTING = {"nonzero", "flatnonzero", "argwhere", "unique"}


class OutOfMemoryError(RuntimeError):
    """A device has no memory left for a tensor."""


class Flags:
    """The layout of a device array."""

    __slots__ = ("c_contiguous", "f_contiguous", "owndata", "writeable")

    def __init__(self, flags):
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous
        self.owndata, self.writeable = flags.owndata, True


def refuse_mixture(first, second):
    """PyTorch's RuntimeError for tensors that lie on two devices."""
    raise RuntimeError(
        "Expected all tensors to be on the same device, but found at least two devices, "
        f"{first} and {second}!"
    )


class DeviceArray(np.lib.mixins.NDArrayOperatorsMixin):
    """``raw``, an array of a library, on device number ``index``. All that look at one piece of
    memory know the same ``root``, which is what that memory is known by.
    """

    __slots__ = ("__weakref__", "_root", "index", "raw")
    gpu = None  # each library has a subclass of its own

    def __init__(self, raw, index):
        self.raw, self.index, self._root = raw, index, None
        whole = self.gpu.owner(raw)
        known = self.gpu.roots.get(id(whole))
        if known is not None:
            self._root = known
        elif whole is raw:
            self.gpu.roots[id(raw)] = self
        else:
            self._root = type(self)(whole, index)

    # -- what NumPy's functions do with it --------------------------------
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        outs = kwargs.pop("out", None)
        target = None if outs is None else outs[0]
        function = self._ufunc(ufunc, method, kwargs)
        if target is not None:
            kwargs["out"] = target
        found = self._call(function, inputs, kwargs)
        return found if target is None else target

    def _ufunc(self, ufunc, method, kwargs):
        name = ufunc.__name__.lstrip("_")  # SciPy's zeta is called _zeta
        if method == "__call__":
            found = self.gpu.ufunc(name)
        elif method == "at":
            found = self.gpu.scatter(name)
        elif method == "reduce" and name in REDUCTIONS:
            kwargs.setdefault("axis", 0)
            if kwargs.get("dtype") is None:
                kwargs.pop("dtype", None)
            found = self.gpu.function(REDUCTIONS[name])
            if "initial" in kwargs:
                found = _started(found, self.gpu.ufunc(name), kwargs.pop("initial"))
        elif method == "accumulate" and name in RUNNING:
            kwargs.setdefault("axis", 0)
            found = self.gpu.function(RUNNING[name])
        elif method == "accumulate":
            found = _scan(self.gpu.ufunc(name))
        else:
            found = None
        if found is None:
            self._lacks(name if method == "__call__" else f"{name}.{method}")
        return found

    def __array_function__(self, func, types, args, kwargs):
        path = ".".join([*func.__module__.split(".")[1:], func.__name__])
        function = self.gpu.function(path)
        if function is None:
            self._lacks(path)
        if path in COUNTING:
            self._wait(path)
        if kwargs.get("device", 0) is None:  # NumPy passes on what nobody gave
            del kwargs["device"]
        return self._call(function, args, kwargs, path in UPLOADS)

    def _lacks(self, path):
        raise NotImplementedError(f"{self.gpu.name} has no {path} for arrays on a GPU")

    def _call(self, function, args, kwargs, uploads=False):
        """``function`` on the raw arrays of this device, the results as device arrays again."""
        args = [self._open(a, uploads) for a in args]
        if kwargs:
            kwargs = {k: self._open(v, uploads) for k, v in kwargs.items()}
        with self.gpu.on(self.index):
            try:
                return self._close(function(*args, **kwargs))
            except self.gpu.out_of_memory as error:
                raise OutOfMemoryError(self.gpu.full(self.index, error)) from None

    def _open(self, x, uploads):
        if isinstance(x, DeviceArray):
            if x.index != self.index:
                refuse_mixture(f"cuda:{self.index}", f"cuda:{x.index}")
            return x.raw
        if isinstance(x, np.ndarray) and not uploads:
            if x.ndim:
                refuse_mixture(f"cuda:{self.index}", "cpu")
            return x[()]  # a number travels with the call
        if x.__class__ is tuple or x.__class__ is list:
            return x.__class__(self._open(one, uploads) for one in x)
        return x

    def _close(self, found):
        if isinstance(found, self.gpu.raw_types):
            return type(self)(self.gpu.as_array(found), self.index)
        if isinstance(found, (tuple, list)):
            return tuple(self._close(one) for one in found)
        return found

    def fused(self, kernel, operands):
        """``kernel`` of ``operands``, of which this is one, as one kernel of the library."""
        return self._call(self.gpu.fused(kernel), operands, {})

    def strided(self, shape, strides):
        """A window on the memory with these sizes and strides in bytes."""
        window = self.gpu.function("lib.stride_tricks.as_strided")
        return self._call(window, (self, shape, strides), {})

    def max(self, axis=None, keepdims=False, **initial):
        """The largest element, or ``initial`` where that is larger."""
        return np.maximum.reduce(self, axis, None, None, keepdims, **initial)

    def min(self, axis=None, keepdims=False, **initial):
        """The smallest element, or ``initial`` where that is smaller."""
        return np.minimum.reduce(self, axis, None, None, keepdims, **initial)

    # -- reading and writing parts ----------------------------------------
    def __getitem__(self, index):
        self._note_mask(index)
        return self._call(self.gpu.part, (self, index), {})

    def __setitem__(self, index, value):
        if getattr(value, "ndim", 0):  # one value goes through a mask without being counted
            self._note_mask(index)
        self._call(self.gpu.write, (self, index, value), {})

    def _note_mask(self, index):
        """How many elements a mask takes is known only to the device: asking it is a wait."""
        if any(
            isinstance(i, DeviceArray) and i.dtype == bool
            for i in (index if index.__class__ is tuple else (index,))
        ):
            self._wait("mask")

    def __len__(self):
        return len(self.raw)

    def __iter__(self):
        return (self[k] for k in range(len(self.raw)))

    # -- what it is --------------------------------------------------------
    shape = property(
        lambda self: self.raw.shape, lambda self, value: setattr(self.raw, "shape", value)
    )
    dtype = property(lambda self: self.raw.dtype)
    ndim = property(lambda self: self.raw.ndim)
    size = property(lambda self: self.raw.size)
    itemsize = property(lambda self: self.raw.itemsize)
    nbytes = property(lambda self: self.raw.nbytes)
    strides = property(lambda self: self.raw.strides)
    flags = property(lambda self: Flags(self.raw.flags))
    T = property(lambda self: self._close(self.raw.T))
    mT = property(lambda self: self._close(self.raw.mT))
    real = property(
        lambda self: self._close(self.raw.real),
        lambda self, value: self.real.__setitem__(..., value),
    )
    imag = property(
        lambda self: self._close(self.raw.imag),
        lambda self, value: self.imag.__setitem__(..., value),
    )

    @property
    def device(self):
        """The number of the device, as its ``id``."""
        return self.gpu.device(self.index)

    @property
    def owner(self):
        """The array that owns the memory under this one."""
        return self if self._root is None else self._root

    @property
    def base(self):
        """The owner of the memory of a view, None for an array that owns its own."""
        root = self._root
        return None if root is None or root.raw is self.raw else root

    @property
    def pointer(self):
        """Address of the first element on the device."""
        return self.gpu.pointer(self.raw)

    # -- what waits for the device -----------------------------------------
    def get(self):
        """A copy on the host; waits until the device has computed it."""
        return self._wait("copy").download(self.raw)

    def item(self):
        """The one element as a Python number."""
        return self._wait("item").download(self.raw).item()

    def tolist(self):
        """Nested lists of Python numbers."""
        return self._wait("tolist").download(self.raw).tolist()

    def tobytes(self, order="C"):
        """The elements as bytes."""
        return self._wait("tobytes").download(self.raw).tobytes(order)

    def _wait(self, what):
        self.gpu.synchronised(what)
        return self.gpu

    def __bool__(self):
        return bool(self._wait("bool").download(self.raw))

    def __int__(self):
        return int(self._wait("item").download(self.raw))

    def __float__(self):
        return float(self._wait("item").download(self.raw))

    def __complex__(self):
        return complex(self._wait("item").download(self.raw))

    def __repr__(self):
        return f"device_array({self._wait('print').download(self.raw)!r}, cuda:{self.index})"

    def __array__(self, dtype=None, copy=None):
        """Only a host array that meets this one asks: it would be an unseen copy."""
        refuse_mixture("cpu", f"cuda:{self.index}")

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()


def fuse(kernel, *operands):
    """``kernel(m, *operands)`` as one kernel of the library whose arrays are among the operands."""
    first = next(x for x in operands if isinstance(x, DeviceArray))
    return first.fused(kernel, operands)


def _started(reduction, ufunc, initial):
    """A reduction that begins with ``initial``."""

    def reduce(array, axis=0, keepdims=False):
        if not array.size:
            array = array.sum(axis=axis, keepdims=keepdims)  # of nothing: only its shape is wanted
            array.fill(initial)
            return array
        return ufunc(reduction(array, axis=axis, keepdims=keepdims), array.dtype.type(initial))

    return reduce


def _scan(ufunc):
    """``ufunc.accumulate`` in a number of steps that grows with the logarithm of the length."""

    def accumulate(array, axis=0, dtype=None):
        out = array.copy() if dtype is None else array.astype(dtype)
        along = out.swapaxes(0, axis)
        step = 1
        while step < along.shape[0]:
            along[step:] = ufunc(along[:-step], along[step:])
            step *= 2
        return out

    return None if ufunc is None else accumulate


def _method(name):
    def method(self, *args, **kwargs):
        return self._call(self.gpu.method(self.raw, name), args, kwargs)

    method.__name__ = name
    return method


for _name in (
    "all any argmax argmin argpartition argsort astype choose clip compress conj conjugate copy "
    "cumprod cumsum diagonal dot fill flatten mean nonzero partition prod ptp put ravel "
    "repeat reshape round searchsorted sort squeeze std sum swapaxes take trace transpose var view"
).split():
    setattr(DeviceArray, _name, _method(_name))
