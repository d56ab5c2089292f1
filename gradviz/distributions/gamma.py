"""Gamma and Dirichlet variables, and how they move with their parameters."""

from __future__ import annotations

import math

from ..backend import beside, host, xp
from ..engine.dispatch import wrap
from ..engine.operation import RAW
from ..ops.declare import FUNCTIONS, declare
from ..ops.random import stream_of

_THIRD = float(xp.float32(1) / xp.float32(3))  # PyTorch writes it in single precision


def _one(a, stream):
    """One gamma variable by Marsaglia and Tsang's rejection; below 1 a power of a uniform number is
    multiplied on. The numbers are taken from the stream in PyTorch's order.
    """
    scale = 1.0
    if a < 1:
        if a == 0:
            return 0.0
        scale = (1 - float(stream.doubles(1)[0])) ** (1 / a)
        a += 1
    d = a - _THIRD
    c = 1 / math.sqrt(9 * d)
    while True:
        x = stream.normal_double()
        y = 1 + c * x
        if y <= 0:
            continue
        v, u, square = y * y * y, 1 - float(stream.doubles(1)[0]), x * x
        if u < 1 - 0.0331 * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1 - v + math.log(v)):
            return scale * d * v


def _draw(shape_parameter):
    """A gamma variable for every shape in an array."""
    stream = stream_of(None, shape_parameter)
    shapes = host(shape_parameter).ravel()
    drawn = xp.asarray([_one(float(a), stream) for a in shapes], shape_parameter.dtype)
    return beside(drawn.reshape(shape_parameter.shape), shape_parameter)


def _slope(a, x):
    """How a gamma variable moves with its shape: −(∂F/∂a) / density, the first by differences."""
    wide = [wrap(t.astype(xp.float64)) for t in (a, x)]
    a, x = (w._a for w in wide)
    step = 1e-5 * xp.maximum(a, 1e-2)
    igamma = FUNCTIONS["igamma"]
    rise = (igamma(wrap(a + step), wide[1])._a - igamma(wrap(a - step), wide[1])._a) / (2 * step)
    log_density = (a - 1) * xp.log(xp.maximum(x, 1e-300)) - x - wide[0].lgamma()._a
    return -rise / xp.exp(log_density)


def _gradient(F, g, self, drawn):
    plain = self if F is RAW else self._a
    return g * F.constant(_slope(plain, drawn).astype(plain.dtype))


gamma_op = declare(
    "standard_gamma",
    lambda a, drawn: drawn,
    "self",
    "drawn",
    node="StandardGammaBackward0",
    formula="g · dx/dα, at the drawn x",
    self=_gradient,
)


def standard_gamma(concentration):
    """Gamma variables with rate 1."""
    return gamma_op(concentration, _draw(concentration._a))


def _dirichlet_slope(a, total, x):
    """How a beta variable moves with its first parameter, over 1 − x: −(∂F/∂a) / density."""
    from scipy.special import betainc, betaln

    a, total, x = (host(t).astype(xp.float64) for t in (a, total, x))
    b, step = total - a, 1e-5 * xp.maximum(a, 1e-2)
    rise = (betainc(a + step, b, x) - betainc(a - step, b, x)) / (2 * step)
    log_density = (a - 1) * xp.log(xp.maximum(x, 1e-300)) + b * xp.log1p(-x) - betaln(a, b)
    return -rise / xp.exp(log_density)


def _dirichlet_gradient(F, g, self, drawn):
    plain = self if F is RAW else self._a
    slope = _dirichlet_slope(plain, plain.sum(-1, keepdims=True), drawn).astype(plain.dtype)
    x = F.constant(drawn)
    return F.constant(beside(slope, plain)) * (g - F.sum_dims(x * g, (g.ndim - 1,), True))


dirichlet_op = declare(
    "dirichlet",
    lambda a, drawn: drawn,
    "self",
    "drawn",
    node="DirichletBackward0",
    formula="dx/dα · (g − Σ x · g), at the drawn x",
    self=_dirichlet_gradient,
)


def standard_dirichlet(concentration):
    """Probabilities that sum to 1 along the last dimension."""
    drawn = _draw(concentration._a.astype(xp.float64))
    drawn /= drawn.sum(-1, keepdims=True)
    return dirichlet_op(concentration, drawn.astype(concentration._a.dtype))
