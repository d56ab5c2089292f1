"""Functions of one tensor and comparisons: name, forward, derivative, formula."""

from __future__ import annotations

import operator

from ..backend import xp
from ..backend.fast import LARGE, elementwise
from ..engine import dispatch
from ..engine.dispatch import Tensor
from ..engine.memory_format import copied
from ..engine.modes import is_recording
from ..engine.operands import operands, promoted, tensors
from ..engine.operation import RAW, TENSOR
from ..engine.views import check_inplace, rename_in_place, write
from .casting import _conj, _floating, _sign, floating
from .declare import (
    FUNCTIONS,
    alias,
    binary,
    declare,
    method,
    only_method,
    public,
    unary,
)
from .out import write_out

ndarray = xp.ndarray


# ---------------------------------------------------------------- functions of one tensor
def _quiet(function):
    """A ufunc that says nothing about NaN, infinity or overflow."""
    inner = _floating(function)

    def forward(x):
        with xp.errstate(all="ignore"):
            return inner(x)

    return forward


class _Zeros(dict):
    """A 0-d zero a dtype: comparing with it is faster than with a Python number."""

    def __missing__(self, dtype):
        if dtype.kind == "b":
            raise RuntimeError("Boolean inputs not supported for relu")
        if dtype.kind == "c":
            raise NotImplementedError("clamp is not supported for complex types")
        self[dtype] = found = xp.zeros((), dtype)
        return found


_zeros = _Zeros()


_maximum, _exponential, _not = xp.maximum, xp.exp, xp.logical_not
_SINGLE = xp.dtype(xp.float32)
_zero = _zeros[_SINGLE]


_LINE = 4096


def _relu(x):
    if x.size > 2 * _LINE and x.__class__ is ndarray and x.flags.c_contiguous:
        return _relu_lines(x)
    return _maximum(x, _zero if x.dtype is _SINGLE else _zeros[x.dtype])


def _relu_lines(x):
    """The same, compared with lines of zeros: NumPy is faster on two arrays than on one number."""
    zero = _zeros[x.dtype]
    out = xp.empty_like(x)
    n = x.size - x.size % _LINE
    flat, target = x.reshape(-1), out.reshape(-1)
    lines = xp.zeros(_LINE, x.dtype)
    xp.maximum(flat[:n].reshape(-1, _LINE), lines, out=target[:n].reshape(-1, _LINE))
    xp.maximum(flat[n:], zero, out=target[n:])
    return out


def _exp(x):
    if x.dtype is _SINGLE and x.size < LARGE:
        return _exponential(x)
    if x.size >= LARGE and (found := elementwise("exp", x)) is not None:
        return found
    return _exponential(floating(x))


exp = unary("exp", _exp, formula="g · result", self=lambda F, g, result: g * result.conj())


_AS_INTEGERS = {size: xp.dtype(f"i{size}") for size in (2, 4, 8)}
_ONES = {size: xp.ones((), kind) for size, kind in _AS_INTEGERS.items()}


def _pass_positive(g, result):
    """``g`` where ``result`` is not ≤ 0: exactly 0 elsewhere, also for an infinite ``g``."""
    plain = g.ndim and g.__class__ is ndarray
    if plain and g.size > 1024 and g.flags.c_contiguous and result.flags.c_contiguous:
        found = _pass_bits(g, result)
        if found is not None:
            return found
    closed = _not(result)  # a result of relu is never below 0
    if not plain:
        return xp.where(closed, _zeros[g.dtype], g)
    out = g.copy("K")
    out[closed] = _zero if g.dtype is _SINGLE else _zeros[g.dtype]
    return out


def _pass_bits(g, result):
    """The same for large arrays, in integers: the bits of ``g`` times 1, or 0 where ``result`` has
    no bit set. None where a sign bit is set (−0, or a NaN of a division), which this does not tell.
    """
    kind = _AS_INTEGERS[result.itemsize]
    bits = xp.minimum(result.view(kind), _ONES[result.itemsize])
    if xp.minimum.reduce(bits, None) < 0:
        return None
    return xp.multiply(bits, g.view(kind), out=bits).view(g.dtype)


threshold_backward = declare(
    "threshold_backward",
    _pass_positive,
    "grad_output self",
    node="ThresholdBackwardBackward0",
    also={"threshold": lambda node: 0},
    grad_output=lambda F, g, self: F.threshold_backward(g, self),
    self=lambda F, g: F.zeros_like(g),
)
relu = unary(
    "relu",
    _relu,
    formula="g · [result > 0]",
    self=lambda F, g, result: F.threshold_backward(g, result),
)
_plain_tanh = _floating(xp.tanh)


def _tanh(x):
    if x.size >= LARGE and (found := elementwise("tanh", x)) is not None:
        return found
    return _plain_tanh(x)


tanh = unary(
    "tanh",
    _tanh,
    formula="g · (1 − result²)",
    self=lambda F, g, result: F.tanh_backward(g, result),
)
tanh_backward = declare(
    "tanh_backward",
    lambda g, y: g * _conj(1 - y * y),
    "grad_output output",
    formula="∂g: g · (1 − output²)    ∂output: −2 · g · grad · output",
    grad_output=lambda F, g, output: F.tanh_backward(g, F.conj(output)),
    output=lambda F, g, grad_output, output: F.conj(g) * grad_output * F.conj(output * -2),
)


def _sigmoid(x):
    x = floating(x)
    if x.dtype.kind == "c":
        return 1 / (1 + xp.exp(-x))
    with xp.errstate(over="ignore"):
        e = xp.exp(-x)
    e += x.dtype.type(1)
    return xp.reciprocal(e)


sigmoid = unary(
    "sigmoid",
    _sigmoid,
    formula="g · result · (1 − result)",
    self=lambda F, g, result: F.sigmoid_backward(g, result),
)
sigmoid_backward = declare(
    "sigmoid_backward",
    lambda g, y: g * _conj((1 - y) * y),
    "grad_output output",
    formula="∂g: g · output · (1 − output)    ∂output: g · grad · (1 − 2 output)",
    grad_output=lambda F, g, output: F.sigmoid_backward(g, F.conj(output)),
    output=lambda F, g, grad_output, output: F.conj(g) * grad_output * F.conj(1 - output * 2),
)
log = unary("log", _quiet(xp.log), formula="g / self", self=lambda F, g, self: g / F.conj(self))
log2 = unary(
    "log2",
    _quiet(xp.log2),
    formula="g / (self · ln 2)",
    self=lambda F, g, self: g / F.conj(self * 0.6931471805599453),
)
log10 = unary(
    "log10",
    _quiet(xp.log10),
    formula="g / (self · ln 10)",
    self=lambda F, g, self: g / F.conj(self * 2.302585092994046),
)
log1p = unary(
    "log1p",
    _quiet(xp.log1p),
    node="Log1PBackward0",
    formula="g / (self + 1)",
    self=lambda F, g, self: g / F.conj(self + 1),
)
exp2 = unary(
    "exp2",
    _quiet(xp.exp2),
    formula="g · result · ln 2",
    self=lambda F, g, result: g * F.conj(result) * 0.6931471805599453,
)
expm1 = unary(
    "expm1",
    _quiet(xp.expm1),
    formula="g · (result + 1)",
    self=lambda F, g, result: g * F.conj(result + 1),
)
sqrt = unary(
    "sqrt",
    _quiet(xp.sqrt),
    formula="g / (2 · result)",
    self=lambda F, g, result: g / F.conj(result * 2),
)


def _rsqrt_forward(x):
    with xp.errstate(all="ignore"):
        return 1 / xp.sqrt(x)


def _rsqrt_grad(F, g, result):
    return (g * -0.5) * F.conj(result * result * result if F is RAW else F.pow_scalar(result, 3))


rsqrt = unary(
    "rsqrt",
    _floating(_rsqrt_forward),
    formula="−½ · g · result³",
    self=_rsqrt_grad,
)


def _reciprocal_forward(x):
    with xp.errstate(all="ignore"):
        return 1 / x


reciprocal = unary(
    "reciprocal",
    _floating(_reciprocal_forward),
    formula="−g · result²",
    self=lambda F, g, result: -g * F.conj(result * result),
)
square = unary(
    "square",
    lambda x: x * x if x.dtype != bool else x.astype(xp.int64),
    node="PowBackward0",
    also={"exponent": lambda node: 2},
    formula="2 · g · self",
    self=lambda F, g, self: g * (F.conj(self if F is RAW else F.pow_scalar(self, 1)) * 2),
)
abs_ = unary("abs", xp.abs, formula="g · sgn(self)", self=lambda F, g, self: g * F.sgn(self))


def _abs_in_place(self):
    """In-place ``abs``; RuntimeError for a complex tensor, whose absolute value is real."""
    if self._a.dtype.kind == "c":
        check_inplace(self, is_recording() and self.requires_grad)
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return write(abs_.op, (self,))


_abs_in_place.__name__ = _abs_in_place.__qualname__ = "abs_"
only_method(_abs_in_place, "abs_")
public("abs_", _abs_in_place)


def _sgn_grad(F, g, self, result):
    if (g if F is RAW else g._a).dtype.kind != "c":
        return F.zeros_like(g)
    size = F.abs(self)
    return F.masked_fill(
        (g - result * result * F.conj(g)) / (F.masked_fill(size, size == 0, 1) * 2), size == 0, 0
    )


sgn = unary(
    "sgn",
    lambda x: copied(x) if x.dtype == bool else _sign(x),
    inplace="method",
    self=_sgn_grad,
)
sign = unary(
    "sign",
    lambda x: copied(x) if x.dtype == bool else _sign(x),
    inplace="method",
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
sin = unary(
    "sin", _quiet(xp.sin), formula="g · cos self", self=lambda F, g, self: g * F.conj(F.cos(self))
)
cos = unary(
    "cos", _quiet(xp.cos), formula="−g · sin self", self=lambda F, g, self: g * -F.conj(F.sin(self))
)
tan = unary(
    "tan",
    _quiet(xp.tan),
    formula="g · (1 + result²)",
    self=lambda F, g, result: g * F.conj(F.squared(result) + 1),
)
asin = unary(
    "asin",
    _quiet(xp.arcsin),
    formula="g / √(1 − self²)",
    self=lambda F, g, self: g * F.conj(F.rsqrt(-self * self + 1)),
)
acos = unary(
    "acos",
    _quiet(xp.arccos),
    formula="−g / √(1 − self²)",
    self=lambda F, g, self: g * -F.conj(F.rsqrt(-self * self + 1)),
)
atan = unary(
    "atan",
    _quiet(xp.arctan),
    formula="g / (1 + self²)",
    self=lambda F, g, self: g / F.conj(self * self + 1),
)
sinh = unary(
    "sinh",
    _quiet(xp.sinh),
    formula="g · cosh self",
    self=lambda F, g, self: g * F.conj(F.cosh(self)),
)
cosh = unary(
    "cosh",
    _quiet(xp.cosh),
    formula="g · sinh self",
    self=lambda F, g, self: g * F.conj(F.sinh(self)),
)
asinh = unary(
    "asinh",
    _quiet(xp.arcsinh),
    formula="g / √(self² + 1)",
    self=lambda F, g, self: g * F.conj(F.rsqrt(F.squared(self) + 1)),
)


def _acosh_grad(F, g, self):
    if (self if F is RAW else self._a).dtype.kind == "c":  # the root that belongs to the result
        return g * F.conj(F.rsqrt(self + 1) * F.rsqrt(self - 1))
    return g * F.rsqrt(self * self - 1)


acosh = unary(
    "acosh",
    _quiet(xp.arccosh),
    formula="g / √(self² − 1)",
    self=_acosh_grad,
)
atanh = unary(
    "atanh",
    _quiet(xp.arctanh),
    formula="g / (1 − self²)",
    self=lambda F, g, self: (g * 1 if F is TENSOR else g) / F.conj(1 - F.squared(self)),
)
floor = unary(
    "floor",
    lambda x: xp.floor(x) if x.dtype.kind in "fV" else copied(x),
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
ceil = unary(
    "ceil",
    lambda x: xp.ceil(x) if x.dtype.kind in "fV" else copied(x),
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
trunc = unary(
    "trunc",
    lambda x: xp.trunc(x) if x.dtype.kind in "fV" else copied(x),
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
round_ = unary(
    "round",
    lambda x: xp.round(x) if x.dtype.kind in "fV" else copied(x),
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)
round_decimals = declare(
    "round_decimals",
    lambda x, decimals: xp.round(x, decimals) if x.dtype.kind in "fV" else copied(x),
    "self",
    "decimals",
    node="RoundBackward1",
    formula="0",
    self=lambda F, g: F.zeros_like(g),
)


def _round(input, *, decimals=None, out=None):
    """Elements rounded to the nearest integer, halves to even; or to ``decimals`` digits."""
    result = round_(input) if decimals is None else round_decimals(input, decimals)
    if out is None:
        return result
    return write_out("round", result, out, (input,))


def _round_inplace(self, *, decimals=None):
    """In-place ``round``."""
    return (
        write(round_.op, (self,))
        if decimals is None
        else write(round_decimals.op, (self,), (decimals,))
    )


method(_round, "round")
method(_round_inplace, "round_")
frac = unary("frac", lambda x: x - xp.trunc(x), formula="g", self=lambda F, g: g)
erf = unary(
    "erf",
    lambda x: _special("erf")(x),
    formula="g · 2/√π · exp(−self²)",
    self=lambda F, g, self: F.exp(-F.squared(self)) * 1.1283791670955126 * g,
)
erfc = unary(
    "erfc",
    lambda x: _special("erfc")(x),
    formula="−g · 2/√π · exp(−self²)",
    self=lambda F, g, self: F.exp(-F.squared(self)) * -1.1283791670955126 * g,
)
for _inverse in (asinh, acosh, atanh):
    rename_in_place(_inverse.op, _inverse.op.node.__name__.replace("0", "1"))
for _new, _old in [
    ("absolute", "abs"),
    ("arcsin", "asin"),
    ("arccos", "acos"),
    ("arctan", "atan"),
    ("arcsinh", "asinh"),
    ("arccosh", "acosh"),
    ("arctanh", "atanh"),
    ("fix", "trunc"),
]:
    alias(_new, _old)
    alias(f"{_new}_", f"{_old}_")
del FUNCTIONS["absolute_"]
Tensor.__abs__ = abs_


def _special(name):
    """A SciPy special function that keeps the dtype; loaded on first use."""
    import scipy.special

    function = getattr(scipy.special, name)

    def forward(x):
        if x.dtype.kind == "V":  # bfloat16, which SciPy does not know
            return function(x.astype(xp.float32)).astype(x.dtype)
        x = floating(x)
        return function(x).astype(x.dtype, copy=False)

    return forward


# ---------------------------------------------------------------- comparison and logic: nothing
# flows back
_ORDERED = frozenset(("lt", "le", "gt", "ge"))


def _compare(name, function):
    found = binary(name, function, inplace=False, self=None, other=None)
    node = f"{name.title().replace('_', '')}Backward"
    by_tensor = binary(
        f"{name}_tensor", function, node=f"{node}1", expose=False, self=_none, other=_none
    )
    by_number = declare(f"{name}_number", function, "self", "value", node=f"{node}0", self=_none)

    def inplace(self, other):
        if not isinstance(other, Tensor):
            return write(by_number.op, (self,), (operands(name, self, other)[1]._a,))
        if other._a.dtype.kind == "c" and name in _ORDERED:
            found.op.forward(*promoted(self, other))  # it has no order
        return write(by_tensor.op, (self, other))

    inplace.__doc__ = f"In-place ``{name}``: 1 where it holds, 0 elsewhere."
    only_method(inplace, f"{name}_")
    return found


def _logical(name, function):
    """Of these PyTorch records nothing in place: the history of ``self`` stays as it was."""
    found = binary(name, function, inplace=False, numbers=False, self=None, other=None)

    def inplace(self, other):
        tensors(f"{name}_", self, other)
        return write(found.op, (self, other))

    inplace.__doc__ = f"In-place ``{name}``: 1 where it holds, 0 elsewhere."
    only_method(inplace, f"{name}_")
    return found


def _none(F, g):
    return F.zeros_like(g)


eq, ne = _compare("eq", operator.eq), _compare("ne", operator.ne)
lt, le = _compare("lt", operator.lt), _compare("le", operator.le)
gt, ge = _compare("gt", operator.gt), _compare("ge", operator.ge)
for _new, _old in [
    ("greater", "gt"),
    ("greater_equal", "ge"),
    ("less", "lt"),
    ("less_equal", "le"),
    ("not_equal", "ne"),
]:
    alias(_new, _old)
    alias(f"{_new}_", f"{_old}_")
for _n in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Tensor, f"__{_n}__", dispatch.binary(globals()[_n].op, operator=True))
logical_and, logical_or = (
    _logical("logical_and", xp.logical_and),
    _logical("logical_or", xp.logical_or),
)
logical_xor = _logical("logical_xor", xp.logical_xor)
logical_not = unary("logical_not", xp.logical_not, inplace="method", self=None)


bitwise_and, bitwise_or, bitwise_xor = (
    binary(f"bitwise_{name}", function, self=None, other=None)
    for name, function in (("and", operator.and_), ("or", operator.or_), ("xor", operator.xor))
)
bitwise_not = unary("bitwise_not", xp.invert, inplace="method", self=None)


def _tilde(self):
    if self._a.dtype.kind not in "biu":
        raise TypeError(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors"
        )
    return bitwise_not(self)


Tensor.__and__ = Tensor.__rand__ = bitwise_and
Tensor.__or__ = Tensor.__ror__ = bitwise_or
Tensor.__xor__ = Tensor.__rxor__ = bitwise_xor
Tensor.__invert__ = _tilde
Tensor.__iand__, Tensor.__ior__, Tensor.__ixor__ = (
    Tensor.bitwise_and_,
    Tensor.bitwise_or_,
    Tensor.bitwise_xor_,
)

isnan = unary(
    "isnan",
    lambda x: xp.isnan(x) if x.dtype.kind in "fcV" else xp.zeros(x.shape, bool, like=x),
    inplace=False,
    self=None,
)
isinf = unary(
    "isinf",
    lambda x: xp.isinf(x) if x.dtype.kind in "fcV" else xp.zeros(x.shape, bool, like=x),
    inplace=False,
    self=None,
)
isfinite = unary(
    "isfinite",
    lambda x: xp.isfinite(x) if x.dtype.kind in "fcV" else xp.ones(x.shape, bool, like=x),
    inplace=False,
    self=None,
)
signbit = unary(
    "signbit", lambda x: xp.signbit(x) if x.dtype.kind in "fV" else x < 0, inplace=False, self=None
)
