"""PyTorch's dtypes over NumPy's, and PyTorch's rules of promotion."""

from __future__ import annotations

import functools

from ..backend import xp


class dtype:
    """A PyTorch dtype, such as ``gradviz.float32``. ``np`` is the array dtype that stores it."""

    __module__ = "gradviz"
    __slots__ = (
        "_np",
        "category",
        "is_complex",
        "is_floating_point",
        "itemsize",
        "name",
        "rank",
        "type_name",
    )

    def __init__(self, name, itemsize, category, rank, type_name, np=None):
        self.name = name
        self.itemsize = itemsize
        self.category = category  # 0 bool, 1 integer, 2 floating, 3 complex
        self.rank = rank
        self.type_name = type_name  # FloatTensor …, as error messages say it
        self.is_floating_point = category == 2
        self.is_complex = category == 3
        self._np = np

    @property
    def np(self):
        if self._np is None:
            self._np = _bfloat16()
        return self._np

    @property
    def is_signed(self):
        return self.name not in ("uint8", "uint16", "uint32", "uint64", "bool")

    def to_real(self):
        return {"complex64": float32, "complex128": float64}.get(self.name, self)

    def to_complex(self):
        return {"float64": complex128, "complex128": complex128}.get(self.name, complex64)

    def __repr__(self):
        return f"torch.{self.name}"

    def __reduce__(self):
        return (_named, (self.name,))


def _bfloat16():
    import ml_dtypes

    found = xp.dtype(ml_dtypes.bfloat16)
    _BY_NP[found] = bfloat16
    return found


def _named(name):
    return _BY_NAME[name]


_ROWS = [
    ("bool", 1, 0, 0, "BoolTensor", xp.bool_),
    ("uint8", 1, 1, 1, "ByteTensor", xp.uint8),
    ("int8", 1, 1, 1, "CharTensor", xp.int8),
    ("int16", 2, 1, 2, "ShortTensor", xp.int16),
    ("int32", 4, 1, 3, "IntTensor", xp.int32),
    ("int64", 8, 1, 4, "LongTensor", xp.int64),
    ("uint16", 2, 1, 2, "UInt16Tensor", xp.uint16),
    ("uint32", 4, 1, 3, "UInt32Tensor", xp.uint32),
    ("uint64", 8, 1, 4, "UInt64Tensor", xp.uint64),
    ("float16", 2, 2, 5, "HalfTensor", xp.float16),
    ("bfloat16", 2, 2, 5, "BFloat16Tensor", None),
    ("float32", 4, 2, 6, "FloatTensor", xp.float32),
    ("float64", 8, 2, 7, "DoubleTensor", xp.float64),
    ("complex64", 8, 3, 8, "ComplexFloatTensor", xp.complex64),
    ("complex128", 16, 3, 9, "ComplexDoubleTensor", xp.complex128),
]
_BY_NAME = {
    name: dtype(name, size, cat, rank, tn, None if np is None else xp.dtype(np))
    for name, size, cat, rank, tn, np in _ROWS
}
_BY_NP = {d._np: d for d in _BY_NAME.values() if d._np is not None}

bool_ = _BY_NAME["bool"]
uint8, int8, int16, int32, int64 = (
    _BY_NAME[n] for n in ("uint8", "int8", "int16", "int32", "int64")
)
uint16, uint32, uint64 = (_BY_NAME[n] for n in ("uint16", "uint32", "uint64"))
float16, bfloat16, float32, float64 = (
    _BY_NAME[n] for n in ("float16", "bfloat16", "float32", "float64")
)
complex64, complex128 = _BY_NAME["complex64"], _BY_NAME["complex128"]

ALIASES = {
    "half": float16,
    "float": float32,
    "double": float64,
    "short": int16,
    "int": int32,
    "long": int64,
    "cfloat": complex64,
    "cdouble": complex128,
    "bool": bool_,
}
PUBLIC = {**_BY_NAME, **ALIASES}
# Python's own types, where a dtype is asked for
PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}


def of(array):
    """The dtype of an array."""
    return from_np(array.dtype)


def tensor_name(array):
    """The kind of a tensor as old error messages say it: ``torch.FloatTensor``."""
    found = of(array)
    if found.is_complex or found.name in ("bool", "bfloat16"):
        return f"CPU{found.type_name.removesuffix('Tensor')}Type"
    return f"torch.{found.type_name}"


_C_NAMES = {
    "float32": "float",
    "float64": "double",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
    "complex64": "c10::complex<float>",
    "complex128": "c10::complex<double>",
    "int64": "long int",
    "int32": "int",
    "int16": "short int",
    "int8": "signed char",
    "uint8": "unsigned char",
}


def c_name(dtype):
    """A dtype as C++ names it: ``long int``, ``c10::Half``."""
    return _C_NAMES.get(dtype.name, dtype.name)


_FIXED = {"int64": "int64_t", "int16": "int16_t", "int8": "int8_t", "uint8": "uint8_t"}


def held(value, np_dtype):
    """A number as an element of an array dtype; RuntimeError where that cannot hold it. As in
    PyTorch a negative number wraps around in an unsigned dtype.
    """
    kind = np_dtype.kind
    try:
        if kind in "fVui" and isinstance(value, complex) and value.imag:
            raise OverflowError
        if kind != "c" and isinstance(value, complex) and not value.imag:
            value = value.real
        if kind == "u" and -xp.iinfo(np_dtype).max <= value < 0:
            return xp.asarray(value).astype(np_dtype)[()]
        found = np_dtype.type(value)
        if kind != "f" or xp.isfinite(found) or not xp.isfinite(value):
            return found
    except (OverflowError, TypeError, ValueError):
        pass
    own = from_np(np_dtype)
    name = _FIXED.get(own.name, c_name(own))
    raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def by_type_name(name):
    """The dtype that an older name such as FloatTensor stands for, None for another text."""
    return next((d for d in _BY_NAME.values() if d.type_name == name), None)


def from_np(np_dtype):
    """The PyTorch dtype of a NumPy dtype; TypeError where PyTorch has none."""
    found = _BY_NP.get(np_dtype)
    if found is None:
        if str(np_dtype) == "bfloat16":
            return _BY_NP[bfloat16.np]
        found = _BY_NP.get(xp.dtype(np_dtype).newbyteorder("="))
    if found is None:
        raise TypeError(
            "can't convert np.ndarray of type "
            f"{np_dtype.type.__module__}.{np_dtype.type.__name__}. The only supported "
            "types are: float64, float32, float16, complex64, complex128, int64, int32, int16, "
            "int8, uint64, uint32, "
            "uint16, uint8, and bool."
        )
    return found


class _Default:
    __slots__ = ("complex", "float")

    def __init__(self):
        self.float = float32
        self.complex = complex64


default = _Default()


def set_default_dtype(d):
    """Set the dtype of Python floats; TypeError for a dtype that is not floating."""
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, but got {d}")
    default.float = d
    default.complex = d.to_complex()


def get_default_dtype():
    """The dtype that Python floats take."""
    return default.float


@functools.lru_cache(maxsize=512)
def promote_types(a, b):
    """The smallest dtype to which both convert, as PyTorch's table has it."""
    if a is b:
        return a
    if a.category != b.category:
        low, high = (a, b) if a.category < b.category else (b, a)
        if high.is_complex and low is float64:
            return complex128
        return high
    if a.category == 1:
        return _promote_integers(a, b)
    if {a.name, b.name} == {"float16", "bfloat16"}:
        return float32
    return a if a.rank >= b.rank else b


def _promote_integers(a, b):
    if a.is_signed == b.is_signed:
        return a if a.rank >= b.rank else b
    unsigned, signed = (b, a) if a.is_signed else (a, b)
    if unsigned.name in ("uint16", "uint32", "uint64"):
        raise RuntimeError(
            "Promotion for uint16, uint32, uint64 types is not supported, attempted to promote "
            f"{_scalar_name(a)} and {_scalar_name(b)}"
        )
    return signed if signed.rank > unsigned.rank else _BY_NAME[{1: "int16"}[unsigned.rank]]


_SCALAR_NAMES = {
    "bool": "Bool",
    "uint8": "Byte",
    "int8": "Char",
    "int16": "Short",
    "int32": "Int",
    "int64": "Long",
    "uint16": "UInt16",
    "uint32": "UInt32",
    "uint64": "UInt64",
    "float16": "Half",
    "bfloat16": "BFloat16",
    "float32": "Float",
    "float64": "Double",
    "complex64": "ComplexFloat",
    "complex128": "ComplexDouble",
}


def _scalar_name(d):
    return _SCALAR_NAMES[d.name]


def scalar_name(d):
    """The name that PyTorch's messages use: Float, Long, ComplexFloat …"""
    return _SCALAR_NAMES[d.name]


def of_scalar(value):
    """The dtype that a Python number takes alone."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    if isinstance(value, complex):
        return default.complex
    return default.float


def can_cast(source, target):
    """Whether PyTorch writes ``source`` into ``target`` in place (never to a lower category)."""
    return source.category <= target.category and not (source.category > 0 and target.category == 0)


# Three priorities: tensors with dimensions, then 0-d tensors, then Python numbers (PyTorch's tensor
# attributes page).
def result_type(entries):
    """The promoted dtype of ``entries``: pairs (dtype, priority) with priority 0 dimensioned, 1
    zero-dim, 2 number.
    """
    best = [None, None, None]
    for d, priority in entries:
        best[priority] = d if best[priority] is None else promote_types(best[priority], d)
    return _combine(best[0], _combine(best[1], best[2]))


def _combine(high, low):
    """A lower priority raises the category but never the width."""
    if high is None or low is None:
        return high or low
    if high.is_complex:
        return high
    if high.is_floating_point:
        return high.to_complex() if low.is_complex else high
    if high.category == 0 or low.category >= 2:
        return promote_types(high, low)
    return high
