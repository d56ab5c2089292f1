"""Gradients of activations that PyTorch records as one node: linear in ``grad_output``, with the
slope at the input or result beside it.
"""

from __future__ import annotations

from ..backend import xp
from ..engine.node import FREED, freed
from ..engine.operation import RAW
from ..engine.saved import read_array
from ..engine.saved_names import kept
from . import fused
from .casting import refuse
from .declare import declare
from .elementwise import _sigmoid, _special
from .gelu import gelu_back

ndarray = xp.ndarray
_INPUTS = "grad_output self"


def _none(F, g):
    """Of what is only compared with: 0."""
    return F.zeros_like(g)


# ---------------------------------------------------------------- 0, 1 or another constant
def _between(g, x, low, high):
    """``g`` where x lies between; for NaN nothing."""
    return xp.where((x > low) & (x < high), g, g.dtype.type(0))


def _not_beyond(g, x, low, high):
    """As ``_between``, but what is NaN passes."""
    return xp.where((x <= low) | (x >= high), g.dtype.type(0), g)


declare(
    "threshold_slope",
    lambda g, x, threshold: xp.where(x <= threshold, g.dtype.type(0), g),
    _INPUTS,
    "threshold",
    node="ThresholdBackwardBackward0",
    formula="g where self > threshold",
    grad_output=lambda F, g, self, threshold: F.threshold_slope(g, self, threshold),
    self=_none,
)
declare(
    "hardtanh_backward",
    _not_beyond,
    _INPUTS,
    "min_val max_val",
    node="HardtanhBackwardBackward0",
    formula="g where min < self < max",
    grad_output=lambda F, g, self, min_val, max_val: F.hardtanh_backward(g, self, min_val, max_val),
    self=_none,
)
declare(
    "hardsigmoid_backward",
    lambda g, x: _between(g / 6, x, -3, 3),
    _INPUTS,
    node="NotImplemented",
    grad_output=refuse("hardsigmoid_backward"),
    self=refuse("hardsigmoid_backward"),
)
declare(
    "hardshrink_backward",
    lambda g, x, lambd: xp.where((x < -lambd) | (x > lambd), g, g.dtype.type(0)),
    _INPUTS,
    "lambd",
    node="HardshrinkBackwardBackward0",
    formula="g outside [−λ, λ]",
    grad_output=lambda F, g, self, lambd: F.hardshrink_backward(g, self, lambd),
    self=_none,
)
declare(
    "softshrink_backward",
    lambda g, x, lambd: xp.where((x >= -lambd) & (x <= lambd), g.dtype.type(0), g),
    _INPUTS,
    "lambd",
    node="SoftshrinkBackwardBackward0",
    formula="g outside [−λ, λ]",
    grad_output=lambda F, g, self, lambd: F.softshrink_backward(g, self, lambd),
    self=_none,
)
declare(
    "leaky_relu_backward",
    lambda g, x, slope: xp.where(x > 0, g, g * g.dtype.type(slope)),
    _INPUTS,
    "negative_slope",
    node="LeakyReluBackwardBackward0",
    formula="g where self > 0, slope · g elsewhere",
    grad_output=lambda F, g, self, negative_slope: F.leaky_relu_backward(g, self, negative_slope),
    self=_none,
)


def _hardswish(g, x):
    inside = xp.where(x <= -3, g.dtype.type(0), g * (x / 3 + x.dtype.type(0.5)))
    return xp.where(x < 3, inside, g)


declare(
    "hardswish_backward",
    _hardswish,
    _INPUTS,
    node="HardswishBackwardBackward0",
    formula="∂g: 0 below −3, g above 3, (2 self + 3)/6 · g between    ∂self: g · grad/3 between",
    grad_output=lambda F, g, self: F.hardswish_backward(g, self),
    self=lambda F, g, grad_output, self: F.hardtanh_backward(g * grad_output / 3, self, -3, 3),
)


# ---------------------------------------------------------------- smooth ones
def _elu(g, x, alpha, scale, input_scale):
    t = x.dtype.type
    steep = xp.exp(xp.minimum(x, 0) * t(input_scale)) * t(alpha * scale * input_scale)
    return xp.where(x <= 0, g * steep, g * t(scale))


def _elu_curve(F, g, grad_output, self, alpha, scale, input_scale):
    bent = F.exp(F.clamp_max(self, 0.0) * input_scale) * (alpha * scale * input_scale**2)
    return F.masked_fill(g * grad_output * bent, self >= 0, 0)


declare(
    "elu_backward",
    _elu,
    _INPUTS,
    "alpha scale input_scale",
    node="EluBackwardBackward0",
    formula="scale · g where self > 0, scale · α · exp self · g elsewhere",
    hidden=("self",),
    also={"is_result": lambda node: False, "self_or_result": kept("self")},
    grad_output=lambda F, g, self, alpha, scale, input_scale: F.elu_backward(
        g, self, alpha, scale, input_scale
    ),
    self=_elu_curve,
)


def _elu_of_result(g, self, alpha, scale, input_scale):
    t = self.dtype.type
    steep = (self + t(alpha * scale)) * t(input_scale)
    return xp.where(self <= 0, g * steep, g * t(scale))


def _elu_of_result_curve(F, g, grad_output, self, alpha, scale, input_scale):
    return F.masked_fill(g * grad_output * input_scale, self >= 0, 0)


declare(
    "elu_backward_of_result",
    _elu_of_result,
    _INPUTS,
    "alpha scale input_scale",
    node="EluBackwardBackward0",
    formula="scale · g where self > 0, (self + scale · α) · g elsewhere",
    hidden=("self",),
    also={"is_result": lambda node: True, "self_or_result": kept("self")},
    grad_output=lambda F, g, self, alpha, scale, input_scale: F.elu_backward_of_result(
        g, self, alpha, scale, input_scale
    ),
    self=_elu_of_result_curve,
)


def _softplus(g, x, beta, threshold):
    scaled = x * x.dtype.type(beta)
    return xp.where(scaled > threshold, g, g * _sigmoid(scaled))


def _softplus_curve(F, g, grad_output, self, beta, threshold):
    s = F.sigmoid(self * beta)
    return F.masked_fill(g * grad_output * (s * (1 - s) * beta), self * beta > threshold, 0)


declare(
    "softplus_backward",
    _softplus,
    _INPUTS,
    "beta threshold",
    node="SoftplusBackwardBackward0",
    formula="∂g: g · σ(β · self)    ∂self: g · grad · β · σ (1 − σ)",
    grad_output=lambda F, g, self, beta, threshold: F.softplus_backward(g, self, beta, threshold),
    self=_softplus_curve,
)


def _gelu(g, x, approximate):
    if approximate == "tanh":
        inner = (x + x * x * x * 0.044715) * _ROOT
        t = xp.tanh(inner)
        return g * ((1 + t) * 0.5 + x * (1 - t * t) * (1 + x * x * 0.134145) * (_ROOT * 0.5))
    if x.__class__ is not ndarray:
        return fused.gelu_back(g, x)
    if x.dtype == xp.float32:
        return gelu_back(g, x)
    slope = (1 + _special("erf")(x * fused.ROOT_HALF)) * 0.5
    return g * (slope + x * xp.exp(x * x * -0.5) * fused.DENSITY)


_ROOT = 0.7978845608028654  # √(2/π)


def _gelu_curve(F, g, grad_output, self, approximate):
    square = self * self
    if approximate != "tanh":
        return g * grad_output * (F.exp(square * -0.5) * (2 - square) * fused.DENSITY)
    t = F.tanh((self + square * self * 0.044715) * _ROOT)
    rate = (1 + square * 0.134145) * _ROOT
    bend = rate + self * (self * (0.134145 * _ROOT) - t * rate * rate)
    return g * grad_output * ((1 - t * t) * bend)


declare(
    "gelu_backward",
    _gelu,
    _INPUTS,
    "approximate",
    node="GeluBackwardBackward0",
    formula="∂g: g · (Φ(self) + self · φ(self))    ∂self: g · grad · φ(self) (2 − self²)",
    grad_output=lambda F, g, self, approximate: F.gelu_backward(g, self, approximate),
    self=_gelu_curve,
)


def log_sigmoid_buffer(kept):
    """What PyTorch's kernel leaves for the backward, from the saved input."""
    if not kept:
        freed()
    return xp.exp(-xp.abs(read_array(*kept)))


def _log_sigmoid_curve(F, g, grad_output, self):
    s = F.sigmoid(self)
    return -(g * grad_output * (s * (1 - s)))


declare(
    "log_sigmoid_backward",
    lambda g, x: g * _sigmoid(-x),
    _INPUTS,
    node="LogSigmoidBackwardBackward0",
    formula="∂g: g · σ(−self)    ∂self: −g · grad · σ (1 − σ)",
    also={"buffer": lambda node: log_sigmoid_buffer(() if node.s is FREED else node.s[2:4])},
    grad_output=lambda F, g, self: F.log_sigmoid_backward(g, self),
    self=_log_sigmoid_curve,
)


# ---------------------------------------------------------------- of two inputs
def _halves(F, x, dim):
    half = x.shape[dim] // 2
    return F.narrow(x, dim, 0, half), F.narrow(x, dim, half, half)


def _glu(g, x, dim):
    a, b = _halves(RAW, x, dim)
    s = _sigmoid(b)
    return xp.concatenate([g * s, g * a * (s * (1 - s))], dim)


def _glu_grad_output(F, g, self, dim):
    (ga, gb), (a, b) = _halves(F, g, dim), _halves(F, self, dim)
    s = F.sigmoid(b)
    return ga * s + gb * a * (s * (1 - s))


def _glu_self(F, g, grad_output, self, dim):
    (ga, gb), (a, b) = _halves(F, g, dim), _halves(F, self, dim)
    s = F.sigmoid(b)
    slope = grad_output * (s * (1 - s))
    return F.cat([gb * slope, slope * (ga + gb * a * (1 - 2 * s))], dim)


declare(
    "glu_backward",
    _glu,
    _INPUTS,
    "dim",
    node="GluBackwardBackward0",
    formula="∂g: ga · σ(b) + gb · a · σ′(b)",
    grad_output=_glu_grad_output,
    self=_glu_self,
)


def _prelu_back(F, g, grad_output, self, weight, needs):
    """``g``: of the gradients for the input and for the weight, either may be None."""
    x, w = g
    positive, zero = self >= 0, F.constant_like(0, grad_output)
    below = [] if x is None else [x * weight]
    below += [] if w is None else [w * self]
    return (
        F.where(positive, zero if x is None else x, F.plus(*below) if len(below) > 1 else below[0]),
        F.where(positive, zero, w * grad_output) if needs[1] and w is not None else None,
        F.where(positive, zero, x * grad_output) if needs[2] and x is not None else None,
    )


declare(
    "prelu_backward",
    lambda g, x, w: (xp.where(x > 0, g, g * w), xp.where(x > 0, g.dtype.type(0), g * x)),
    "grad_output self weight",
    node="PreluKernelBackwardBackward0",
    outputs=True,
    formula="∂g: g where self > 0, w · g elsewhere",
    joint=_prelu_back,
)
