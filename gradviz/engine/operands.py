"""What an operation is given: tensors or numbers in a common dtype, and the errors when they do not
fit.
"""

from __future__ import annotations

import re

from ..backend import xp
from . import dtypes
from .device import CPU
from .memory_format import cast
from .node import new
from .tensor import Tensor

generic = xp.generic

_numbers = {}


def number(value, dtype):
    """A 0-d tensor of a Python number, kept for reuse: halves the cost of ``tensor * 2``."""
    key = (value, value.__class__, dtype)
    found = _numbers.get(key)
    if found is None or value != value:
        if len(_numbers) > 2048:
            _numbers.clear()
        found = new(Tensor)
        try:
            found._a = xp.array(value, dtype.np)
        except OverflowError:  # as C++ casts a number
            found._a = xp.array(value).astype(dtype.np)
        found._a.flags.writeable = False
        found._g = found._v = None
        own = xp.array(value)
        if own.dtype != found._a.dtype:
            found._converted = as_written = new(Tensor)
            as_written._a, as_written._g, as_written._v = own, None, None
        _numbers[key] = found
    return found


def is_number(x):
    """Whether ``x`` is a Python or NumPy scalar."""
    return isinstance(x, (int, float, complex, generic))


def operands(name, a, b):
    """Two tensors from what the user gave; Python numbers take the dtype that promotion gives
    them.
    """
    if isinstance(a, Tensor):
        if isinstance(b, Tensor):
            return a, b
        if is_number(b):
            return a, number(b, number_dtype(a, b))
        raise _no_operand(name, b)
    if isinstance(b, Tensor) and is_number(a):
        return number(a, number_dtype(b, a)), b
    raise not_a_tensor(name, "input", 1, a)


def wide_operands(name, a, b):
    """As ``operands``, but a number beside half precision stays in single precision: products and
    quotients round once.
    """
    if isinstance(a, Tensor) and is_number(b):
        wanted = number_dtype(a, b)
        return a, number(b, dtypes.float32 if _is_half(wanted) else wanted)
    return operands(name, a, b)


def quotient_operands(name, a, b):
    """As ``wide_operands``, but a number beside whole numbers is the floating-point one that it
    divides as: one that their dtype has not keeps its value.
    """
    if isinstance(a, Tensor) and dtypes.of(a._a).category < 2 and isinstance(b, int):
        return a, number(b, dtypes.default.float)
    return wide_operands(name, a, b)


def promoted_wide(a, b):
    """As ``promoted``, but a single number beside half precision keeps its own."""
    common = common_dtype(a, b)
    if _is_half(common) and b._a.ndim == 0 and b._a.dtype.kind == "f":
        return cast(a._a, common.np), cast(b._a, dtypes.float32.np)
    return promoted(a, b)


def _is_half(dtype):
    return dtype.np.itemsize == 2 and dtype.category == 2


def tensors(name, a, b):
    """Two tensors as the user gave them, PyTorch's TypeError where one is none."""
    if not isinstance(a, Tensor):
        raise not_a_tensor(name, "input", 1, a)
    if not isinstance(b, Tensor):
        raise _no_operand(name, b)
    return a, b


def all_tensors(values):
    """A list of tensors, PyTorch's TypeError where an element is none."""
    for k, x in enumerate(values):
        if not isinstance(x, Tensor):
            raise TypeError(f"expected Tensor as element {k} in argument 0, but got {type_name(x)}")
    return values


def number_dtype(tensor, value):
    """The dtype of a Python number beside ``tensor``; TypeError for what is none."""
    if isinstance(value, generic):
        value = value.item()
    own = dtypes.of(tensor._a)
    if isinstance(value, float):
        return own if own.category >= 2 else dtypes.default.float
    if isinstance(value, bool):
        return own
    if isinstance(value, int):
        return own if own.category >= 1 else dtypes.int64
    if not isinstance(value, complex):
        raise TypeError(f"must be Number, not {type_name(value)}")
    return (
        own
        if own.category == 3
        else own.to_complex()
        if own.category == 2
        else dtypes.default.complex
    )


def promoted(a, b):
    """The arrays of two tensors in their common dtype."""
    common = common_dtype(a, b).np
    ad, bd = a._a, b._a
    return (
        ad if ad.dtype == common else cast(ad, common),
        bd if bd.dtype == common else cast(bd, common),
    )


def common_dtype(*tensors):
    """The promoted dtype of tensors; numbers wrapped by ``number`` count as 0-d of their own
    dtype.
    """
    return dtypes.result_type(
        [(dtypes.of(t._a), 0 if t._a.ndim else 1 if not is_wrapped(t) else 2) for t in tensors]
    )


def is_wrapped(t):
    """Whether ``t`` stands for a Python number."""
    return t._a.ndim == 0 and not t._a.flags.writeable


_TORCH_TYPES = {
    **{name: f"torch.{name}" for name in ("dtype", "layout", "memory_format", "Size")},
    "device": "torch.device",
    "Generator": "torch._C.Generator",
}
_HEAP = 1 << 9  # of types made by Python code: their name has no module


def type_name(value):
    """The type of an argument as PyTorch's messages say it: ``int``, ``numpy.ndarray``."""
    kind = type(value)
    if kind.__module__.partition(".")[0] == _PACKAGE and kind.__name__ in _TORCH_TYPES:
        return _TORCH_TYPES[kind.__name__]
    if kind.__module__ == "builtins" or kind.__flags__ & _HEAP:
        return kind.__name__
    return f"{kind.__module__}.{kind.__name__}"


def _no_operand(name, value):
    """PyTorch's TypeError for what cannot be the operand of a method."""
    from .arguments import refusal

    return refusal(name, (value,), {}, method=True) or not_a_tensor(name, "other", 2, value)


def not_a_tensor(name, argument, position, value):
    """PyTorch's TypeError for an argument that should be a tensor."""
    return TypeError(
        f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
        f"{type_name(value)}"
    )


def broadcast_error(a, b):
    """PyTorch's error for shapes that do not broadcast."""
    n = max(len(a), len(b))
    pa, pb = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    for i in reversed(range(n)):
        if pa[i] != pb[i] and 1 not in (pa[i], pb[i]):
            return RuntimeError(
                f"The size of tensor a ({pa[i]}) must match the size of tensor b ({pb[i]}) at "
                f"non-singleton dimension {i}"
            )
    return RuntimeError(f"shapes {list(a)} and {list(b)} cannot be broadcast")


_NUMPY_OUTPUT = re.compile(r"output operand with shape (\(.*?\)) .* broadcast shape (\(.*?\))")


def together(*tensors):
    """The common shape of tensors that broadcast, PyTorch's RuntimeError where they do not."""
    shape = ()
    for x in tensors:
        try:
            shape = xp.broadcast_shapes(shape, x._a.shape)
        except ValueError:
            raise broadcast_error(shape, x._a.shape) from None
    return shape


_NUMPY_SHAPES = re.compile(r"could not be broadcast together with shapes (\(.*?\)) (\(.*?\))")


def raise_as_shapes(error):
    """Raise PyTorch's error instead of NumPy's where a derivative met shapes that do not fit, as
    after ``x.data = …`` of another size.
    """
    found, whole = _NUMPY_SHAPES.search(str(error)), _NUMPY_OUTPUT.search(str(error))
    if not (found or whole) or not _is_ours(error):
        return
    shapes = [tuple(map(int, re.findall(r"\d+", text))) for text in (found or whole).groups()]
    if found:
        raise broadcast_error(*shapes) from None
    a, b = map(list, shapes)
    raise RuntimeError(f"output with shape {a} doesn't match the broadcast shape {b}") from None


def raise_as_index(error):
    """Raise PyTorch's error instead of NumPy's where an index was changed behind its version."""
    found = _NUMPY_INDEX.search(str(error))
    if found and _is_ours(error):
        index, dim, size = found.groups()
        raise RuntimeError(
            f"index {index} is out of bounds for dimension {dim} with size {size}"
        ) from None


def _is_ours(error):
    """Whether an error was raised by NumPy below a function of this package."""
    step, module = error.__traceback__, ""
    while step is not None:
        name = step.tb_frame.f_globals.get("__name__", "")
        module = module if name.startswith("numpy") else name
        step = step.tb_next
    return module.startswith(_PACKAGE)


_NUMPY_INDEX = re.compile(r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)")
_PACKAGE = __name__.partition(".")[0]


def check_same_device(*tensors):
    """RuntimeError unless all tensors are on one device (0-d CPU tensors go anywhere)."""
    found = None
    for t in tensors:
        d = t.device
        if d is CPU and t._a.ndim == 0:
            continue
        if found is not None and d != found:
            raise RuntimeError(
                "Expected all tensors to be on the same device, but found at least two devices, "
                f"{found} and {d}!"
            )
        found = d


def expands(shape, target):
    """Whether a tensor of one shape broadcasts to another."""
    if len(shape) > len(target):
        return False
    return all(a == b or a == 1 for a, b in zip(reversed(shape), reversed(target), strict=False))


# Of these PyTorch does not take the real part of a gradient for a real input.
_KEEPS_COMPLEX = frozenset(
    "FillBackward1 FillBackward3 MaskedFillBackward1 MaskedFillBackward3 IndexFillBackward1 "
    "IndexFillBackward3 WhereBackward0".split()
)
REAL_INPUT = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be "
    "true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def check_real(node, g):
    """RuntimeError for a complex gradient of a real input where PyTorch does not convert it."""
    if type(node).__name__ in _KEEPS_COMPLEX:
        array = g._a if isinstance(g, Tensor) else g
        if array.dtype.kind == "c":
            raise RuntimeError(REAL_INPUT)
