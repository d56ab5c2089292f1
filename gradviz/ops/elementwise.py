"""Elementwise operations: name, forward, derivative, formula."""

from __future__ import annotations

import operator

from ..backend import xp
from ..engine import dispatch, dtypes
from ..engine.dispatch import RAW, TENSOR, Tensor, common_dtype, number, number_dtype, operands, wrap
from .declare import alias, binary, declare, method, only_method, public, unary

ndarray = xp.ndarray


# ---------------------------------------------------------------- what derivatives are written with
def _conj(x):
    return xp.conj(x) if x.dtype.kind == "c" else x


def _floating(function):
    """A ufunc that turns integers into the default float, as PyTorch does."""

    def forward(x):
        return function(x if x.dtype.kind in "fcV" else x.astype(dtypes.default.float.np))

    forward.__name__ = function.__name__
    return forward


def _cast(x, dtype):
    if x.dtype == dtype:
        return x
    return (x.real if x.dtype.kind == "c" and dtype.kind not in "c" else x).astype(dtype)


RAW.plus, TENSOR.plus = operator.add, operator.add
RAW.constant = lambda array: array
TENSOR.constant = wrap
RAW.cast = _cast
RAW.zeros_like = lambda x: xp.zeros(x.shape, x.dtype)
TENSOR.zeros_like = lambda x: wrap(xp.zeros(x._a.shape, x._a.dtype))
RAW.astype = lambda x, like: x.astype(like.dtype)


def _sign(x):
    """x/|x|, 0 at 0."""
    if x.dtype.kind != "c":
        return xp.sign(x)
    size = xp.abs(x)
    return xp.where(size == 0, 0, x / xp.where(size == 0, 1, size))


def refuse(name):
    """The derivative of an operation that PyTorch records without one."""

    def derivative(F, g):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    return derivative


def _nothing(F, g):
    return F.zeros_like(g)


conj = unary("conj_physical", _conj, node="ConjBackward0", self=lambda F, g: F.conj(g))
RAW.conj = _conj
TENSOR.conj = lambda x: conj(x) if x._a.dtype.kind == "c" else x
method(lambda self: TENSOR.conj(self), "conj")
method(lambda self: self, "resolve_conj")
method(lambda self: self, "resolve_neg")

to_copy = declare("to_copy", lambda x, dtype: _cast(x, dtype) if x.dtype != dtype else x.copy(), "self", "dtype",
                  node="ToCopyBackward0", formula="g", self=lambda F, g: g)  # fmt: skip
TENSOR.cast = lambda x, dtype: x if x._a.dtype == dtype else to_copy(x, dtype)
TENSOR.astype = lambda x, like: TENSOR.cast(x, like._a.dtype)

# ---------------------------------------------------------------- arithmetic
_ONE = {"alpha": lambda node: 1}


def _subtract(a, b):
    try:
        return a - b
    except TypeError:
        if a.dtype == b.dtype == bool:
            raise RuntimeError(
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
                "instead."
            ) from None
        raise


add = binary("add", operator.add, formula="∂self: g    ∂other: g", expose=False, also=_ONE,
             self=lambda F, g: g, other=lambda F, g: g)  # fmt: skip
sub = binary("sub", _subtract, formula="∂self: g    ∂other: −g", expose=False, also=_ONE,
             self=lambda F, g: g, other=lambda F, g: -g)  # fmt: skip
add_scaled = declare("add_scaled", lambda a, b, alpha, dtype: _cast(a, dtype) + _cast(b, dtype) * dtype.type(alpha), "self other",
                     "alpha dtype", node="AddBackward0", formula="∂self: g    ∂other: α · g",
                     self=lambda F, g: g, other=lambda F, g, alpha: g * alpha)  # fmt: skip
sub_scaled = declare("sub_scaled", lambda a, b, alpha, dtype: _cast(a, dtype) - _cast(b, dtype) * dtype.type(alpha), "self other",
                     "alpha dtype", node="SubBackward0", formula="∂self: g    ∂other: −α · g",
                     self=lambda F, g: g, other=lambda F, g, alpha: g * -alpha)  # fmt: skip
rsub = declare("rsub", lambda a, b, alpha, dtype: _cast(b, dtype) - _cast(a, dtype) * dtype.type(alpha), "self other", "alpha dtype",
               formula="∂self: −α · g    ∂other: g", self=lambda F, g, alpha: g * -alpha, other=lambda F, g: g)  # fmt: skip
rsub_number = declare("rsub_number", lambda x, value, alpha: value - (x if x.dtype is value.dtype else x.astype(value.dtype)), "self",
                      "value alpha", node="RsubBackward1", formula="−g", also=_ONE, self=lambda F, g: -g)  # fmt: skip
mul = binary("mul", operator.mul, formula="∂self: g · other    ∂other: g · self",
             self=lambda F, g, other: g * F.conj(other), other=lambda F, g, self: g * F.conj(self))  # fmt: skip


def _true_divide(a, b):
    if a.dtype.kind in "biu":
        a, b = a.astype(dtypes.default.float.np), b.astype(dtypes.default.float.np)
    with xp.errstate(divide="ignore", invalid="ignore"):
        return xp.true_divide(a, b)


true_divide = binary("div", _true_divide, formula="∂self: g / other    ∂other: −g · self / other²", expose=False,
             self=lambda F, g, other: g / F.conj(other),
             other=lambda F, g, self, other: -g * F.conj((self / other) / other))  # fmt: skip


def _pow_scalar_grad(F, g, self, exponent):
    if exponent == 0:
        return F.zeros_like(g * self) if F is RAW else F.zeros_like(self)
    if exponent == 1:
        return g
    if exponent == 2:
        return g * (F.conj(self) * 2)
    return g * F.conj(F.pow_scalar(self, exponent - 1) * exponent)


def _power(x, exponent):
    if x.dtype.kind in "biu" and isinstance(exponent, float):
        x = x.astype(dtypes.default.float.np)
    if exponent == 2:
        return x * x
    with xp.errstate(all="ignore"):
        return xp.power(x, xp.asarray(exponent).astype(xp.result_type(x, exponent)))


pow_scalar = declare("pow_scalar", _power, "self", "exponent", node="PowBackward0",
                     formula="g · n · selfⁿ⁻¹", self=_pow_scalar_grad)  # fmt: skip


def _float_power(a, b):
    with xp.errstate(all="ignore"):
        return xp.power(a, b)


def _pow_self(F, g, self, exponent):
    zero = exponent == 0
    return F.where(zero, F.constant_like(0, self), g * F.conj(exponent * F.pow(self, exponent - 1)))


def _pow_exponent(F, g, self, exponent, result):
    zero = (self == 0) & (exponent >= 0) if (self.dtype.kind if F is RAW else self._a.dtype.kind) != "c" else self == 0
    return F.where(zero, F.constant_like(0, result), g * F.conj(result * F.log(self)))


RAW.constant_like = lambda value, x: xp.asarray(value, x.dtype)
TENSOR.constant_like = lambda value, x: number(value, dtypes.of(x._a))
pow_tensor = binary("pow", _float_power, "self exponent", node="PowBackward1",
                    formula="∂self: g · n · selfⁿ⁻¹    ∂n: g · result · ln self", expose=False,
                    self=_pow_self, exponent=_pow_exponent)  # fmt: skip


def _pow_base_grad(F, g, self, exponent, result):
    if self:
        return g * F.conj(result * _log_of(self))
    zero = exponent >= 0 if (exponent if F is RAW else exponent._a).dtype.kind != "c" else F.real(exponent) >= 0
    with xp.errstate(all="ignore"):
        return F.where(zero, F.constant_like(0, g), g * F.conj(result * -xp.inf))


pow_base = declare("pow_base", lambda exponent, base: _float_power(xp.asarray(base, exponent.dtype), exponent), "exponent", "self",
                   node="PowBackward2", formula="g · result · ln base", exponent=_pow_base_grad)  # fmt: skip


def _log_of(base):
    import cmath
    import math

    return math.log(base) if not isinstance(base, complex) and base > 0 else cmath.log(base)


def _negative(x):
    if x.dtype == bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
            "`logical_not()` operator instead."
        )
    return -x


neg = unary("neg", _negative, formula="−g", self=lambda F, g: -g)


def scaled(op_function, name, input, other, alpha):
    """``input ± alpha · other`` recorded as one node."""
    input, other = operands(name, input, other)
    common = common_dtype(input, other)
    if isinstance(alpha, float) and common.category < 2:
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, bool) and common.category:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    return op_function(input, other, alpha, common.np)


def _add(input, other, *, alpha=1, out=None):
    """``input + alpha · other``; shapes broadcast, dtypes promote."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = number(input, dtypes.of_scalar(input))
    result = add(input, other) if alpha == 1 else scaled(add_scaled, "add", input, other, alpha)
    return result if out is None else _out("add", result, out, (input, other))


def _sub(input, other, *, alpha=1, out=None):
    """``input − alpha · other``; shapes broadcast, dtypes promote."""
    result = sub(input, other) if alpha == 1 else scaled(sub_scaled, "sub", input, other, alpha)
    return result if out is None else _out("sub", result, out, (input, other))


def _out(name, result, out, args):
    from .declare import write_out

    return write_out(name, result, out, args)


def _div(input, other, *, rounding_mode=None, out=None):
    """True division, or with ``rounding_mode`` "floor" or "trunc"."""
    if rounding_mode is None:
        result = true_divide(input, other)
    elif rounding_mode in ("floor", "trunc"):
        result = (_div_floor if rounding_mode == "floor" else _div_trunc)(input, other)
    else:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + str(rounding_mode) + "'"
        )
    return result if out is None else _out("div", result, out, (input, other))


def _integers_by_zero(a, b):
    if a.dtype.kind in "iu" and not b.all():
        raise RuntimeError("ZeroDivisionError")


def _trunc_divide(a, b):
    _integers_by_zero(a, b)
    if a.dtype.kind in "iu":
        return (xp.sign(a) * xp.sign(b) * (abs(a) // abs(b))).astype(a.dtype)
    with xp.errstate(divide="ignore", invalid="ignore"):
        return xp.trunc(a / b)


def _floor_divide(a, b):
    _integers_by_zero(a, b)
    with xp.errstate(divide="ignore", invalid="ignore"):
        found = xp.floor_divide(a, b)
        return xp.where(b == 0, a / b, found).astype(a.dtype) if a.dtype.kind == "f" and not b.all() else found


def _remainder(a, b):
    _integers_by_zero(a, b)
    with xp.errstate(divide="ignore", invalid="ignore"):
        return xp.remainder(a, b)


def _fmod(a, b):
    _integers_by_zero(a, b)
    with xp.errstate(divide="ignore", invalid="ignore"):
        return xp.fmod(a, b)


def _rounded(rounding):
    def derivative(F, g, self, other):
        return -g * rounding(F, self / other)

    return derivative


_div_trunc = binary("div_trunc", _trunc_divide, node="DivBackward2", expose=False, self=_nothing, other=_nothing)
_div_floor = binary("div_floor", _floor_divide, node="DivBackward2", expose=False, self=_nothing, other=_nothing)
_floor_tensor = binary("floor_divide_tensor", _floor_divide, node="NotImplemented", expose=False, self=refuse("floor_divide"),
                       other=refuse("floor_divide"))  # fmt: skip
_remainder_tensor = binary("remainder_tensor", _remainder, node="RemainderBackward1", expose=False, formula="∂self: g",
                           self=lambda F, g: g, other=_rounded(lambda F, x: F.floor(x)))  # fmt: skip
_fmod_tensor = binary("fmod_tensor", _fmod, node="FmodBackward1", expose=False, formula="∂self: g",
                      self=lambda F, g: g, other=_rounded(lambda F, x: F.trunc(x)))  # fmt: skip


def _by_number(name, forward, with_tensor, node, derivative, reversed_=True):
    """``name`` with a tensor or a number on its right, and with a number on its left."""
    from ..engine.views import write
    from .declare import cast_operand

    single = declare(f"{name}_number", lambda x, value: forward(_cast(x, value.dtype), value), "self", "value", node=node, self=derivative)
    left = declare(f"{name}_left", lambda x, value: forward(value, _cast(x, value.dtype)), "self", "value", node="NotImplemented",
                   self=refuse(name))  # fmt: skip

    def function(input, other, *, out=None):
        if isinstance(other, Tensor):
            if isinstance(input, Tensor):
                result = with_tensor(input, other)
            else:
                input, other = operands(name, input, other)
                result = left(other, input._a)
        else:
            input, other = operands(name, input, other)
            result = single(input, other._a)
        return result if out is None else _out(name, result, out, (input, other))

    def inplace(self, other):
        if isinstance(other, Tensor):
            return write(with_tensor.op, (self, cast_operand(self, other)))
        return write(single.op, (self,), (operands(name, self, other)[1]._a,))

    function.__name__, function.__doc__ = name, f"``{name}``, elementwise; shapes broadcast, dtypes promote."
    inplace.__name__, inplace.__doc__ = f"{name}_", f"In-place ``{name}``."
    method(function)
    only_method(inplace)
    return function


floor_divide = _by_number("floor_divide", _floor_divide, _floor_tensor, "NotImplemented", refuse("floor_divide"))
remainder = _by_number("remainder", _remainder, _remainder_tensor, "RemainderBackward0", lambda F, g: g)
fmod = _by_number("fmod", _fmod, _fmod_tensor, "FmodBackward0", lambda F, g: g)


def _pow(input, exponent, *, out=None):
    """``input ** exponent`` with tensors or numbers on either side."""
    if not isinstance(exponent, Tensor):
        _check_integer_power(input, exponent)
        result = pow_scalar(_float_if_needed(input, exponent), exponent)
    elif not isinstance(input, Tensor):
        result = pow_base(TENSOR.cast(exponent, number_dtype(exponent, input).np), input)
    else:
        result = pow_tensor(input, exponent)
    return result if out is None else _out("pow", result, out, (input, exponent))


def _check_integer_power(input, exponent):
    if dtypes.of(input._a).category == 1 and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _float_if_needed(x, value):
    wanted = number_dtype(x, value).np
    return x if x._a.dtype == wanted else TENSOR.cast(x, wanted)


def _rtruediv(self, other):
    return reciprocal(self) * other


def _rsub(self, other):
    if isinstance(other, Tensor):
        return sub(other, self)
    if self._a.dtype == bool:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or "
            "`logical_not()` operator instead."
        )
    return rsub_number(self, operands("rsub", self, other)[1]._a, 1)


def _public_rsub(input, other, *, alpha=1):
    """``other − alpha · input``."""
    if isinstance(other, Tensor):
        return scaled(rsub, "rsub", input, other, alpha)
    return _rsub(input if alpha == 1 else input * alpha, other)


for _name, _function in [("add", _add), ("sub", _sub), ("div", _div), ("pow", _pow)]:
    _function.__name__ = _name
    method(_function, _name)
for _new, _old in [("subtract", "sub"), ("multiply", "mul"), ("divide", "div"), ("true_divide", "div"), ("negative", "neg")]:
    alias(_new, _old)
public("rsub", _public_rsub)


# ---------------------------------------------------------------- in place
def _inplace(op_function, name, scaled_function=None):
    from ..engine.views import write
    from .declare import cast_operand

    def function(self, other, *, alpha=1):
        self, other = operands(name, self, other)
        if alpha != 1:
            return write(scaled_function.op, (self, other), (alpha, common_dtype(self, other).np))
        return write(op_function.op, (self, cast_operand(self, other)))

    function.__name__ = name + "_"
    function.__doc__ = f"In-place ``{name}``."
    return function


add_, sub_ = _inplace(add, "add", add_scaled), _inplace(sub, "sub", sub_scaled)
div_ = _inplace(true_divide, "div")


def pow_(self, exponent):
    """In-place ``pow``."""
    from ..engine.views import write

    if isinstance(exponent, Tensor):
        return write(pow_tensor.op, (self, exponent))
    return write(pow_scalar.op, (self,), (exponent,))


def _inplace_div(self, other, *, rounding_mode=None):
    """In-place ``div``."""
    if rounding_mode is None:
        return div_(self, other)
    from ..engine.views import write

    self, other = operands("div", self, other)
    return write((_div_floor if rounding_mode == "floor" else _div_trunc).op, (self, other))


for _name, _function in [("add_", add_), ("sub_", sub_), ("div_", _inplace_div), ("pow_", pow_)]:
    only_method(_function, _name)
for _new, _old in [("subtract_", "sub_"), ("multiply_", "mul_"), ("divide_", "div_"), ("true_divide_", "div_"), ("negative_", "neg_")]:
    alias(_new, _old)


def operator_of(function):
    """An operator that leaves foreign operands to Python."""

    def operate(self, other):
        try:
            return function(self, other)
        except TypeError:
            if isinstance(other, (Tensor, int, float, complex, xp.generic)):
                raise
            return NotImplemented

    return operate


Tensor.__add__ = Tensor.__radd__ = dispatch.binary(add.op, operator=True)
Tensor.__mul__ = Tensor.__rmul__ = dispatch.binary(mul.op, operator=True)
Tensor.__sub__ = dispatch.binary(sub.op, operator=True)
Tensor.__rsub__ = operator_of(_rsub)
Tensor.__truediv__ = dispatch.binary(true_divide.op, operator=True)
Tensor.__rtruediv__ = operator_of(_rtruediv)
Tensor.__floordiv__ = operator_of(floor_divide)
Tensor.__rfloordiv__ = operator_of(lambda self, other: floor_divide(other, self))
Tensor.__mod__ = operator_of(remainder)
Tensor.__rmod__ = operator_of(lambda self, other: remainder(other, self))
Tensor.__pow__ = operator_of(_pow)
Tensor.__rpow__ = operator_of(lambda self, other: _pow(other, self))
Tensor.__neg__ = neg
Tensor.__pos__ = lambda self: self
Tensor.__iadd__, Tensor.__isub__, Tensor.__imul__ = add_, sub_, Tensor.mul_
Tensor.__itruediv__, Tensor.__ipow__ = _inplace_div, pow_
Tensor.__ifloordiv__ = Tensor.floor_divide_
Tensor.__imod__ = Tensor.remainder_


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
        if dtype == bool:
            raise RuntimeError("Boolean inputs not supported for relu")
        self[dtype] = found = xp.zeros((), dtype)
        return found


_zeros = _Zeros()


def _relu(x):
    return xp.maximum(x, _zeros[x.dtype])


def _exp(x):
    return xp.exp(x if x.dtype.kind in "fcV" else x.astype(dtypes.default.float.np))


exp = unary("exp", _exp, formula="g · result", self=lambda F, g, result: g * F.conj(result))
relu = unary("relu", _relu, formula="g · [result > 0]", self=lambda F, g, result: F.where(result <= 0, F.constant_like(0, g), g))
tanh = unary("tanh", _floating(xp.tanh), formula="g · (1 − result²)",
             self=lambda F, g, result: g * F.conj(1 - result * result))  # fmt: skip


def _sigmoid(x):
    x = x if x.dtype.kind in "fcV" else x.astype(dtypes.default.float.np)
    if x.dtype.kind == "c":
        return 1 / (1 + xp.exp(-x))
    e = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, 1 / (1 + e), e / (1 + e)).astype(x.dtype, copy=False)


sigmoid = unary("sigmoid", _sigmoid, formula="g · result · (1 − result)",
                self=lambda F, g, result: g * F.conj((1 - result) * result))  # fmt: skip
log = unary("log", _quiet(xp.log), formula="g / self", self=lambda F, g, self: g / F.conj(self))
log2 = unary("log2", _quiet(xp.log2), formula="g / (self · ln 2)", self=lambda F, g, self: g / F.conj(self * 0.6931471805599453))
log10 = unary("log10", _quiet(xp.log10), formula="g / (self · ln 10)", self=lambda F, g, self: g / F.conj(self * 2.302585092994046))
log1p = unary("log1p", _quiet(xp.log1p), formula="g / (self + 1)", self=lambda F, g, self: g / F.conj(self + 1))
exp2 = unary("exp2", _quiet(xp.exp2), formula="g · result · ln 2", self=lambda F, g, result: g * F.conj(result * 0.6931471805599453))
expm1 = unary("expm1", _quiet(xp.expm1), formula="g · (result + 1)", self=lambda F, g, result: g * F.conj(result + 1))
sqrt = unary("sqrt", _quiet(xp.sqrt), formula="g / (2 · result)", self=lambda F, g, result: g / F.conj(result * 2))


def _rsqrt_forward(x):
    with xp.errstate(all="ignore"):
        return 1 / xp.sqrt(x)


rsqrt = unary("rsqrt", _floating(_rsqrt_forward), formula="−½ · g · result³",
              self=lambda F, g, result: g * F.conj(result * result * result) * -0.5)  # fmt: skip


def _reciprocal_forward(x):
    with xp.errstate(all="ignore"):
        return 1 / x


reciprocal = unary("reciprocal", _floating(_reciprocal_forward), formula="−g · result²",
                   self=lambda F, g, result: -g * F.conj(result * result))  # fmt: skip
square = unary("square", lambda x: x * x, node="PowBackward0", formula="2 · g · self", self=lambda F, g, self: g * (F.conj(self) * 2))
abs_ = unary("abs", xp.abs, formula="g · sgn(self)", self=lambda F, g, self: g * F.sgn(self))
sgn = unary("sgn", _sign, self=lambda F, g: F.zeros_like(g))
sign = unary("sign", xp.sign, formula="0", self=lambda F, g: F.zeros_like(g))
sin = unary("sin", _quiet(xp.sin), formula="g · cos self", self=lambda F, g, self: g * F.conj(F.cos(self)))
cos = unary("cos", _quiet(xp.cos), formula="−g · sin self", self=lambda F, g, self: g * -F.conj(F.sin(self)))
tan = unary("tan", _quiet(xp.tan), formula="g · (1 + result²)", self=lambda F, g, result: g * F.conj(1 + result * result))
asin = unary("asin", _quiet(xp.arcsin), formula="g / √(1 − self²)", self=lambda F, g, self: g * F.conj(F.rsqrt(1 - self * self)))
acos = unary("acos", _quiet(xp.arccos), formula="−g / √(1 − self²)", self=lambda F, g, self: -g * F.conj(F.rsqrt(1 - self * self)))
atan = unary("atan", _quiet(xp.arctan), formula="g / (1 + self²)", self=lambda F, g, self: g / F.conj(self * self + 1))
sinh = unary("sinh", _quiet(xp.sinh), formula="g · cosh self", self=lambda F, g, self: g * F.conj(F.cosh(self)))
cosh = unary("cosh", _quiet(xp.cosh), formula="g · sinh self", self=lambda F, g, self: g * F.conj(F.sinh(self)))
asinh = unary("asinh", _quiet(xp.arcsinh), formula="g / √(self² + 1)", self=lambda F, g, self: g * F.conj(F.rsqrt(self * self + 1)))
acosh = unary("acosh", _quiet(xp.arccosh), formula="g / √(self² − 1)", self=lambda F, g, self: g * F.conj(F.rsqrt(self * self - 1)))
atanh = unary("atanh", _quiet(xp.arctanh), formula="g / (1 − self²)", self=lambda F, g, self: g / F.conj(1 - self * self))
floor = unary("floor", lambda x: xp.floor(x) if x.dtype.kind in "fV" else x.copy(), formula="0", self=lambda F, g: F.zeros_like(g))
ceil = unary("ceil", lambda x: xp.ceil(x) if x.dtype.kind in "fV" else x.copy(), formula="0", self=lambda F, g: F.zeros_like(g))
trunc = unary("trunc", lambda x: xp.trunc(x) if x.dtype.kind in "fV" else x.copy(), formula="0", self=lambda F, g: F.zeros_like(g))
round_ = unary("round", lambda x: xp.round(x) if x.dtype.kind in "fV" else x.copy(), formula="0", self=lambda F, g: F.zeros_like(g))
frac = unary("frac", lambda x: x - xp.trunc(x), formula="g", self=lambda F, g: g)
erf = unary("erf", lambda x: _special("erf")(x), formula="g · 2/√π · exp(−self²)",
            self=lambda F, g, self: g * (F.exp(-(self * self)) * 1.1283791670955126))  # fmt: skip
erfc = unary("erfc", lambda x: _special("erfc")(x), formula="−g · 2/√π · exp(−self²)",
             self=lambda F, g, self: g * (F.exp(-(self * self)) * -1.1283791670955126))  # fmt: skip
logsigmoid = unary("log_sigmoid", lambda x: xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x))), node="LogSigmoidBackward0",
                   formula="g · σ(−self)", self=lambda F, g, self: g * F.sigmoid(-self), expose=False)  # fmt: skip
for _new, _old in [("absolute", "abs"), ("arcsin", "asin"), ("arccos", "acos"), ("arctan", "atan"), ("arcsinh", "asinh"),
                   ("arccosh", "acosh"), ("arctanh", "atanh"), ("fix", "trunc"), ("absolute_", "abs_")]:  # fmt: skip
    alias(_new, _old)
Tensor.__abs__ = abs_


def _special(name):
    """A SciPy special function that keeps the dtype; loaded on first use."""
    import scipy.special

    function = getattr(scipy.special, name)

    def forward(x):
        x = x if x.dtype.kind in "fc" else x.astype(dtypes.default.float.np)
        return function(x).astype(x.dtype, copy=False)

    return forward


# ---------------------------------------------------------------- comparison and logic: nothing flows back
def _compare(name, function):
    return binary(name, function, inplace=False, self=None, other=None)


eq, ne = _compare("eq", operator.eq), _compare("ne", operator.ne)
lt, le = _compare("lt", operator.lt), _compare("le", operator.le)
gt, ge = _compare("gt", operator.gt), _compare("ge", operator.ge)
for _new, _old in [("greater", "gt"), ("greater_equal", "ge"), ("less", "lt"), ("less_equal", "le"), ("not_equal", "ne")]:
    alias(_new, _old)


def _foreign(function, otherwise):
    def compare(self, other):
        if isinstance(other, (Tensor, int, float, complex, xp.generic)):
            return function(self, other)
        return otherwise

    return compare


Tensor.__eq__, Tensor.__ne__ = _foreign(eq, False), _foreign(ne, True)
Tensor.__lt__, Tensor.__le__ = lt, le
Tensor.__gt__, Tensor.__ge__ = gt, ge
logical_and, logical_or = _compare("logical_and", xp.logical_and), _compare("logical_or", xp.logical_or)
logical_xor = _compare("logical_xor", xp.logical_xor)
logical_not = unary("logical_not", xp.logical_not, self=None)


def _bitwise(name, function):
    def forward(a, b):
        if a.dtype.kind not in "biu":
            raise RuntimeError(f'"{name}_cpu" not implemented for \'{dtypes.scalar_name(dtypes.of(a))}\'')
        return function(a, b)

    return binary(name, forward, self=None, other=None)


bitwise_and, bitwise_or = _bitwise("bitwise_and", operator.and_), _bitwise("bitwise_or", operator.or_)
bitwise_xor = _bitwise("bitwise_xor", operator.xor)
bitwise_not = unary("bitwise_not", xp.invert, self=None)
Tensor.__and__ = Tensor.__rand__ = bitwise_and
Tensor.__or__ = Tensor.__ror__ = bitwise_or
Tensor.__xor__ = Tensor.__rxor__ = bitwise_xor
Tensor.__invert__ = bitwise_not
Tensor.__iand__, Tensor.__ior__, Tensor.__ixor__ = Tensor.bitwise_and_, Tensor.bitwise_or_, Tensor.bitwise_xor_

isnan = unary("isnan", lambda x: xp.isnan(x) if x.dtype.kind in "fcV" else xp.zeros(x.shape, bool), inplace=False, self=None)
isinf = unary("isinf", lambda x: xp.isinf(x) if x.dtype.kind in "fcV" else xp.zeros(x.shape, bool), inplace=False, self=None)
isfinite = unary("isfinite", lambda x: xp.isfinite(x) if x.dtype.kind in "fcV" else xp.ones(x.shape, bool), inplace=False, self=None)
signbit = unary("signbit", lambda x: xp.signbit(x) if x.dtype.kind in "fV" else x < 0, inplace=False, self=None)


# ---------------------------------------------------------------- choosing
def _half(F, self, other, g):
    """Where both are equal each gets half of the gradient."""
    return F.where(self == other, g / 2, g)


maximum = binary("maximum", xp.maximum, formula="g where self > other, g/2 at a tie", inplace=False,
                 self=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self < other, 0),
                 other=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self > other, 0))  # fmt: skip
minimum = binary("minimum", xp.minimum, formula="g where self < other, g/2 at a tie", inplace=False,
                 self=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self > other, 0),
                 other=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self < other, 0))  # fmt: skip

where_op = declare("where", lambda condition, self, other: xp.where(condition, self, other), "condition self other",
                   formula="∂self: g where condition    ∂other: g elsewhere",
                   self=lambda F, g, condition: F.where(condition, g, F.constant_like(0, g)),
                   other=lambda F, g, condition: F.where(condition, F.constant_like(0, g), g))  # fmt: skip


def where(condition, input=None, other=None):
    """Elements of ``input`` where ``condition`` holds, of ``other`` elsewhere; with one argument, the indices."""
    if input is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = number(input, dtypes.of_scalar(input))
    input, other = operands("where", input, other)
    if input._a.dtype != other._a.dtype:
        common = common_dtype(input, other).np
        input, other = TENSOR.cast(input, common), TENSOR.cast(other, common)
    if condition._a.dtype != bool:
        condition = wrap(condition._a.astype(bool))
    try:
        return where_op(condition, input, other)
    except ValueError:
        from ..engine.dispatch import broadcast_error

        raise broadcast_error(condition._a.shape, xp.broadcast_shapes(input._a.shape, other._a.shape)) from None


public("where", where)
TENSOR.where = where
only_method(lambda self, condition, other: where(condition, self, other), "where")

masked_fill_op = declare("masked_fill", lambda self, mask, value: xp.where(mask, self.dtype.type(value), self), "self mask", "value",
                         formula="g where not masked", self=lambda F, g, mask: F.masked_fill(g, mask, 0))  # fmt: skip


def _clamp_forward(x, low, high):
    if low is not None:
        x = xp.maximum(x, x.dtype.type(low))
    return x if high is None else xp.minimum(x, x.dtype.type(high))


def _clamp_grad(F, g, self, low, high):
    keep = self == self
    if low is not None:
        keep = self >= low
    if high is not None:
        keep = keep & (self <= high) if low is not None else self <= high
    return F.where(keep, g, F.constant_like(0, g))


clamp_op = declare("clamp", _clamp_forward, "self", "low high", formula="g where low ≤ self ≤ high", self=_clamp_grad)


def clamp(input, min=None, max=None, *, out=None):
    """Elements limited to [min, max]; the gradient passes where the element lies inside, bounds included."""
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        result = input
        if min is not None:
            result = maximum(result, min)
        if max is not None:
            result = minimum(result, max)
    else:
        wanted = input
        for bound in (min, max):
            if bound is not None:
                wanted = _float_if_needed(wanted, bound)
        result = clamp_op(wanted, min, max)
    return result if out is None else _out("clamp", result, out, (input,))


method(clamp)
alias("clip", "clamp")


def clamp_(self, min=None, max=None):
    """In-place ``clamp``."""
    from ..engine.views import write

    return write(clamp_op.op, (self,), (min, max))


only_method(clamp_)
only_method(lambda self, min: clamp_(self, min), "clamp_min_")
only_method(lambda self, max: clamp_(self, None, max), "clamp_max_")
method(lambda self, min: clamp(self, min), "clamp_min")
method(lambda self, max: clamp(self, None, max), "clamp_max")
only_method(clamp_, "clip_")


def _softplus(x, beta, threshold):
    scaled = x * beta
    return xp.where(scaled > threshold, x, xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta).astype(x.dtype, copy=False)


softplus = declare("softplus", _softplus, "self", "beta threshold", formula="g · σ(β · self)",
                   self=lambda F, g, self, beta, threshold: F.where(self * beta > threshold, g, g * F.sigmoid(self * beta)))  # fmt: skip
leaky_relu = declare("leaky_relu", lambda x, slope: xp.where(x > 0, x, x * x.dtype.type(slope)), "self", "negative_slope",
                     formula="g where self > 0, slope · g elsewhere",
                     self=lambda F, g, self, negative_slope: F.where(self > 0, g, g * negative_slope))  # fmt: skip
elu = declare("elu", lambda x, alpha: xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0)) * x.dtype.type(alpha)), "self", "alpha",
              formula="g where self > 0, g · α · exp self elsewhere",
              self=lambda F, g, self, alpha: F.where(self > 0, g, g * (F.exp(F.clamp(self, None, 0.0)) * alpha)))  # fmt: skip
silu = unary("silu", lambda x: x * _sigmoid(x), expose=False, formula="g · σ(self) · (1 + self · (1 − σ(self)))",
             self=lambda F, g, self: g * (F.sigmoid(self) * (1 + self * (1 - F.sigmoid(self)))))  # fmt: skip
gelu_exact = unary("gelu", lambda x: (x * 0.5 * (1 + _special("erf")(x * 0.7071067811865476))).astype(x.dtype, copy=False), expose=False,
                   formula="g · (Φ(self) + self · φ(self))",
                   self=lambda F, g, self: g * ((1 + F.erf(self * 0.7071067811865476)) * 0.5
                                                + self * F.exp(self * self * -0.5) * 0.3989422804014327))  # fmt: skip
atan2 = binary("atan2", xp.arctan2, formula="∂self: g · other/(self²+other²)",
               self=lambda F, g, self, other: g * (other / (self * self + other * other)),
               other=lambda F, g, self, other: g * -(self / (self * self + other * other)))  # fmt: skip
alias("arctan2", "atan2")
hypot = binary("hypot", xp.hypot, self=lambda F, g, self, result: g * (self / result), other=lambda F, g, other, result: g * (other / result))
lerp_op = declare("lerp", lambda self, end, weight: self + weight * (end - self), "self end weight", node="LerpBackward1",
                  self=lambda F, g, weight: g * (1 - weight), end=lambda F, g, weight: g * weight,
                  weight=lambda F, g, self, end: g * (end - self))  # fmt: skip


def lerp(input, end, weight):
    """``input + weight · (end − input)``."""
    weight = weight if isinstance(weight, Tensor) else number(weight, dtypes.of(input._a))
    return lerp_op(input, end, weight)


method(lerp)


def lerp_(self, end, weight):
    """In-place ``lerp``."""
    from ..engine.views import write

    weight = weight if isinstance(weight, Tensor) else number(weight, dtypes.of(self._a))
    return write(lerp_op.op, (self, end, weight))


only_method(lerp_)

addcmul_op = declare("addcmul", lambda self, tensor1, tensor2, value: self + value * tensor1 * tensor2, "self tensor1 tensor2", "value",
                     self=lambda F, g: g, tensor1=lambda F, g, tensor2, value: g * F.conj(tensor2 * value),
                     tensor2=lambda F, g, tensor1, value: g * F.conj(tensor1 * value))  # fmt: skip
addcdiv_op = declare("addcdiv", lambda self, tensor1, tensor2, value: self + value * (tensor1 / tensor2), "self tensor1 tensor2", "value",
                     self=lambda F, g: g, tensor1=lambda F, g, tensor2, value: g * F.conj(value / tensor2),
                     tensor2=lambda F, g, tensor1, tensor2, value: -g * F.conj(tensor1 * value / (tensor2 * tensor2)))  # fmt: skip


def _ternary(op_function, name):
    from ..engine.views import write

    def function(input, tensor1, tensor2, *, value=1):
        return op_function(input, tensor1, tensor2, value)

    def inplace(self, tensor1, tensor2, *, value=1):
        return write(op_function.op, (self, tensor1, tensor2), (value,))

    method(function, name)
    only_method(inplace, name + "_")


_ternary(addcmul_op, "addcmul")
_ternary(addcdiv_op, "addcdiv")


def masked_fill(self, mask, value):
    """``self`` with ``value`` where ``mask`` holds."""
    if isinstance(value, Tensor):
        if value._a.ndim:
            raise RuntimeError(
                f"masked_fill only supports a 0-dimensional value tensor, but got tensor with {value._a.ndim} dimension(s)."
            )
        if value._g is not None:
            return where(mask, value, self)
        value = value._a.item()
    if mask._a.dtype != bool:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {dtypes.scalar_name(dtypes.of(mask._a)).lower()}"
        )
    return masked_fill_op(self, mask, value)


method(masked_fill)
TENSOR.masked_fill = masked_fill


def masked_fill_(self, mask, value):
    """In-place ``masked_fill``."""
    from ..engine.views import write

    return write(masked_fill_op.op, (self, mask), (value._a.item() if isinstance(value, Tensor) else value,))


only_method(masked_fill_)

real_op = declare("real", lambda x: x.real, node="RealBackward0", view=True, formula="g", self=lambda F, g: g)
imag_op = declare("imag", lambda x: x.imag, node="ImagBackward0", view=True, formula="i · g", self=lambda F, g: g * 1j)


def real(input):
    """The real part, a view; the tensor itself when it is real."""
    return real_op(input) if input._a.dtype.kind == "c" else input


def imag(input):
    """The imaginary part, a view; RuntimeError for a real tensor."""
    if input._a.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return imag_op(input)


public("real", real)
public("imag", imag)
Tensor.real = property(real)
Tensor.imag = property(imag)
complex_op = declare("complex", lambda real, imag: (real + 1j * imag).astype(xp.complex64 if real.dtype == xp.float32 else xp.complex128),
                     "real imag", node="ComplexBackward0", formula="∂real: Re g    ∂imag: Im g",
                     real=lambda F, g: F.real(g), imag=lambda F, g: F.imag(g))  # fmt: skip
public("complex", lambda real, imag: complex_op(real, imag))
TENSOR.clamp = clamp

