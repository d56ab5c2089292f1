"""Activations."""

from __future__ import annotations

import warnings

from ...backend import beside, xp
from ...engine import views
from ...engine.dispatch import wrap
from ...engine.dtypes import scalar_name
from ...engine.tensor import wrap_dim
from ...ops import activation as table
from ...ops.casting import refuse_complex
from ...ops.declare import FUNCTIONS, declare, public
from ...ops.info import finfo
from ...ops.random import by_slice, stream_of
from ...ops.softmax import log_softmax as _log_softmax
from ...ops.softmax import softmax as _softmax

_relu = FUNCTIONS["relu"]


def _apply(op, input, attrs, inplace):
    return views.write(op.op, (input,), attrs) if inplace else op(input, *attrs)


def relu(input, inplace=False):
    """``max(input, 0)``."""
    return input.relu_() if inplace else _relu(input)


def relu_(input):
    """In-place ``relu``."""
    return input.relu_()


def threshold(input, threshold, value, inplace=False):
    """``input`` where it is above ``threshold``, ``value`` elsewhere."""
    return _apply(table.threshold_op, input, (threshold, value), inplace)


def hardtanh(input, min_val=-1.0, max_val=1.0, inplace=False):
    """``input`` clipped to [min_val, max_val]."""
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    if input.dtype.category == 3:
        raise NotImplementedError("clamp is not supported for complex types")
    if input.dtype.category == 0:
        raise RuntimeError("Bool inputs not supported for hardtanh")
    if min_val < 0 and input._a.dtype.kind == "u":
        raise RuntimeError("cannot do hardtanh on an unsigned type with negative limits")
    return _apply(table.hardtanh_op, input, (min_val, max_val), inplace)


def relu6(input, inplace=False):
    """``input`` clipped to [0, 6]."""
    return hardtanh(input, 0, 6, inplace)


def elu(input, alpha=1.0, inplace=False):
    """``input`` where positive, ``alpha · (exp(input) − 1)`` elsewhere."""
    return _apply(table.elu_op, input, (alpha, 1, 1), inplace)


def selu(input, inplace=False):
    """The self-normalising exponential linear unit."""
    return _apply(table.elu_op, input, (table.SELU_ALPHA, table.SELU_SCALE, 1), inplace)


def celu(input, alpha=1.0, inplace=False):
    """``elu`` with a slope that is continuous for every ``alpha``."""
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return _apply(table.celu_op, input, (alpha,), inplace)


def leaky_relu(input, negative_slope=0.01, inplace=False):
    """``input`` where positive, ``negative_slope · input`` elsewhere."""
    return _apply(table.leaky_relu, input, (negative_slope,), inplace)


def prelu(input, weight):
    """``leaky_relu`` whose slope is a tensor: one number, or one a channel."""
    return table.prelu(input, weight)


def _rrelu_slope(g, x, noise, lower, upper, training):
    if training:
        return g * noise  # which is 1 above 0
    return xp.where(x > 0, g, g * x.dtype.type((lower + upper) / 2))


_RRELU = "noise lower upper training"
declare(
    "rrelu_with_noise_backward",
    _rrelu_slope,
    "grad_output self",
    _RRELU,
    formula="g where self > 0, noise · g elsewhere",
    grad_output=lambda F, g, self, noise, lower, upper, training: F.rrelu_with_noise_backward(
        g, self, noise, lower, upper, training
    ),
    self=lambda F, g: F.zeros_like(g),
)
rrelu_op = declare(
    "rrelu_with_noise",
    lambda x, *given: _rrelu_slope(x, x, *given),
    "self",
    _RRELU,
    formula="g where self > 0, noise · g elsewhere",
    self=lambda F, g, self, noise, lower, upper, training: F.rrelu_with_noise_backward(
        g, self, noise, lower, upper, training
    ),
)
_rrelu_written = declare(
    "rrelu_with_noise_written",
    rrelu_op.op.forward,
    "self",
    _RRELU,
    node="RreluWithNoiseBackward1",
    formula="g where result > 0, noise · g elsewhere",
    self=lambda F, g, result, noise, lower, upper, training: F.rrelu_with_noise_backward(
        g, result, noise, *_rrelu_bounds(lower, upper, training), training
    ),
)
views.record_in_place(rrelu_op.op, _rrelu_written.op)


def _rrelu_bounds(lower, upper, training):
    if not training:
        table.not_negative((lower + upper) / 2, *table.LEAKY)
    return lower, upper


@by_slice
def rrelu(input, lower=1.0 / 8, upper=1.0 / 3, training=False, inplace=False):
    """``leaky_relu`` with slopes drawn from [lower, upper] in training, their mean otherwise."""
    if lower > upper:
        raise RuntimeError("Lower bound should be less than or equal to the upper bound")
    noise = xp.ones(input._a.shape, input._a.dtype, like=input._a)
    if training:
        count = int((input._a <= 0).sum())
        drawn = stream_of(None, input._a).doubles(count) * (upper - lower) + lower
        noise[input._a <= 0] = beside(drawn.astype(noise.dtype), noise)
    return _apply(rrelu_op, input, (noise, lower, upper, training), inplace)


def gelu(input, approximate="none"):
    """``input · Φ(input)``; ``approximate="tanh"`` for the form with tanh."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError("approximate argument must be either none or tanh.")
    return table.gelu_op(input, approximate)


def silu(input, inplace=False):
    """``input · σ(input)``."""
    if input._a.dtype.kind == "c":
        refuse_complex("silu", input)
    return _apply(table.silu, input, (), inplace)


def mish(input, inplace=False):
    """``input · tanh(softplus(input))``."""
    return _apply(table.mish, input, (), inplace)


def hardsigmoid(input, inplace=False):
    """Piecewise linear sigmoid."""
    return _apply(table.hardsigmoid_op, input, (), inplace)


def hardswish(input, inplace=False):
    """``input · hardsigmoid(input)``."""
    return _apply(table.hardswish_op, input, (), inplace)


def softplus(input, beta=1, threshold=20):
    """``log(1 + exp(beta · input)) / beta``, linear above ``threshold``."""
    return table.softplus(input, beta, threshold)


def hardshrink(input, lambd=0.5):
    """``input`` where |input| > lambd, 0 elsewhere."""
    return table.hardshrink_op(input, lambd)


def softshrink(input, lambd=0.5):
    """``input`` moved towards 0 by ``lambd``."""
    if not lambd >= 0 and input.is_floating_point():
        most = finfo(input.dtype).max
        raise RuntimeError(
            f"lambda must be in range [0, {most:g}] for input dtype {scalar_name(input.dtype)}, "
            f"but found {lambd:g}"
        )
    return table.softshrink_op(input, lambd)


def logsigmoid(input):
    """``log(sigmoid(input))``."""
    return table.log_sigmoid_op(input)


def softsign(input):
    """``input / (1 + |input|)``."""
    return input / (input.abs() + 1)


def tanhshrink(input):
    """``input − tanh(input)``."""
    return input - input.tanh()


def sigmoid(input):
    """``1 / (1 + exp(−input))``."""
    return input.sigmoid()


def tanh(input):
    """The hyperbolic tangent."""
    return input.tanh()


def glu(input, dim=-1):
    """First half along ``dim``, times the sigmoid of the second."""
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    dim = wrap_dim(dim, input.dim())
    if input.shape[dim] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {dim} is size {input.shape[dim]}"
        )
    return table.glu_op(input, dim)


def _chosen_dim(name, dim, ndim, level):
    if dim is not None:
        return dim
    warnings.warn(
        f"Implicit dimension choice for {name} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=level,
    )
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input, dim=None, _stacklevel=3, dtype=None):
    """Exponentials along ``dim`` that sum to 1."""
    return _softmax(input, _chosen_dim("softmax", dim, input.dim(), _stacklevel), dtype)


def softmin(input, dim=None, _stacklevel=3, dtype=None):
    """``softmax(−input)``."""
    if dim is None:
        dim = _chosen_dim("softmin", dim, input.dim(), _stacklevel)
    return (-input).softmax(dim, dtype=dtype)


def log_softmax(input, dim=None, _stacklevel=3, dtype=None):
    """``log(softmax(input))``, computed without overflow."""
    return _log_softmax(input, _chosen_dim("log_softmax", dim, input.dim(), _stacklevel), dtype)


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1):
    """A sample of a relaxed categorical distribution; ``hard``: one-hot, with the gradient of the
    soft one."""
    gumbels = -wrap(xp.empty_like(logits._a)).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    return wrap(xp.zeros_like(logits._a)).scatter_(dim, index, 1.0) - soft.detach() + soft


def _inplace(function, name):
    def inplace(input, *args, **kwargs):
        return function(input, *args, inplace=True, **kwargs)

    inplace.__name__ = name
    inplace.__doc__ = f"In-place ``{name[:-1]}``."
    return inplace


elu_, selu_, celu_ = _inplace(elu, "elu_"), _inplace(selu, "selu_"), _inplace(celu, "celu_")
leaky_relu_, threshold_ = _inplace(leaky_relu, "leaky_relu_"), _inplace(threshold, "threshold_")
hardtanh_, rrelu_ = _inplace(hardtanh, "hardtanh_"), _inplace(rrelu, "rrelu_")

public("rrelu", rrelu)
public("rrelu_", rrelu_)
