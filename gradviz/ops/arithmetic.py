"""Arithmetic: + − × ÷, powers and their kin. Name, forward, derivative, formula."""

from __future__ import annotations

import operator

from ..backend import readable, xp
from ..engine import dispatch, dtypes, views
from ..engine.dispatch import Tensor
from ..engine.modes import local, state
from ..engine.operands import (
    common_dtype,
    number,
    number_dtype,
    operands,
    quotient_operands,
    wide_operands,
)
from ..engine.operation import RAW, TENSOR
from .casting import _cast, floating, is_half, refuse
from .declare import alias, binary, declare, method, only_method, public, unary
from .out import write_out

ndarray = xp.ndarray


_ONE = {"alpha": lambda node: 1}


def _subtract(a, b):
    try:
        return a - b
    except TypeError:
        if a.dtype == b.dtype == bool:
            raise RuntimeError(
                "Subtraction, the `-` operator, with two bool tensors is not supported. Use the "
                "`^` or `logical_xor()` operator "
                "instead."
            ) from None
        raise


add = binary(
    "add",
    operator.add,
    formula="∂self: g    ∂other: g",
    expose=False,
    also=_ONE,
    self=lambda F, g: g,
    other=lambda F, g: g,
)
sub = binary(
    "sub",
    _subtract,
    formula="∂self: g    ∂other: −g",
    expose=False,
    also=_ONE,
    self=lambda F, g: g,
    other=lambda F, g: -g,
)


def _plus_scaled(a, b, alpha, dtype, join=operator.add):
    """``a ± alpha · b`` in a dtype; of half precision in one rounding."""
    factor = dtype.type(alpha)
    if not is_half(dtype):
        return join(_cast(a, dtype), _cast(b, dtype) * factor)
    a, b = a.astype(xp.float32), b.astype(xp.float32)
    return join(a, b * xp.float32(factor)).astype(dtype)


add_scaled = declare(
    "add_scaled",
    lambda a, b, alpha, dtype: _plus_scaled(a, b, alpha, dtype),
    "self other",
    "alpha dtype",
    node="AddBackward0",
    formula="∂self: g    ∂other: α · g",
    self=lambda F, g: g,
    other=lambda F, g, alpha: g * alpha.conjugate(),
)
sub_scaled = declare(
    "sub_scaled",
    lambda a, b, alpha, dtype: _plus_scaled(a, b, alpha, dtype, _subtract),
    "self other",
    "alpha dtype",
    node="SubBackward0",
    formula="∂self: g    ∂other: −α · g",
    self=lambda F, g: g,
    other=lambda F, g, alpha: -g * alpha.conjugate(),
)
rsub = declare(
    "rsub",
    lambda a, b, alpha, dtype: _plus_scaled(b, a, alpha, dtype, _subtract),
    "self other",
    "alpha dtype",
    formula="∂self: −α · g    ∂other: g",
    self=lambda F, g, alpha: -g if alpha == 1 else -g * alpha.conjugate(),
    other=lambda F, g: g,
)
rsub_number = declare(
    "rsub_number",
    lambda x, value, alpha: value - (x if x.dtype is value.dtype else x.astype(value.dtype)),
    "self",
    "value alpha",
    node="RsubBackward1",
    formula="−g",
    also=_ONE,
    self=lambda F, g: -g,
)
mul = binary(
    "mul",
    operator.mul,
    wide=wide_operands,
    formula="∂self: g · other    ∂other: g · self",
    self=lambda F, g, other: g * other.conj(),
    other=lambda F, g, self: g * self.conj(),
)


def _true_divide(a, b):
    if a.dtype.kind in "biu":
        a, b = a.astype(dtypes.default.float.np), b.astype(dtypes.default.float.np)
    with xp.errstate(divide="ignore", invalid="ignore"):
        return xp.true_divide(a, b)


true_divide = binary(
    "div",
    _true_divide,
    wide=quotient_operands,
    formula="∂self: g / other    ∂other: −g · self / other²",
    expose=False,
    self=lambda F, g, other: g / F.conj(other),
    other=lambda F, g, self, other: -g * F.conj((self / other) / other),
)


# In derivatives and in PyTorch's own compositions a number is no tensor: the nodes of these
# operations have a name of their own.
def _with_number(op, forward, formula, derivative):
    def computed(x, other):
        if isinstance(other, float) or op is true_divide.op:
            x = floating(x)
        if isinstance(other, complex) and x.dtype.kind != "c":
            return forward(x, other)
        return forward(x, x.dtype.type(other))

    op.with_number = declare(
        f"{op.name}_number",
        computed,
        "self",
        "other",
        node=op.node.__name__.replace("0", "1"),
        formula=formula,
        self=derivative,
    )


_with_number(add.op, operator.add, "g", lambda F, g: g)
_with_number(sub.op, operator.sub, "g", lambda F, g: g)
_with_number(mul.op, operator.mul, "g · other", lambda F, g, other: g * other.conjugate())
TENSOR.times_ = lambda x, number: views.write(mul.op.with_number.op, (x,), (number,))
_with_number(
    true_divide.op, operator.truediv, "g / other", lambda F, g, other: g / other.conjugate()
)


def _pow_scalar_grad(F, g, self, exponent):
    if exponent == 0:
        return F.zeros_like(g * self) if F is RAW else F.zeros_like(self)
    if F is RAW and exponent == 1:
        return g
    if F is RAW and exponent == 2:
        return g * (F.conj(self) * 2)
    if F is TENSOR and exponent.__class__ is int:
        exponent = float(exponent)
    return g * F.conj(F.pow_scalar(self, exponent - 1) * exponent)


# powers that need no logarithm
_QUICK = {
    0.5: xp.sqrt,
    -0.5: lambda x: xp.reciprocal(xp.sqrt(x)),
    -1: xp.reciprocal,
    -2: lambda x: xp.reciprocal(x * x),
}


def _power(x, exponent):
    if x.dtype.kind in "biu" and isinstance(exponent, float):
        x = x.astype(dtypes.default.float.np)
    if x.dtype.kind == "V" and not isinstance(exponent, complex):  # bfloat16: NumPy would widen it
        exponent = x.dtype.type(exponent)
    if exponent == 2:
        return x * x
    if exponent == 3:
        return (
            x * x * x if x.dtype != xp.float16 else _power(x.astype(xp.float32), 3).astype(x.dtype)
        )
    with xp.errstate(all="ignore"):
        quick = _QUICK.get(exponent) if x.dtype.kind in "fV" else None
        if quick is not None:
            return quick(x)
        if x.dtype.kind == "V":  # bfloat16, which NumPy cannot promote
            return xp.power(x, x.dtype.type(exponent))
        return xp.power(x, xp.asarray(exponent).astype(xp.result_type(x, exponent)))


pow_scalar = declare(
    "pow_scalar",
    _power,
    "self",
    "exponent",
    node="PowBackward0",
    formula="g · n · selfⁿ⁻¹",
    self=_pow_scalar_grad,
)


def _base_power(base, exponent):
    """A number to the powers of an array; of half precision in one rounding."""
    kind = exponent.dtype
    base = xp.asarray(base, kind)
    if not is_half(kind):
        return _float_power(base, exponent)
    wide = xp.float32
    return _float_power(base.astype(wide), exponent.astype(wide)).astype(kind)


def _float_power(a, b):
    if a.dtype == bool:
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if a.dtype.kind == "i" and readable(b) and (b < 0).any():
        # the exact power, cut to an integer: 0 but for ±1
        small = xp.where(a == 1, 1, xp.where(a == -1, 1 - 2 * (b % 2), 0))
        return xp.where(b < 0, small, xp.power(a, xp.maximum(b, 0))).astype(a.dtype)
    with xp.errstate(all="ignore"):
        return xp.power(a, b)


def _pow_self(F, g, self, exponent):
    zero = exponent == 0
    return F.where(zero, F.constant_like(0, self), g * F.conj(exponent * F.pow(self, exponent - 1)))


def _pow_exponent(F, g, self, exponent, result):
    zero = self == 0
    if (exponent if F is RAW else exponent._a).dtype.kind == "c":
        zero = zero & (F.imag(exponent) == 0) & (F.real(exponent) >= 0)
    else:
        zero = zero & (exponent >= 0)
    slope = F.conj(result * F.log(F.astype(self, result)))
    return g * F.where(zero, F.constant_like(0, result), slope)


RAW.squared = xp.square
TENSOR.squared = lambda x: pow_scalar(x, 2)
RAW.constant_like = lambda value, x: xp.asarray(value, x.dtype)
TENSOR.constant_like = lambda value, x: number(value, dtypes.of(x._a))
pow_tensor = binary(
    "pow",
    _float_power,
    "self exponent",
    node="PowBackward1",
    formula="∂self: g · n · selfⁿ⁻¹    ∂n: g · result · ln self",
    expose=False,
    self=_pow_self,
    exponent=_pow_exponent,
)


def _pow_base_grad(F, g, self, exponent, result):
    if self:
        return g * F.conj(result * _log_of(self))
    zero = (
        exponent >= 0
        if (exponent if F is RAW else exponent._a).dtype.kind != "c"
        else F.real(exponent) >= 0
    )
    with xp.errstate(all="ignore"):
        return F.where(zero, F.constant_like(0, g), g * F.conj(result * -xp.inf))


pow_base = declare(
    "pow_base",
    lambda exponent, base: _base_power(base, exponent),
    "exponent",
    "self",
    node="PowBackward2",
    formula="g · result · ln base",
    exponent=_pow_base_grad,
)


def _log_of(base):
    import cmath
    import math

    return math.log(base) if not isinstance(base, complex) and base > 0 else cmath.log(base)


def _negative(x):
    if x.dtype == bool:
        raise RuntimeError(
            "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to "
            "invert a mask, use the `~` or "
            "`logical_not()` operator instead."
        )
    return -x


neg = unary("neg", _negative, formula="−g", self=lambda F, g: -g)


def scaled(op_function, name, input, other, alpha):
    """``input ± alpha · other`` recorded as one node."""
    input, other = operands(name, input, other)
    common = common_dtype(input, other)
    check_alpha(common, alpha)
    if alpha == 1 and name != "rsub":
        return (add if name == "add" else sub)(input, other)
    return op_function(input, other, alpha, common.np)


def check_alpha(common, alpha):
    """RuntimeError for a factor that is no number of the dtype."""
    if isinstance(alpha, float) and common.category < 2:
        raise RuntimeError(
            "For integral input tensors, argument alpha must not be a floating point number."
        )
    if isinstance(alpha, bool) and common.category:
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and common.category < 3:
        raise RuntimeError(
            "For non-complex input tensors, argument alpha must not be a complex number."
        )


def _add(input, other, *, alpha=1, out=None):
    """``input + alpha · other``; shapes broadcast, dtypes promote."""
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = number(input, dtypes.of_scalar(input))
    plain = alpha.__class__ is int and alpha == 1
    result = add(input, other) if plain else scaled(add_scaled, "add", input, other, alpha)
    return result if out is None else _out("add", result, out, (input, other))


def _sub(input, other, *, alpha=1, out=None):
    """``input − alpha · other``; shapes broadcast, dtypes promote."""
    plain = alpha.__class__ is int and alpha == 1
    result = sub(input, other) if plain else scaled(sub_scaled, "sub", input, other, alpha)
    return result if out is None else _out("sub", result, out, (input, other))


def _out(name, result, out, args):
    return write_out(name, result, out, args)


def _div(input, other, *, rounding_mode=None, out=None):
    """True division, or with ``rounding_mode`` "floor" or "trunc"."""
    if rounding_mode is None:
        result = true_divide(input, other)
    elif rounding_mode in ("floor", "trunc"):
        result = (_div_floor if rounding_mode == "floor" else _div_trunc)(input, other)
    else:
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '"
            + str(rounding_mode)
            + "'"
        )
    return result if out is None else _out("div", result, out, (input, other))


def _integers_by_zero(a, b):
    if a.dtype.kind in "iu" and readable(b) and not b.all():
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
        return (
            xp.where(b == 0, a / b, found).astype(a.dtype)
            if a.dtype.kind == "f" and readable(b) and not b.all()
            else found
        )


def _remainder(a, b):
    _integers_by_zero(a, b)
    with xp.errstate(divide="ignore", invalid="ignore"):
        found = xp.remainder(a, b)
        # a whole quotient leaves a 0 of the sign of ``a``, as C's fmod
        return xp.where(found == 0, xp.copysign(found, a), found) if a.dtype.kind == "f" else found


def _fmod(a, b):
    _integers_by_zero(a, b)
    with xp.errstate(divide="ignore", invalid="ignore"):
        return xp.fmod(a, b)


def _rounded(name):
    def derivative(F, g, self, other):
        return -g * getattr(F, name)(self, other)

    return derivative


def _flat(F, g, self, other):
    return F.zeros_like(g)


_div_trunc = binary(
    "div_trunc",
    _trunc_divide,
    node="DivBackward2",
    expose=False,
    also={"rounding_mode": lambda node: "trunc"},
    formula="0",
    self=_flat,
    other=_flat,
)
_div_floor = binary(
    "div_floor",
    _floor_divide,
    wide=wide_operands,
    node="DivBackward2",
    expose=False,
    also={"rounding_mode": lambda node: "floor"},
    formula="0",
    self=_flat,
    other=_flat,
)
_floor_tensor = binary(
    "floor_divide_tensor",
    _floor_divide,
    node="NotImplemented",
    expose=False,
    self=refuse("floor_divide"),
    other=refuse("floor_divide"),
)
_floor_in_place = binary(
    "floor_divide_",
    _floor_divide,
    node="NotImplemented",
    expose=False,
    self=refuse("floor_divide_"),
    other=refuse("floor_divide_"),
)
_remainder_tensor = binary(
    "remainder_tensor",
    _remainder,
    node="RemainderBackward1",
    expose=False,
    formula="∂self: g",
    self=lambda F, g: g,
    other=_rounded("div_floor"),
)
_fmod_tensor = binary(
    "fmod_tensor",
    _fmod,
    node="FmodBackward1",
    expose=False,
    formula="∂self: g",
    self=lambda F, g: g,
    other=_rounded("div_trunc"),
)


def _in_wider(forward, x, value):
    """``forward`` in the dtype of the number; half precision comes back."""
    found = forward(_cast(x, value.dtype), value)
    return found.astype(x.dtype) if is_half(x.dtype) and value.dtype == xp.float32 else found


def _whole(name, forward, with_tensor, node, derivative, wide=False, in_place=None):
    """``name`` with a tensor or a number on its right, and with a number on its left. ``wide``: a
    number beside half precision stays in single precision; ``in_place``: what is recorded of the
    in-place form with a tensor.
    """
    from ..engine.views import write
    from .declare import cast_operand

    right = wide_operands if wide else operands

    single = declare(
        f"{name}_number",
        lambda x, value: _in_wider(forward, x, value),
        "self",
        "value",
        node=node,
        self=derivative,
    )
    single_in_place = single
    if in_place is not None:
        single_in_place = declare(
            f"{name}_number_",
            lambda x, value: _in_wider(forward, x, value),
            "self",
            "value",
            node=node,
            self=refuse(f"{name}_"),
        )
    left = declare(
        f"{name}_left",
        lambda x, value: forward(value, _cast(x, value.dtype)),
        "self",
        "value",
        node="NotImplemented",
        self=refuse(name),
    )

    def function(input, other, *, out=None):
        if isinstance(other, Tensor):
            if isinstance(input, Tensor):
                result = with_tensor(input, other)
            else:
                input, other = operands(name, input, other)
                result = left(other, input._a)
        else:
            input, other = right(name, input, other)
            result = single(input, other._a)
        return result if out is None else _out(name, result, out, (input, other))

    def inplace(self, other):
        if isinstance(other, Tensor):
            op = (in_place or with_tensor).op
            return write(op, (self, cast_operand(op, self, other)))
        return write(single_in_place.op, (self,), (right(name, self, other)[1]._a,))

    function.__name__, function.__doc__ = (
        name,
        f"``{name}``, elementwise; shapes broadcast, dtypes promote.",
    )
    inplace.__name__, inplace.__doc__ = f"{name}_", f"In-place ``{name}``."
    method(function)
    only_method(inplace)
    return function


floor_divide = _whole(
    "floor_divide",
    _floor_divide,
    _floor_tensor,
    "NotImplemented",
    refuse("floor_divide"),
    wide=True,
    in_place=_floor_in_place,
)
remainder = _whole("remainder", _remainder, _remainder_tensor, "RemainderBackward0", lambda F, g: g)
fmod = _whole("fmod", _fmod, _fmod_tensor, "FmodBackward0", lambda F, g: g)


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
    if dtypes.of(input._a).category < 2 and isinstance(exponent, int) and exponent < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _float_if_needed(x, value):
    wanted = number_dtype(x, value).np
    return x if x._a.dtype == wanted else TENSOR.cast(x, wanted)


def _rtruediv(self, other):
    if local.native:
        return true_divide(other, self)
    return TENSOR.reciprocal(self) * other


def _rsub(self, other):
    if isinstance(other, Tensor) or local.native:
        return sub(other, self)
    if self._a.dtype == bool:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are "
            "trying to invert a mask, use the `~` or "
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


def _true_divide(input, other, *, out=None):
    """``input / other``; elements of whole numbers become floating-point ones."""
    return _div(input, other, out=out)


def _true_divide_(self, other):
    """In-place ``true_divide``."""
    return self.div_(other)


method(_true_divide, "true_divide")
only_method(_true_divide_, "true_divide_")
for _new, _old in [
    ("subtract", "sub"),
    ("multiply", "mul"),
    ("divide", "div"),
    ("negative", "neg"),
]:
    alias(_new, _old)
public("rsub", _public_rsub)


# ---------------------------------------------------------------- in place
def _inplace(op_function, name, scaled_function=None):
    from ..engine.views import check_cast, write
    from .declare import cast_operand

    def function(self, other, *, alpha=1):
        self, other = (op_function.op.wide or operands)(name, self, other)
        if alpha.__class__ is not int:
            check_alpha(common_dtype(self, other), alpha)
        if alpha != 1:
            return write(scaled_function.op, (self, other), (alpha, common_dtype(self, other).np))
        if name == "div" and common_dtype(self, other).category < 2:
            check_cast(dtypes.default.float.np, self._a.dtype)
        return write(op_function.op, (self, cast_operand(op_function.op, self, other)))

    function.__name__ = name + "_"
    function.__doc__ = f"In-place ``{name}``."
    return function


add_, sub_ = _inplace(add, "add", add_scaled), _inplace(sub, "sub", sub_scaled)
div_ = _inplace(true_divide, "div")


def pow_(self, exponent):
    """In-place ``pow``."""
    from ..engine.views import check_cast, write

    if isinstance(exponent, Tensor):
        return write(pow_tensor.op, (self, exponent))
    check_cast(number_dtype(self, exponent).np, self._a.dtype)
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
for _new, _old in [
    ("subtract_", "sub_"),
    ("multiply_", "mul_"),
    ("divide_", "div_"),
    ("negative_", "neg_"),
]:
    alias(_new, _old)


def operator_of(function):
    """An operator that leaves foreign operands to Python."""

    def operate(self, other):
        try:
            return function(self, other)
        except TypeError:
            known = isinstance(other, (Tensor, int, float, complex, xp.generic))
            if known and not (state.special and local.saved_hooks):
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
