"""Gamma variables, and how they move with their shape parameter."""

from __future__ import annotations

from ..backend import beside, host, xp
from ..engine.dispatch import wrap
from ..engine.operation import RAW
from ..ops.declare import FUNCTIONS, declare
from ..ops.random import stream_of


def _draw(shape_parameter):
    """Marsaglia and Tsang's rejection; below 1 a power of a uniform number is multiplied on."""
    a = host(shape_parameter).astype(xp.float64).ravel()
    g = stream_of(None, shape_parameter)
    boost = xp.where(a < 1, (1 - g.doubles(a.size)) ** (1 / xp.maximum(a, 1e-300)), 1.0)
    d = xp.where(a < 1, a + 1, a) - 1 / 3
    c = 1 / xp.sqrt(9 * d)
    out = xp.zeros(a.size)
    left = xp.arange(a.size)
    while left.size:
        normal = xp.asarray([g.normal_double() for _ in range(left.size)])
        v = (1 + c[left] * normal) ** 3
        u = g.doubles(left.size)
        with xp.errstate(all="ignore"):
            good = (v > 0) & (xp.log(1 - u) < 0.5 * normal**2 + d[left] * (1 - v + xp.log(v)))
        out[left[good]] = d[left[good]] * v[good]
        left = left[~good]
    drawn = (out * boost).reshape(shape_parameter.shape).astype(shape_parameter.dtype)
    return beside(drawn, shape_parameter)


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
