"""Arrays of ``device("meta")``: shape, dtype and strides, and no numbers.

``raw`` is a NumPy array whose shape and strides reach far beyond the few bytes that it owns. It is
never read: views are taken of it, which only counts strides, and everything else is answered by the
rules below, or by NumPy on arrays of zeros of the same shape. So what an operation makes has the
shape, the dtype and the layout that it would have; what depends on numbers is refused.
"""

from __future__ import annotations

import functools
import itertools
import math
from types import SimpleNamespace

import numpy as np

from .device_array import COUNTING, DeviceArray

NO_DATA = "Cannot copy out of meta tensor; no data!"
NO_ITEM = "Tensor.item() cannot be called on meta tensors"
_GAP = 1 << 12
_addresses = itertools.count(_GAP, _GAP)
_DEVICE = SimpleNamespace(id=None)


class _Functions:
    """The elementwise functions of fused kernels."""

    def __getattr__(self, name):
        if hasattr(np, name):
            return getattr(np, name)
        import scipy.special

        return getattr(scipy.special, name)


_FUNCTIONS = _Functions()


def ghost(shape, dtype, strides=None):
    """A NumPy array of that form, which must not be read."""
    few = np.zeros(1, dtype)
    if strides is None:
        strides = dense(shape, few.itemsize)
    return np.lib.stride_tricks.as_strided(few, shape, strides)


def dense(shape, itemsize, order=None):
    """Strides in bytes without gaps, the dimensions in this order from the farthest apart."""
    out, step = [0] * len(shape), itemsize
    for d in reversed(range(len(shape)) if order is None else order):
        out[d] = step
        step *= max(shape[d], 1)
    return tuple(out)


def fresh(shape, dtype, order=None):
    """An array of that form on memory of its own, row by row unless ``order`` is given."""
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(int(n) for n in shape)
    dtype = np.dtype(dtype)
    return MetaArray(ghost(shape, dtype, dense(shape, dtype.itemsize, order)))


def upload(array):
    """The form of a host array: its strides too where it has no gaps."""
    if isinstance(array, MetaArray):
        return array
    array = np.asarray(array)
    return fresh(array.shape, array.dtype, _order(array))


def _order(array):
    """The dimensions of ``array`` from the farthest apart in memory."""
    if array.flags.c_contiguous or 0 in array.strides:
        return None
    return sorted(range(array.ndim), key=lambda d: -abs(array.strides[d]))


def _shaped(shape, dtype, operands):
    """A result as NumPy lays it out: as the first operand of its shape that is not row by row."""
    like = next((x for x in operands if x.shape == shape and x.ndim > 1), None)
    return fresh(shape, dtype, None if like is None else _order(like))


class MetaArray(DeviceArray):
    """An array without numbers; all views of one memory know the same ``root``."""

    __slots__ = ("address",)

    def __init__(self, raw, root=None):
        self.raw, self.index, self._root = raw, None, root
        if root is None:
            size = max(raw.nbytes, 1)
            self.address = next(_addresses) << 40 if size > _GAP else next(_addresses)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)  # protocols by which NumPy would look for numbers
        raise NotImplementedError(f"ndarray.{name} is not implemented for meta tensors")

    def _view(self, raw):
        return MetaArray(raw, self.owner)

    # -- what NumPy's functions do with it --------------------------------
    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        _check_places(inputs)
        outs = kwargs.pop("out", None)
        if method == "at":
            return None
        kwargs.pop("where", None)
        if method == "__call__":
            found = _elementwise(ufunc, inputs, kwargs)
        elif method == "reduce":
            kwargs.setdefault("axis", 0)
            found = _reduced(ufunc.reduce, *inputs, **kwargs)
        elif method == "accumulate":
            dtype = ufunc.accumulate(_one(inputs[0], 1), 0, kwargs.get("dtype")).dtype
            found = fresh(inputs[0].shape, dtype)
        else:
            found = close(getattr(ufunc, method)(*map(stand_in, inputs), **kwargs))
        return found if outs is None or outs[0] is None else outs[0]

    def __array_function__(self, func, types, args, kwargs):
        name = func.__name__
        if name in COUNTING:
            refuse(name)
        rule = RULES.get(name)
        if rule is not None:
            return rule(*args, **kwargs)
        _check_places(args)
        given = map(_unit, args) if "linalg" in func.__module__ else opened(args)
        return close(func(*given, **opened(kwargs)))

    def _call(self, function, args, kwargs, uploads=False):
        return close(function(*opened(args), **opened(kwargs)))

    def fused(self, kernel, operands):
        """``kernel`` of ``operands``, step by step."""
        return kernel(_FUNCTIONS, *operands)

    def strided(self, shape, strides):
        """A window on the memory with these sizes and strides in bytes."""
        return self._view(np.lib.stride_tricks.as_strided(self.raw, shape, strides))

    # -- parts ---------------------------------------------------------------
    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        if any(isinstance(i, MetaArray) and i.dtype == bool for i in index):
            refuse("nonzero")
        if any(isinstance(i, (list, np.ndarray, MetaArray)) for i in index):
            return close(stand_in(self)[opened(index)])
        if not any(i is Ellipsis for i in index):
            index = (*index, ...)  # of one element too it is a view
        return self._view(self.raw[index])

    def __setitem__(self, index, value):
        if getattr(value, "ndim", 0):
            np.broadcast_shapes(self[index].shape, np.shape(value))

    def __len__(self):
        return len(self.raw)

    # -- what it is ----------------------------------------------------------
    shape = property(
        lambda self: self.raw.shape, lambda self, value: setattr(self.raw, "shape", value)
    )
    T = property(lambda self: self._view(self.raw.T))
    mT = property(lambda self: self._view(self.raw.mT))
    real = property(lambda self: self._view(self.raw.real), lambda self, value: None)
    imag = property(lambda self: self._view(self.raw.imag), lambda self, value: None)
    device = property(lambda self: _DEVICE)

    @property
    def base(self):
        """The owner of the memory of a view, None for an array that owns its own."""
        return self._root

    @property
    def pointer(self):
        """Where it would lie: a number that no other memory has."""
        root = self.owner
        return root.address + _address(self.raw) - _address(root.raw)

    def reshape(self, *shape, order="C"):
        """Another shape: a view where the strides allow it."""
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        shape = np.empty(self.shape, np.dtype([])).reshape(shape).shape  # nothing a row: no memory
        view = self.raw[...]
        try:
            view.shape = shape
        except AttributeError:
            return fresh(shape, self.dtype)
        return self._view(view)

    def ravel(self, order="C"):
        """One dimension."""
        return self.reshape(-1)

    def astype(self, dtype, order="K", copy=True, **_):
        """Another dtype; itself where that is its own and no copy is wanted."""
        if not copy and np.dtype(dtype) == self.dtype:
            return self
        return fresh(self.shape, dtype, None if order == "C" else _order(self.raw))

    def copy(self, order="C"):
        """The same form on memory of its own."""
        return fresh(self.shape, self.dtype, _order(self.raw) if order in "KA" else None)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return self.copy("K")

    def conj(self):
        """The same form on memory of its own."""
        return self.copy("K")

    conjugate = conj

    def flatten(self, order="C"):
        """One dimension on memory of its own."""
        return fresh((self.size,), self.dtype)

    def fill(self, value):
        """Nothing is written."""

    def sort(self, *args, **kwargs):
        """Nothing is written."""

    put = partition = sort

    def diagonal(self, *args, **kwargs):
        """A view of a diagonal."""
        return self._view(np.diagonal(self.raw, *args, **kwargs))

    def dot(self, other):
        """A product of matrices or vectors."""
        return _matmul(self, other)

    # -- what needs numbers ----------------------------------------------------
    def get(self, *_):
        """NotImplementedError: there is nothing to copy."""
        raise NotImplementedError(NO_DATA)

    tolist = tobytes = get

    def item(self, *_):
        """RuntimeError: there is no number."""
        raise RuntimeError(NO_ITEM)

    __bool__ = __int__ = __float__ = __complex__ = __index__ = item

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("Tensor on device meta is not on the expected device cpu!")

    def __repr__(self):
        return f"meta_array({self.shape}, {self.dtype})"


def _view_method(name):
    def method(self, *args, **kwargs):
        return self._view(getattr(self.raw, name)(*args, **kwargs))

    return method


for _name in ("swapaxes", "transpose", "squeeze", "view"):
    setattr(MetaArray, _name, _view_method(_name))


def _method(name):
    def method(self, *args, **kwargs):
        return close(getattr(stand_in(self), name)(*opened(args), **opened(kwargs)))

    return method


for (
    _name
) in "argpartition argsort choose clip cumprod cumsum repeat round searchsorted take trace".split():
    setattr(MetaArray, _name, _method(_name))


def _reducing_method(reduction):
    return lambda self, *args, **kwargs: _reduced(reduction, self, *args, **kwargs)


for _name in "all any argmax argmin max mean min prod ptp std sum var".split():
    setattr(MetaArray, _name, _reducing_method(getattr(np, _name)))


# ---------------------------------------------------------------- numbers that stand in
def stand_in(x):
    """Zeros of the form of ``x``, one number for all; anything else itself."""
    if not isinstance(x, MetaArray):
        return x
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _unit(x):
    """A matrix, or a batch of matrices, that can be inverted; anything else as ``stand_in``."""
    if not isinstance(x, MetaArray) or x.ndim < 2:
        return opened(x)
    return np.broadcast_to(np.eye(*x.shape[-2:], dtype=x.dtype), x.shape)


def _one(x, ndim=None):
    """One element of the dtype of ``x``; anything else itself."""
    if not isinstance(x, (MetaArray, np.ndarray)):
        return x
    return np.ones((1,) * (x.ndim if ndim is None else ndim), x.dtype)


def opened(x):
    """``x`` with zeros in the place of arrays that have no numbers, also within lists and dicts."""
    if x.__class__ in (tuple, list):
        return x.__class__(map(opened, x))
    if x.__class__ is dict:
        return {name: opened(value) for name, value in x.items()}
    return stand_in(x)


def close(found):
    """What NumPy gave for such zeros, as arrays without numbers."""
    if isinstance(found, (np.ndarray, np.generic)):
        return upload(found)
    if isinstance(found, (tuple, list)):
        return tuple(map(close, found))
    return found


def refuse(name):
    """NotImplementedError: what operator ``name`` gives depends on numbers."""
    if name in COUNTING and name != "unique":
        raise NotImplementedError(
            "The register_meta function for torch.nonzero() raises unimplemented by default, as a "
            "correct data-independent implementation does not exist."
        )
    raise NotImplementedError(
        f"aten::{_OPERATORS.get(name, name)}: attempted to run this operator with Meta tensors, "
        "but there was no fake impl or Meta kernel registered."
    )


_OPERATORS = {"unique": "_unique2"}


def _check_places(operands):
    """RuntimeError unless all lie here; single numbers of the host may be among them."""
    expected = None
    for x in operands:
        if isinstance(x, DeviceArray) or (isinstance(x, np.ndarray) and x.ndim):
            place = "meta" if isinstance(x, MetaArray) else "cpu"
            if expected not in (None, place):
                raise RuntimeError(
                    f"Tensor on device {place} is not on the expected device {expected}!"
                )
            expected = place


def _address(raw):
    return raw.__array_interface__["data"][0]


# ---------------------------------------------------------------- rules
def _elementwise(ufunc, inputs, kwargs):
    if ufunc.signature is not None:
        return _matmul(*inputs)
    arrays = [x for x in inputs if isinstance(x, (MetaArray, np.ndarray))]
    shape = np.broadcast_shapes(*(x.shape for x in arrays))
    found = ufunc(*[_one(x) for x in inputs], **kwargs)
    if isinstance(found, tuple):
        return tuple(_shaped(shape, x.dtype, arrays) for x in found)
    return _shaped(shape, found.dtype, arrays)


def _reduced(reduction, x, axis=None, dtype=None, out=None, keepdims=False, **kwargs):
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = {a % x.ndim if x.ndim else a for a in axes}
    if dtype is not None:
        kwargs["dtype"] = dtype
    few = np.ones([n and 1 for n in x.shape], x.dtype)
    made = np.asarray(reduction(few, axis=axis, **kwargs))
    shape = [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]
    return fresh(shape, made.dtype)


def _matmul(a, b, out=None, **_):
    _check_places((a, b))
    dtype = np.matmul(np.ones((1, 1), a.dtype), np.ones((1, 1), b.dtype)).dtype
    rows = () if a.ndim == 1 else a.shape[-2:-1]
    columns = () if b.ndim == 1 else b.shape[-1:]
    if a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        raise ValueError(f"shapes {a.shape} and {b.shape} not aligned")
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return fresh((*batch, *rows, *columns), dtype) if out is None else out


def _tensordot(a, b, axes=2):
    _check_places((a, b))
    if isinstance(axes, int):
        axes = range(a.ndim - axes, a.ndim), range(axes)
    mine, theirs = (
        [k % x.ndim for k in ([d] if isinstance(d, int) else d)]
        for x, d in zip((a, b), axes, strict=True)
    )
    kept = [n for d, n in enumerate(a.shape) if d not in mine]
    kept += [n for d, n in enumerate(b.shape) if d not in theirs]
    return fresh(kept, np.result_type(a.dtype, b.dtype))


def _of_shape(shape, *value, dtype=float, order="C", **_):
    """zeros, ones, empty: (shape, dtype)."""
    return fresh(shape, value[0] if value else dtype)


def _full(shape, fill_value, dtype=None, **_):
    return fresh(shape, np.asarray(fill_value).dtype if dtype is None else dtype)


def _like(prototype, *value, dtype=None, order="K", shape=None, **_):
    """zeros_like, ones_like, empty_like: (prototype, dtype)."""
    wanted = value[0] if value and value[0] is not None else dtype or prototype.dtype
    if shape is not None and tuple(np.atleast_1d(shape)) != prototype.shape:
        return fresh(shape, wanted)
    return fresh(prototype.shape, wanted, _order(prototype) if order == "K" else None)


def _full_like(prototype, fill_value, dtype=None, **more):
    return _like(prototype, dtype, **more)


def _array(obj, dtype=None, *, copy=True, order="K", **_):
    """array, asarray and the like: numbers of the host have a form only."""
    found = obj if isinstance(obj, (MetaArray, np.ndarray)) else np.asarray(opened(obj))
    if isinstance(obj, MetaArray) and dtype in (None, obj.dtype) and not copy:
        return obj
    return fresh(
        found.shape,
        found.dtype if dtype is None else dtype,
        None if order == "C" else _order(found),
    )


def _contiguous(a, dtype=None, **_):
    if not isinstance(a, MetaArray) or not a.flags.c_contiguous:
        return fresh(np.shape(a), dtype or a.dtype)
    return a


def _arange(*given, dtype=None, **_):
    found = np.arange(0, dtype=dtype) if dtype is not None else np.arange(*[x * 0 for x in given])
    start, stop, step = (0, *given, 1) if len(given) == 1 else (*given, 1)[:3]
    return fresh((max(math.ceil((stop - start) / step), 0),), found.dtype)


def _joined(arrays, axis=0, out=None, dtype=None, **_):
    _check_places(arrays)
    first = arrays[0]
    for x in arrays:
        if [n for d, n in enumerate(x.shape) if d != axis % first.ndim] != [
            n for d, n in enumerate(first.shape) if d != axis % first.ndim
        ]:
            raise ValueError("dimensions other than that of the concatenation must match")
    shape = list(first.shape)
    shape[axis] = sum(x.shape[axis] for x in arrays)
    return fresh(shape, dtype or np.result_type(*(x.dtype for x in arrays)))


def _stacked(arrays, axis=0, out=None, dtype=None, **_):
    arrays = list(arrays)
    _check_places(arrays)
    if any(x.shape != arrays[0].shape for x in arrays):
        raise ValueError("all input arrays must have the same shape")
    shape = list(arrays[0].shape)
    shape.insert(axis if axis >= 0 else axis + len(shape) + 1, len(arrays))
    return fresh(shape, dtype or np.result_type(*(x.dtype for x in arrays)))


def _where(condition, *chosen):
    if not chosen:
        refuse("nonzero")
    _check_places((condition, *chosen))
    operands = (condition, *chosen)
    shape = np.broadcast_shapes(*(np.shape(x) for x in operands))
    return _shaped(
        shape,
        np.where(True, *[_one(x, 0) for x in chosen]).dtype,
        [x for x in operands if isinstance(x, MetaArray)],
    )


def _copyto(dst, src, **_):
    np.broadcast_shapes(dst.shape, np.shape(src))


def _as_view(function):
    """A function that only takes views: of memory that is not read it can."""

    def rule(a, *args, **kwargs):
        return a._view(function(a.raw, *args, **kwargs))

    return rule


RULES = {
    "dot": _matmul,
    "matmul": _matmul,
    "tensordot": _tensordot,
    "zeros": _of_shape,
    "ones": _of_shape,
    "empty": _of_shape,
    "full": _full,
    "zeros_like": _like,
    "ones_like": _like,
    "empty_like": _like,
    "full_like": _full_like,
    "array": _array,
    "asanyarray": functools.partial(_array, copy=False),
    "asarray": functools.partial(_array, copy=False),
    "ascontiguousarray": _contiguous,
    "arange": _arange,
    "concatenate": _joined,
    "stack": _stacked,
    "where": _where,
    "copyto": _copyto,
    "copy": lambda a, order="K", **_: a.copy(order),
    "reshape": lambda a, shape, **_: a.reshape(shape),
    "ravel": lambda a, order="C": a.ravel(),
    "putmask": lambda *_: None,
    "place": lambda *_: None,
    "put_along_axis": lambda *_, **__: None,
    "fill_diagonal": lambda *_, **__: None,
    "iscomplexobj": lambda x: x.dtype.kind == "c",
    "shape": lambda a: a.shape,
    "ndim": lambda a: a.ndim,
    "size": lambda a: a.size,
    "may_share_memory": lambda a, b, **_: getattr(a, "owner", a) is getattr(b, "owner", b),
    "broadcast_arrays": lambda *args, **_: tuple(
        a._view(np.broadcast_to(a.raw, np.broadcast_shapes(*map(np.shape, args))))
        if isinstance(a, MetaArray)
        else np.broadcast_to(a, np.broadcast_shapes(*map(np.shape, args)))
        for a in args
    ),
    **{
        name: functools.partial(_reduced, getattr(np, name))
        for name in (
            "all any amax amin argmax argmin max mean median min nanmax nanmean nanmin nanprod "
            "nansum prod ptp std sum var count_nonzero"
        ).split()
    },
    **{
        function.__name__: _as_view(function)
        for function in (
            np.transpose,
            np.swapaxes,
            np.moveaxis,
            np.rollaxis,
            np.broadcast_to,
            np.expand_dims,
            np.squeeze,
            np.diagonal,
            np.flip,
            np.real,
            np.imag,
            np.matrix_transpose,
            np.lib.stride_tricks.as_strided,
            np.lib.stride_tricks.sliding_window_view,
        )
    },
}
ANCHOR = fresh((0,), np.float32)
