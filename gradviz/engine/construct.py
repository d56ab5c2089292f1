"""How a tensor comes from Python data, and the legacy ``Tensor(...)`` constructor."""

from __future__ import annotations

from collections.abc import Mapping, Set

from ..backend import beside, host, xp
from . import dtypes
from .device import like
from .errors import advised, warn_once
from .modes import local, look_closely, state
from .node import INFERENCE, LEAF, new
from .tensor import INFERENCE_GRAD_MESSAGE, Size, Tensor, ready_leaf

GRAD_DTYPE_MESSAGE = "Only Tensors of floating point and complex dtype can require gradients"


def mark(t, requires_grad):
    """Track a new leaf; RuntimeError for a dtype that has no gradient."""
    if requires_grad:
        if t._a.dtype.kind in "biu":
            raise advised(RuntimeError(GRAD_DTYPE_MESSAGE), "integer_grad", dtype=dtypes.of(t._a))
        if t._v is INFERENCE and not (state.special and local.inference):
            raise RuntimeError(INFERENCE_GRAD_MESSAGE)
        t._g = LEAF
        ready_leaf(t)
        if t._v is INFERENCE:
            look_closely()
    return t


def array_of(data, dtype=None, device=None):
    """Nested numbers, arrays or tensors as a new array, in PyTorch's dtype."""
    found = _gathered(data, dtype)
    there = found if device is None and isinstance(data, Tensor) else like(device)
    kind = found.dtype if dtype is None else dtype.np
    return xp.array(beside(found, there), dtype=kind, order="C", like=there)


def _gathered(data, dtype):
    if isinstance(data, Tensor):
        return data._a
    if isinstance(data, (xp.ndarray, xp.generic)):
        dtypes.from_np(data.dtype)
        if any(step < 0 for step in data.strides):
            raise ValueError(BACKWARDS)
        if not data.dtype.isnative:
            raise ValueError(OTHER_ORDER)
        return xp.asarray(data)
    found = _from_nested(data, dtype is None)
    if dtype is not None:
        _check_fits(found, dtype)
    return found


OTHER_ORDER = (
    "given numpy array has byte order different from the native byte order. Conversion between "
    "byte orders is currently not supported."
)
BACKWARDS = (
    "At least one stride in the given numpy array is negative, and tensors with negative strides "
    "are not currently supported. (You can probably work around this by making a copy of your "
    "array  with array.copy().) "
)
_TOO_LONG = "Overflow when unpacking long long"


def _from_nested(data, natural):
    """Nested numbers as an array, in the dtype that PyTorch infers if that is asked for."""
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], xp.ndarray):
        warn_once(_SLOW)
    tensors = []
    plain = _unwrap(data, tensors)
    try:
        found = xp.asarray(plain)
    except ValueError:
        raise _ragged(plain) from None
    except OverflowError:
        raise ValueError(_TOO_LONG) from None
    if natural and found.dtype == xp.uint64 and _leaf(plain).__class__ is int:
        raise ValueError(_TOO_LONG)
    if found.dtype.kind == "O":
        if isinstance(_first_odd(plain), int):
            raise ValueError(_TOO_LONG)
        raise RuntimeError(f"Could not infer dtype of {type(_first_odd(plain)).__name__}")
    if found.dtype.kind in "USM":
        kind = type(_leaf(plain)).__name__
        if isinstance(data, (list, tuple)) and isinstance(_leaf(plain), (str, bytes)):
            raise ValueError(f"too many dimensions '{kind}'")
        raise TypeError(f"new(): invalid data type '{kind}'")
    if tensors and natural:
        return found.astype(_promoted(plain, tensors).np, copy=False)
    return found.astype(_natural(found, plain).np, copy=False) if natural else found


def _check_fits(found, dtype):
    """PyTorch's errors for numbers that ``dtype`` cannot hold."""
    kind = dtype.np.kind
    if found.dtype.kind == "c" and kind in "iuf":
        raise TypeError(
            "must be real number, not complex"
            if kind == "f"
            else "'complex' object cannot be interpreted as an integer"
        )
    if found.dtype.kind not in "iuf" or kind not in "iu" or not found.size:
        return
    most = xp.iinfo(dtype.np).max
    least = -most if kind == "u" else -most - 1
    if not (found.min() >= least and found.max() <= most):
        raise RuntimeError(f"value cannot be converted to type {dtype.name} without overflow")


_PLAIN = frozenset((float, int, bool, complex, str, bytes, xp.ndarray, type(None)))


def _unwrap(data, tensors):
    """``data`` without tensors; the dtypes of those, and of NumPy's numbers, are added to
    ``tensors``.
    """
    if data.__class__ in _PLAIN:
        return data
    if isinstance(data, (list, tuple)):
        return [_unwrap(x, tensors) for x in data]
    if isinstance(data, Tensor):
        return _single(data, tensors)
    if isinstance(data, xp.generic):
        if data.dtype.kind in "biufc":
            tensors.append(dtypes.from_np(data.dtype))
        return data
    if isinstance(data, (xp.ndarray, Mapping, Set)):
        return data
    if hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        return _items(data, tensors)
    if hasattr(data, "__array__") or hasattr(data, "__array_interface__"):
        raise RuntimeError(f"Could not infer dtype of {type(data).__name__}")
    return data


def _single(tensor, tensors):
    """The element of a tensor among numbers, as an array; an error where it has several."""
    if tensor._a.size != 1:
        if tensor._a.dtype.kind in "biu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        raise ValueError("only one element tensors can be converted to Python scalars")
    tensors.append(dtypes.of(tensor._a))
    return host(tensor._a).reshape(())


def _promoted(plain, tensors):
    """The dtype of numbers of which some were tensors or NumPy's, of these dtypes."""
    found, stack = list(tensors), [plain]
    while stack:
        x = stack.pop()
        if isinstance(x, list):
            stack.extend(x)
        elif not isinstance(x, (xp.ndarray, xp.generic)):
            found.append(dtypes.of_scalar(x))
    return dtypes.result_type([(dtype, 0) for dtype in found])


def _items(sequence, tensors):
    """The elements of a sequence that is neither list nor tuple: a range, a series, a buffer."""
    try:
        return [_unwrap(sequence[k], tensors) for k in range(len(sequence))]
    except (KeyError, IndexError):
        raise ValueError(
            f"could not determine the shape of object type '{type(sequence).__name__}'"
        ) from None


_SLOW = (
    "Creating a tensor from a list of numpy.ndarrays is extremely slow. Please consider converting "
    "the list to a single numpy.ndarray with numpy.array() before converting to a tensor."
)


def _natural(found, plain):
    """Python floats take the default dtype, Python ints int64; NumPy numbers keep theirs."""
    kept = dtypes.from_np(found.dtype)
    numpys = isinstance(_leaf(plain), (xp.generic, xp.ndarray))
    if kept.category == 2 and (found.size == 0 or not numpys):
        return dtypes.default.float
    if numpys or kept.category == 0:
        return kept
    return dtypes.default.complex if kept.category == 3 else dtypes.int64


def _leaf(x):
    while isinstance(x, list):
        if not x:
            return 0.0
        x = x[0]
    return x


def _first_odd(x):
    stack = [x]
    while stack:
        item = stack.pop()
        if isinstance(item, list):
            stack.extend(reversed(item))
        elif not isinstance(item, (int, float, complex, bool, xp.generic, xp.ndarray)):
            return item
    return _leaf(x)


def _ragged(x):
    """PyTorch's error for lists that are no rectangle."""
    dim = 1
    while x and isinstance(x[0], _ROWS):
        for row in x:
            if not isinstance(row, _ROWS):
                return TypeError("not a sequence")
            if len(row) != len(x[0]):
                return ValueError(
                    f"expected sequence of length {len(x[0])} at dim {dim} (got {len(row)})"
                )
        x, dim = [item for row in x for item in row], dim + 1
    real = any(isinstance(item, float) for item in x)
    return TypeError(
        "must be real number, not list"
        if real
        else "'list' object cannot be interpreted as an integer"
    )


_ROWS = (list, xp.ndarray)


def full_name(value):
    """The type of a value as PyTorch's errors name it: ``float``, ``numpy.float32``."""
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def legacy_tensor(cls, *args, **kwargs):
    """``Tensor(2, 3)`` (sizes, uninitialised), ``Tensor([1, 2])`` (data, default float),
    ``Tensor()`` (empty), ``Tensor(tensor)`` (the same memory).
    """
    if args and isinstance(args[0], Tensor):
        t = new(cls)
        t._a, t._g, t._v = args[0]._a, None, args[0]._v
        return t
    if len(args) == 1 and isinstance(args[0], (float, bool, xp.floating, xp.bool_)):
        raise TypeError(f"new(): data must be a sequence (got {full_name(args[0])})")
    if len(args) == 1 and not isinstance(args[0], (int, xp.integer, Size)):
        array = array_of(args[0], dtypes.default.float)
    else:
        args = args[0] if len(args) == 1 and isinstance(args[0], Size) else args
        array = xp.zeros(args if args else (0,), dtypes.default.float.np, like=like(None))
    t = new(cls)
    t._a, t._g = array, None
    t._v = INFERENCE if state.special and local.inference else None
    return t
