"""Activations that PyTorch records as one node."""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import Tensor
from ..engine.node import FREED
from ..engine.operation import RAW, TENSOR
from ..engine.views import record_in_place, rename_in_place, write
from . import fused
from .activation_backward import log_sigmoid_buffer
from .declare import declare, method, public, unary
from .elementwise import _sigmoid, _special
from .gelu import gelu
from .layout import channels_kept
from .lower import lowered
from .shape import reshape

ndarray = xp.ndarray
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _softplus(x, beta, threshold):
    scaled = x * x.dtype.type(beta)
    return xp.where(
        scaled > threshold, x, xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta
    ).astype(x.dtype, copy=False)


softplus = declare(
    "softplus",
    _softplus,
    "self",
    "beta threshold",
    formula="g · σ(β · self)",
    self=lambda F, g, self, beta, threshold: F.softplus_backward(g, self, beta, threshold),
)


log_sigmoid_op = declare(
    "log_sigmoid",
    lambda x: xp.minimum(x, 0) - xp.log1p(xp.exp(-xp.abs(x))),
    "self",
    formula="g · σ(−self)",
    also={"buffer": lambda node: log_sigmoid_buffer(() if node.s is FREED else node.s)},
    self=lambda F, g, self: F.log_sigmoid_backward(g, self),
)
leaky_relu = declare(
    "leaky_relu",
    lambda x, slope: xp.where(x > 0, x, x * x.dtype.type(slope)),
    "self",
    "negative_slope",
    formula="g where self > 0, slope · g elsewhere",
    self=lambda F, g, self, negative_slope: F.leaky_relu_backward(g, self, negative_slope),
)


def _elu(x, alpha, scale, input_scale):
    t = x.dtype.type
    return xp.where(
        x > 0, x * t(scale), xp.expm1(xp.minimum(x, 0) * t(input_scale)) * t(alpha * scale)
    )


elu_op = declare(
    "elu_op",
    _elu,
    "self",
    "alpha scale input_scale",
    node="EluBackward0",
    formula="scale · g where self > 0, scale · α · exp self · g elsewhere",
    self=lambda F, g, self, alpha, scale, input_scale: F.elu_backward(
        g, self, alpha, scale, input_scale
    ),
)
celu_op = declare(
    "celu_op",
    lambda x, alpha: xp.where(
        x > 0, x, xp.expm1(xp.minimum(x, 0) / x.dtype.type(alpha)) * x.dtype.type(alpha)
    ),
    "self",
    "alpha",
    node="CeluBackward0",
    formula="g where self > 0, exp(self/α) · g elsewhere",
    self=lambda F, g, self, alpha: F.elu_backward(g, self, alpha, 1, 1.0 / alpha),
)


def _silu_grad(F, g, self):
    s = F.sigmoid(self)
    return g * s * (self * (1 - s) + 1)


silu = unary(
    "silu",
    lambda x: x * _sigmoid(x),
    expose=False,
    formula="g · σ(self) · (1 + self · (1 − σ(self)))",
    self=_silu_grad,
)


def _soft(x):
    return xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(x, 0)


def _mish_grad(F, g, self):
    t = F.tanh(F.softplus(self, 1.0, 20.0) if F is RAW else F.log1p(F.exp(self)))
    return g * (t + self * F.sigmoid(self) * (1 - t * t))


mish = unary(
    "mish",
    lambda x: x * xp.tanh(_soft(x)),
    expose=False,
    formula="g · (t + self · σ(self) · (1 − t²)), t = tanh softplus self",
    self=_mish_grad,
)


def _gelu_tanh(x):
    inner = x.dtype.type(0.7978845608028654) * (x + x.dtype.type(0.044715) * x * x * x)
    return 0.5 * x * (1 + xp.tanh(inner))


def _gelu_forward(x, approximate):
    if approximate == "tanh":
        return _gelu_tanh(x)
    if x.__class__ is not ndarray:
        return fused.gelu(x)
    if x.dtype.itemsize < 8:
        return gelu(x.astype(xp.float32, copy=False)).astype(x.dtype, copy=False)
    return (x * 0.5 * (1 + _special("erf")(x * 0.7071067811865476))).astype(x.dtype, copy=False)


gelu_op = declare(
    "gelu",
    channels_kept(_gelu_forward),
    "self",
    "approximate",
    formula="g · (Φ(self) + self · φ(self))",
    self=lambda F, g, self, approximate: F.gelu_backward(g, self, approximate),
)


hardtanh_op = declare(
    "hardtanh",
    lambda x, low, high: xp.clip(x, x.dtype.type(low), x.dtype.type(high)),
    "self",
    "min_val max_val",
    formula="g where min < self < max",
    self=lambda F, g, self, min_val, max_val: F.hardtanh_backward(g, self, min_val, max_val),
)
hardsigmoid_op = unary(
    "hardsigmoid",
    lambda x: xp.clip(x + 3, 0, 6) / x.dtype.type(6),
    expose=False,
    formula="g/6 where −3 < self < 3",
    self=lambda F, g, self: F.hardsigmoid_backward(g, self),
)
hardswish_op = unary(
    "hardswish",
    lambda x: x * xp.clip(x + 3, 0, 6) / x.dtype.type(6),
    expose=False,
    formula="0 below −3, g above 3, (2 self + 3)/6 · g between",
    self=lambda F, g, self: F.hardswish_backward(g, self),
)
hardshrink_op = declare(
    "hardshrink_op",
    lambda x, lambd: xp.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x),
    "self",
    "lambd",
    node="HardshrinkBackward0",
    formula="g outside [−λ, λ]",
    self=lambda F, g, self, lambd: F.hardshrink_backward(g, self, lambd),
)


def _softshrink(x, lambd):
    t = x.dtype.type
    return xp.where(x > lambd, x - t(lambd), xp.where(x < -lambd, x + t(lambd), x * t(0)))


softshrink_op = declare(
    "softshrink",
    _softshrink,
    "self",
    "lambd",
    formula="g outside [−λ, λ]",
    self=lambda F, g, self, lambd: F.softshrink_backward(g, self, lambd),
)
threshold_op = declare(
    "threshold_op",
    lambda x, threshold, value: xp.where(x <= threshold, x.dtype.type(value), x),
    "self",
    "threshold value",
    node="ThresholdBackward0",
    formula="g where self > threshold",
    self=lambda F, g, self, threshold: F.threshold_slope(g, self, threshold),
)


def _prelu_joint(F, g, self, weight, needs):
    return tuple(x if n else None for x, n in zip(F.prelu_backward(g, self, weight), needs))  # noqa: B905


prelu_op = declare(
    "prelu_op",
    lambda x, w: xp.where(x > 0, x, x * w),
    "self weight",
    node="PreluKernelBackward0",
    formula="∂self: g where self > 0, w · g elsewhere    ∂w: self · g where self ≤ 0",
    joint=_prelu_joint,
)


def _halves(x, dim):
    if x.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {x.shape[dim]}"
        )
    return xp.split(x, 2, dim)


def _glu_forward(x, dim):
    a, b = _halves(x, dim)
    return a * _sigmoid(b)


glu_op = declare(
    "glu",
    _glu_forward,
    "self",
    "dim",
    formula="g · σ(b) for a, g · a · σ′(b) for b",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, self_shape, dim: F.glu_backward(g, self, dim),
)


# ---------------------------------------------------------------- names in the main namespace
def _refuse_integers(name, x):
    if x._a.dtype.kind in "biu":
        raise RuntimeError(f"\"{name}\" not implemented for '{dtypes.scalar_name(x.dtype)}'")


def selu(input):
    """Self-normalising ELU."""
    return elu_op(input, SELU_ALPHA, SELU_SCALE, 1)


def celu(input, alpha=1.0):
    """max(0, x) + min(0, α · (exp(x/α) − 1))."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return celu_op(input, alpha)


def threshold(input, threshold, value):
    """x where x > threshold, ``value`` elsewhere."""
    return threshold_op(input, threshold, value)


def hardshrink(input, lambd=0.5):
    """x outside [−λ, λ], 0 inside."""
    return hardshrink_op(input, lambd)


def prelu(input, weight):
    """x where positive, weight · x elsewhere; one weight, or one a channel (dimension 1)."""
    if not isinstance(weight, Tensor):
        raise TypeError(
            f"prelu(): argument 'weight' (position 2) must be Tensor, not {type(weight).__name__}"
        )
    input, weight = lowered(input, weight)
    n = weight._a.size
    channels = input._a.shape[1] if input._a.ndim > 1 else 1
    if n != 1 and n != channels:
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. Found parameter numbers = "
            f"{n} and channel size = {channels}."
        )
    return prelu_op(
        input,
        reshape(
            weight,
            (1, -1, *[1] * (input._a.ndim - 2))
            if input._a.ndim > 1
            else (-1,)
            if input._a.ndim
            else (),
        ),
    )


for _f in (selu, celu, threshold):
    public(_f.__name__, _f)
method(hardshrink)
method(prelu)
public("selu_", lambda input: write(elu_op.op, (input,), (SELU_ALPHA, SELU_SCALE, 1)))
public("celu_", lambda input, alpha=1.0: write(celu_op.op, (input,), (alpha,)))
public(
    "threshold_",
    lambda input, threshold, value: write(threshold_op.op, (input,), (threshold, value)),
)
rename_in_place(threshold_op.op, "ThresholdBackward1")


# ---------------------------------------------------------------- in place
def not_negative(slope, name="leakyReLu", more=""):
    """``slope``; RuntimeError when it is negative: the sign of the input is not in the result."""
    if slope < 0:
        raise RuntimeError(
            f"In-place {name} backward calculation is triggered with a negative slope which is not "
            "supported. This is caused by calling in-place forward function with a negative slope, "
            f"please call out-of-place version instead.{more}"
        )
    return slope


LEAKY = (
    "leakyReLu",
    " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place "
    "leakRelu backward calculation with negative slope",
)

_elu_written = declare(
    "elu_written",
    _elu,
    "self",
    "alpha scale input_scale",
    node="EluBackward1",
    formula="scale · g where result > 0, (result + scale · α) · g elsewhere",
    self=lambda F, g, result, alpha, scale, input_scale: F.elu_backward_of_result(
        g, result, not_negative(alpha, "elu"), scale, input_scale
    ),
)
_celu_written = declare(
    "celu_written",
    celu_op.op.forward,
    "self",
    "alpha",
    node="CeluBackward1",
    formula="g where result > 0, (result/α + 1) · g elsewhere",
    self=lambda F, g, result, alpha: F.elu_backward_of_result(
        g, result, not_negative(alpha, "elu"), 1, 1.0 / alpha
    ),
)
_leaky_relu_written = declare(
    "leaky_relu_written",
    leaky_relu.op.forward,
    "self",
    "negative_slope",
    node="LeakyReluBackward1",
    formula="g where result > 0, slope · g elsewhere",
    self=lambda F, g, result, negative_slope: F.leaky_relu_backward(
        g, result, not_negative(negative_slope, *LEAKY)
    ),
)
record_in_place(elu_op.op, _elu_written.op)
record_in_place(celu_op.op, _celu_written.op)
record_in_place(leaky_relu.op, _leaky_relu_written.op)
TENSOR.elu = lambda x, alpha: elu_op(x, alpha, 1, 1)
