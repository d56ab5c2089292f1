"""Choosing between elements: maximum, where, clamp, masked_fill; and blends of several tensors:
lerp, addcmul, addcdiv.
"""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.arguments import refusal
from ..engine.dispatch import Tensor, wrap
from ..engine.memory_format import laid_out
from ..engine.modes import is_recording
from ..engine.operands import (
    broadcast_error,
    common_dtype,
    is_wrapped,
    not_a_tensor,
    number,
    operands,
)
from ..engine.operation import RAW, TENSOR
from ..engine.views import check_inplace, write
from .arithmetic import _out
from .casting import converted
from .declare import alias, binary, declare, method, only_method, public
from .kernels import NO_COMPLEX_CLAMP


# ---------------------------------------------------------------- the larger, the smaller
def _half(F, self, other, g):
    """Where both are equal each gets half of the gradient."""
    return F.where(self == other, g / 2, g)


maximum = binary(
    "maximum",
    xp.maximum,
    numbers=False,
    formula="g where self > other, g/2 at a tie",
    inplace=False,
    self=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self < other, 0),
    other=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self > other, 0),
)
minimum = binary(
    "minimum",
    xp.minimum,
    numbers=False,
    formula="g where self < other, g/2 at a tie",
    inplace=False,
    self=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self > other, 0),
    other=lambda F, g, self, other: F.masked_fill(_half(F, self, other, g), self < other, 0),
)


def _first(F, x, other, holds):
    """Where the first of two is taken by fmax and fmin."""
    return holds | F.isnan(other)


fmax = binary(
    "fmax",
    xp.fmax,
    numbers=False,
    formula="g where self ≥ other",
    inplace=False,
    self=lambda F, g, self, other: F.masked_fill(
        g, F.logical_not(_first(F, self, other, self >= other)), 0
    ),
    other=lambda F, g, self, other: F.masked_fill(g, _first(F, self, other, self >= other), 0),
)
fmin = binary(
    "fmin",
    xp.fmin,
    numbers=False,
    formula="g where self ≤ other",
    inplace=False,
    self=lambda F, g, self, other: F.masked_fill(
        g, F.logical_not(_first(F, self, other, self <= other)), 0
    ),
    other=lambda F, g, self, other: F.masked_fill(g, _first(F, self, other, self <= other), 0),
)


# ---------------------------------------------------------------- where, masked_fill
def _where_forward(self, other, condition):
    return laid_out(xp.where(condition, self, other), condition, self, other)


where_op = declare(
    "where_op",
    _where_forward,
    "self other condition",
    node="WhereBackward0",
    formula="∂self: g where condition    ∂other: g elsewhere",
    self=lambda F, g, condition: F.where(condition, g, F.constant_like(0, g)),
    other=lambda F, g, condition: F.where(condition, F.constant_like(0, g), g),
)


def where(condition, input=None, other=None, *, out=None):
    """Elements of ``input`` where ``condition`` holds, of ``other`` elsewhere; with one argument,
    the indices.
    """
    if input is None:
        return condition.nonzero(as_tuple=True)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = number(input, dtypes.of_scalar(input))
    input, other = operands("where", input, other)
    if input._a.dtype != other._a.dtype:
        common = common_dtype(input, other).np
        convert = TENSOR.cast if is_wrapped(input) or is_wrapped(other) else converted
        input, other = convert(input, common), convert(other, common)
    if condition._a.dtype not in (bool, xp.uint8):
        raise RuntimeError(
            "where expected condition to be a boolean tensor, but got a tensor with dtype "
            f"{dtypes.scalar_name(condition.dtype)}"
        )
    if condition._a.dtype != bool:
        condition = wrap(condition._a.astype(bool))
    try:
        result = where_op(input, other, condition)
    except ValueError:
        raise broadcast_error(
            condition._a.shape, xp.broadcast_shapes(input._a.shape, other._a.shape)
        ) from None
    return result if out is None else _out("where", result, out, (input, other))


public("where", where)
RAW.where, TENSOR.where = xp.where, where
only_method(lambda self, condition, other: where(condition, self, other), "where")

masked_fill_op = declare(
    "masked_fill",
    lambda self, mask, value: xp.where(mask, dtypes.held(value, self.dtype), self),
    "self mask",
    "value",
    formula="g where not masked",
    self=lambda F, g, mask: F.masked_fill(g, mask, 0),
)
masked_fill_tensor = declare(
    "masked_fill_tensor",
    lambda self, value, mask: xp.where(mask, value.astype(self.dtype), self),
    "self value mask",
    node="MaskedFillBackward1",
    formula="∂self: g where not masked    ∂value: Σ g where masked",
    self=lambda F, g, mask: F.masked_fill(g, mask, 0),
    value=lambda F, g, mask: F.sum(F.where(mask, g, F.constant_like(0, g))),
)


def _check_mask(self, mask, value):
    if not isinstance(mask, Tensor):
        raise not_a_tensor("masked_fill", "mask", 1, mask)
    if isinstance(value, Tensor) and value._a.ndim:
        raise RuntimeError(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._a.ndim} dimension(s)."
        )
    if mask._a.dtype != bool:
        raise RuntimeError(
            "masked_fill_ only supports boolean masks, but got mask with dtype "
            f"{_C_NAMES.get(mask.dtype.name)}"
        )
    try:
        xp.broadcast_shapes(self._a.shape, mask._a.shape)
    except ValueError:
        raise broadcast_error(self._a.shape, mask._a.shape) from None


_C_NAMES = {
    "int64": "long int",
    "int32": "int",
    "uint8": "unsigned char",
    "float32": "float",
    "float64": "double",
    "int8": "signed char",
    "int16": "short int",
    "float16": "c10::Half",
    "bfloat16": "c10::BFloat16",
}


def masked_fill(self, mask, value):
    """``self`` with ``value`` where ``mask`` holds."""
    _check_mask(self, mask, value)
    if isinstance(value, Tensor):
        return masked_fill_tensor(self, value, mask)
    return masked_fill_op(self, mask, value)


def masked_fill_(self, mask, value):
    """In-place ``masked_fill``."""
    check_inplace(self, is_recording() and self.requires_grad)
    _check_mask(self, mask, value)
    if isinstance(value, Tensor):
        return write(masked_fill_tensor.op, (self, value, mask))
    return write(masked_fill_op.op, (self, mask), (value,))


method(masked_fill)
only_method(masked_fill_)
# derivatives fill masks of any truth value with numbers only
TENSOR.masked_fill = masked_fill_op


# ---------------------------------------------------------------- clamp
def _clamp_forward(x, low, high):
    if low is not None:
        x = xp.maximum(x, dtypes.held(low, x.dtype))
    return x if high is None else xp.minimum(x, dtypes.held(high, x.dtype))


def _clamp_grad(F, g, self, min, max):
    if max is None:
        keep = self >= min
    else:
        keep = self <= max if min is None else (self >= min) & (self <= max)
    return F.where(keep, g, F.constant_like(0, g))


clamp_op = declare(
    "clamp",
    _clamp_forward,
    "self",
    "min max",
    node="ClampBackward1",
    formula="g where min ≤ self ≤ max",
    self=_clamp_grad,
)
clamp_min_op = declare(
    "clamp_min",
    lambda x, low: xp.maximum(x, dtypes.held(low, x.dtype)),
    "self",
    "min",
    node="ClampMinBackward0",
    formula="g where self ≥ min",
    self=lambda F, g, self, min: F.where(self >= min, g, F.constant_like(0, g)),
)
clamp_max_op = declare(
    "clamp_max",
    lambda x, high: xp.minimum(x, dtypes.held(high, x.dtype)),
    "self",
    "max",
    node="ClampMaxBackward0",
    formula="g where self ≤ max",
    self=lambda F, g, self, max: F.where(self <= max, g, F.constant_like(0, g)),
)


def _clamp_bounds(x, low, high):
    if low is not None:
        x = xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


def _bound_grad(F, g, self, min, max, low):
    """The gradient of a bound: g where it was the one that held."""
    if low:
        holds = self < min if max is None else (self < min) & (min < max)
    else:
        holds = self > max if min is None else (self > max) | (max < min)
    return F.where(holds, g, F.constant_like(0, g))


clamp_tensors = declare(
    "clamp_tensors",
    _clamp_bounds,
    "self min max",
    node="ClampBackward0",
    formula="∂self: g where min ≤ self ≤ max",
    self=_clamp_grad,
    min=lambda F, g, self, min, max: _bound_grad(F, g, self, min, max, True),
    max=lambda F, g, self, min, max: _bound_grad(F, g, self, min, max, False),
)


def _clamp(name, call, clamped, numbers, tensors, low, high):
    if low is None and high is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        refused = refusal(name, (low, high), {}, method=True)
        if refused is not None:
            raise refused
        low, high = (
            x if x is None or isinstance(x, Tensor) else operands("clamp", clamped, x)[1]
            for x in (low, high)
        )
        if any(x is not None and x._a.dtype.kind == "c" for x in (clamped, low, high)):
            raise NotImplementedError(NO_COMPLEX_CLAMP)
        return call(tensors, (clamped, low, high), ())
    if clamped._a.dtype.kind == "c":
        raise NotImplementedError(NO_COMPLEX_CLAMP)
    if isinstance(low, complex) or isinstance(high, complex):
        raise RuntimeError("value cannot be converted to type double without overflow")
    return call(numbers, (clamped,), (low, high))


def _bounded_dtype(name, ins, attrs):
    """The dtype in which ``ins`` are limited by the numbers ``attrs``."""
    wanted = common_dtype(*[x for x in ins if x is not None])
    for bound in attrs:
        if bound is not None:
            wanted = dtypes.result_type([(wanted, 0), (dtypes.of_scalar(bound), 2)])
    if attrs and wanted.category == 0:
        if name == "clamp" and None in attrs:
            name = "clamp_max" if attrs[0] is None else "clamp_min"
        raise NotImplementedError(f"\"{name}_scalar_cpu\" not implemented for 'Bool'")
    return wanted


def _apply(function, ins, attrs):
    wanted = _bounded_dtype(function.op.name, ins, attrs)
    ins = [x if x is None else converted(x, wanted.np) for x in ins]
    return function(*ins, *attrs)


def _apply_inplace(function, ins, attrs):
    own, wanted = ins[0].dtype, _bounded_dtype(function.op.name, ins, attrs)
    if not dtypes.can_cast(wanted, own):
        name = dtypes.c_name(own) if attrs else dtypes.scalar_name(own)
        raise RuntimeError(
            f"result type {dtypes.scalar_name(wanted)} can't be cast to the desired output type "
            f"{name}"
        )
    return write(function.op, ins, attrs)


def clamp(input, min=None, max=None, *, out=None):
    """Elements limited to [min, max]; the gradient passes where the element lies inside, bounds
    included.
    """
    result = _clamp("clamp", _apply, input, clamp_op, clamp_tensors, min, max)
    return result if out is None else _out("clamp", result, out, (input,))


def clamp_(self, min=None, max=None):
    """In-place ``clamp``."""
    return _clamp("clamp_", _apply_inplace, self, clamp_op, clamp_tensors, min, max)


def _refuse_complex_bound(bound):
    if isinstance(bound, complex):
        raise NotImplementedError(NO_COMPLEX_CLAMP)


def _one_sided(name, number_op, tensor_op):
    def function(input, bound, *, out=None):
        if isinstance(bound, Tensor):
            return tensor_op(input, bound)
        _refuse_complex_bound(bound)
        result = _apply(number_op, (input,), (bound,))
        return result if out is None else _out(name, result, out, (input,))

    def inplace(self, bound):
        if isinstance(bound, Tensor):
            return _apply_inplace(tensor_op, (self, bound), ())
        _refuse_complex_bound(bound)
        return _apply_inplace(number_op, (self,), (bound,))

    function.__name__, function.__doc__ = name, f"Elements limited from one side (``{name}``)."
    inplace.__name__, inplace.__doc__ = f"{name}_", f"In-place ``{name}``."
    method(function)
    method(inplace)


_min_tensor = binary(
    "clamp_min_tensor",
    xp.maximum,
    "self min",
    node="ClampMinBackward1",
    expose=False,
    self=lambda F, g, self, min: F.where(self >= min, g, F.constant_like(0, g)),
    min=lambda F, g, self, min: F.where(self < min, g, F.constant_like(0, g)),
)
_max_tensor = binary(
    "clamp_max_tensor",
    xp.minimum,
    "self max",
    node="ClampMaxBackward1",
    expose=False,
    self=lambda F, g, self, max: F.where(self <= max, g, F.constant_like(0, g)),
    max=lambda F, g, self, max: F.where(self > max, g, F.constant_like(0, g)),
)
method(clamp)
method(clamp_)
TENSOR.clamp = clamp_op
_one_sided("clamp_min", clamp_min_op, _min_tensor)
_one_sided("clamp_max", clamp_max_op, _max_tensor)
alias("clip", "clamp")
alias("clip_", "clamp_")


# ---------------------------------------------------------------- blends
def _between(self, end, weight, kind):
    """From the nearer end, so that both ends are met exactly."""
    if abs(weight) < 0.5:
        return self + kind(weight) * (end - self)
    return end - (end - self) * (kind(1) - kind(weight))


lerp_number = declare(
    "lerp_number",
    lambda self, end, weight: _between(self, end, weight, self.dtype.type),
    "self end",
    "weight",
    node="LerpBackward0",
    formula="∂self: (1 − w) · g    ∂end: w · g",
    self=lambda F, g, weight: g * (1 - weight.conjugate()),
    end=lambda F, g, weight: g * weight.conjugate(),
)
lerp_op = declare(
    "lerp",
    lambda self, end, weight: xp.where(
        xp.abs(weight) < 0.5, self + weight * (end - self), end - (end - self) * (1 - weight)
    ),
    "self end weight",
    node="LerpBackward1",
    formula="∂self: (1 − w) · g    ∂end: w · g    ∂w: g · (end − self)",
    self=lambda F, g, weight: g * F.conj(1 - weight),
    end=lambda F, g, weight: g * F.conj(weight),
    weight=lambda F, g, self, end: g * F.conj(end - self),
)


def lerp(input, end, weight, *, out=None):
    """``input + weight · (end − input)``."""
    if input._a.dtype != end._a.dtype:
        raise RuntimeError(f"expected dtype {_lower(input)} for `end` but got dtype {_lower(end)}")
    _check_weight(input, weight)
    weight = _beside(input, weight)
    result = (
        lerp_op(input, end, weight)
        if isinstance(weight, Tensor)
        else lerp_number(input, end, weight)
    )
    return result if out is None else _out("lerp", result, out, (input, end))


def _check_weight(input, weight):
    if isinstance(weight, Tensor) and weight._a.ndim and weight._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"expected dtype {_lower(input)} for `weight` but got dtype {_lower(weight)}"
        )


def _beside(input, weight):
    """A single weight in the dtype of ``input``."""
    if isinstance(weight, Tensor) and weight._a.dtype != input._a.dtype:
        return converted(weight, input._a.dtype)
    return weight


def _lower(x):
    return _C_NAMES.get(x.dtype.name, x.dtype.name)


def lerp_(self, end, weight):
    """In-place ``lerp``."""
    if not isinstance(end, Tensor):
        raise refusal("lerp_", (end, weight), {}, method=True)
    _check_weight(self, weight)
    if self._a.dtype != end._a.dtype:
        raise RuntimeError(f"expected dtype {_lower(self)} for `end` but got dtype {_lower(end)}")
    weight = _beside(self, weight)
    if isinstance(weight, Tensor):
        return write(lerp_op.op, (self, end, weight))
    return write(lerp_number.op, (self, end), (weight,))


method(lerp)
only_method(lerp_)


def _scaled(x, value):
    return x if value == 1 else x * x.dtype.type(value)


addcmul_op = declare(
    "addcmul",
    lambda self, tensor1, tensor2, value: self + _scaled(tensor1, value) * tensor2,
    "self tensor1 tensor2",
    "value",
    formula="∂self: g    ∂tensor1: g · value · tensor2    ∂tensor2: g · value · tensor1",
    self=lambda F, g: g,
    tensor1=lambda F, g, tensor2, value: g * F.conj(tensor2 * value),
    tensor2=lambda F, g, tensor1, value: g * F.conj(tensor1 * value),
)
addcdiv_op = declare(
    "addcdiv",
    lambda self, tensor1, tensor2, value: self + _scaled(tensor1, value) / tensor2,
    "self tensor1 tensor2",
    "value",
    formula="∂self: g    ∂tensor1: g · value / tensor2    ∂tensor2: −g · value · tensor1 / "
    "tensor2²",
    self=lambda F, g: g,
    tensor1=lambda F, g, tensor2, value: g * F.conj(value / tensor2),
    tensor2=lambda F, g, tensor1, tensor2, value: (
        -g * F.conj(tensor1 * value / (tensor2 * tensor2))
    ),
)


_CDIV = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will "
    "perform a true division of tensor1 and "
    "tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for "
    "integer inputs and as (input + value * tensor1 / tensor2) for float inputs. The future "
    "addcdiv behavior is just the latter "
    "implementation: (input + value * tensor1 / tensor2), for all dtypes."
)


def _ternary(op_function, name):
    def refuse_integers(tensor1, tensor2):
        if name == "addcdiv" and tensor1._a.dtype.kind in "biu" and tensor2._a.dtype.kind in "biu":
            raise RuntimeError(_CDIV)

    def function(input, tensor1, tensor2, *, value=1, out=None):
        refuse_integers(tensor1, tensor2)
        common = common_dtype(input, tensor1, tensor2).np
        three = [converted(x, common) for x in (input, tensor1, tensor2)]
        result = op_function(*three, value)
        return result if out is None else _out(name, result, out, (input, tensor1, tensor2))

    def inplace(self, tensor1, tensor2, *, value=1):
        try:
            refuse_integers(tensor1, tensor2)
        except AttributeError as error:
            raise refusal(f"{name}_", (tensor1, tensor2), {}, method=True) or error from None
        return write(op_function.op, (self, tensor1, tensor2), (value,))

    function.__doc__ = (
        f"``{name}``: the tensor plus ``value`` times the product or quotient of the others."
    )
    method(function, name)
    only_method(inplace, name + "_")


_ternary(addcmul_op, "addcmul")
_ternary(addcdiv_op, "addcdiv")
