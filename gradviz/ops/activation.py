"""Activations that PyTorch records as one node."""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import Tensor
from ..engine.operation import RAW, TENSOR
from ..engine.views import rename_in_place, write
from . import fused
from .declare import declare, method, public, unary
from .elementwise import _sigmoid, _special
from .gelu import gelu, gelu_back
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
    self=lambda F, g, self, beta, threshold: F.where(
        self * beta > threshold, g, g * F.sigmoid(self * beta)
    ),
)
leaky_relu = declare(
    "leaky_relu",
    lambda x, slope: xp.where(x > 0, x, x * x.dtype.type(slope)),
    "self",
    "negative_slope",
    formula="g where self > 0, slope · g elsewhere",
    self=lambda F, g, self, negative_slope: F.where(self > 0, F.tied(g, self), g * negative_slope),
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
    self=lambda F, g, self, alpha, scale, input_scale: F.where(
        self <= 0,
        g * (F.exp(F.clamp_max(self, 0.0) * input_scale) * (alpha * scale * input_scale)),
        g * scale,
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
    self=lambda F, g, self, alpha: F.where(self <= 0, g * F.exp(F.clamp_max(self, 0.0) / alpha), g),
)
silu = unary(
    "silu",
    lambda x: x * _sigmoid(x),
    expose=False,
    formula="g · σ(self) · (1 + self · (1 − σ(self)))",
    self=lambda F, g, self: g * (F.sigmoid(self) * (1 + self * (1 - F.sigmoid(self)))),
)


def _soft(x):
    return xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(x, 0)


def _mish_grad(F, g, self):
    t = F.tanh(F.softplus(self, 1.0, 20.0))
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


def _gelu_grad(F, g, self, approximate):
    if approximate == "tanh":
        t = F.tanh((self + self * self * self * 0.044715) * 0.7978845608028654)
        slope = (1 + self * self * 0.134145) * 0.7978845608028654
        return g * ((1 + t) * 0.5 + self * (1 - t * t) * slope * 0.5)
    if F is RAW and self.__class__ is not ndarray:
        return fused.gelu_back(g, self)
    if F is RAW and self.dtype == xp.float32:
        return gelu_back(g, self)
    return g * (
        (1 + F.erf(self * 0.7071067811865476)) * 0.5
        + self * F.exp(self * self * -0.5) * 0.3989422804014327
    )


gelu_op = declare(
    "gelu",
    channels_kept(_gelu_forward),
    "self",
    "approximate",
    formula="g · (Φ(self) + self · φ(self))",
    self=_gelu_grad,
)


tied = declare(
    "tied",
    lambda x, source: x.copy("K"),
    "self source",
    node="ThresholdBackwardBackward0",
    self=lambda F, g: g,
    source=lambda F, g: F.zeros_like(g),
)
RAW.tied = lambda x, source: x


def _outside(F, g, hidden, x):
    """``g`` where not ``hidden``; it depends on ``x``, with derivative 0, as PyTorch has it."""
    return F.masked_fill(F.tied(g, x), hidden, 0)


def _not_between(F, x, low, high):
    """Where ``x`` is not strictly between two numbers: NaN is not."""
    return ~((x > low) & (x < high))


hardtanh_op = declare(
    "hardtanh",
    lambda x, low, high: xp.clip(x, x.dtype.type(low), x.dtype.type(high)),
    "self",
    "min_val max_val",
    formula="g where min < self < max",
    self=lambda F, g, self, min_val, max_val: _outside(
        F, g, _not_between(F, self, min_val, max_val), self
    ),
)
hardsigmoid_op = unary(
    "hardsigmoid",
    lambda x: xp.clip(x + 3, 0, 6) / x.dtype.type(6),
    expose=False,
    formula="g/6 where −3 < self < 3",
    self=lambda F, g, self: _outside(F, g / 6, _not_between(F, self, -3, 3), self),
)
hardswish_op = unary(
    "hardswish",
    lambda x: x * xp.clip(x + 3, 0, 6) / x.dtype.type(6),
    expose=False,
    formula="0 below −3, g above 3, (2 self + 3)/6 · g between",
    self=lambda F, g, self: F.where(
        self < 3, _outside(F, g * (self / 3 + 0.5), self <= -3, self), g
    ),
)
hardshrink_op = declare(
    "hardshrink_op",
    lambda x, lambd: xp.where((x >= -lambd) & (x <= lambd), x.dtype.type(0), x),
    "self",
    "lambd",
    node="HardshrinkBackward0",
    formula="g outside [−λ, λ]",
    self=lambda F, g, self, lambd: _outside(F, g, ~((self < -lambd) | (self > lambd)), self),
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
    self=lambda F, g, self, lambd: _outside(F, g, ~((self < -lambd) | (self > lambd)), self),
)
threshold_op = declare(
    "threshold_op",
    lambda x, threshold, value: xp.where(x <= threshold, x.dtype.type(value), x),
    "self",
    "threshold value",
    node="ThresholdBackward0",
    formula="g where self > threshold",
    self=lambda F, g, self, threshold: _outside(F, g, self <= threshold, self),
)
prelu_op = declare(
    "prelu_op",
    lambda x, w: xp.where(x > 0, x, x * w),
    "self weight",
    node="PreluKernelBackward0",
    formula="∂self: g where self > 0, w · g elsewhere    ∂w: self · g where self ≤ 0",
    self=lambda F, g, self, weight: F.where(self > 0, g, g * weight),
    weight=lambda F, g, self: F.where(self > 0, F.constant_like(0, g), g * self),
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


def _glu_grad(F, g, self, self_shape, dim):
    half = self_shape[dim] // 2
    a, b = F.narrow(self, dim, 0, half), F.narrow(self, dim, half, half)
    s = F.sigmoid(b)
    return F.cat([g * s, g * a * (s * (1 - s))], dim)


glu_op = declare(
    "glu",
    _glu_forward,
    "self",
    "dim",
    formula="g · σ(b) for a, g · a · σ′(b) for b",
    hidden=("self_sym_sizes",),
    self=_glu_grad,
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
for _op in (elu_op, celu_op, threshold_op, leaky_relu):
    rename_in_place(_op.op, _op.op.node.__name__.replace("Backward0", "Backward1"))
TENSOR.elu = lambda x, alpha: elu_op(x, alpha, 1, 1)
