"""Chains of elementwise steps that are one kernel on a GPU: softmax, log-softmax, layer norm, GELU,
the step of Adam.

A kernel is written once, as a function of ``m`` (the functions of the library) and of arrays. CuPy
compiles it (``cupy.fuse``); the strict double reads it with NumPy, which checks its arithmetic. No
kernel here has run on a GPU yet.
"""

from __future__ import annotations

from ..backend import fuse, xp

ROOT_HALF, DENSITY = 0.7071067811865476, 0.3989422804014327  # 1/√2 and 1/√(2π)


def _wide(x):
    """Half precision is computed in float32 and rounded once."""
    return x.astype(xp.float32) if x.dtype.itemsize == 2 else x


# ---------------------------------------------------------------- softmax
def _shifted_exp(m, x, top):
    return m.exp(x - top)


def _quotient(m, x, total):
    return x / total


def _log_quotient(m, x, top, total):
    return x - top - m.log(total)


def _softmax_slope(m, g, result, along):
    return result * (g - along)


def _log_softmax_slope(m, g, result, along):
    return g - m.exp(result) * along


def softmax(x, dim):
    """exp x / Σ exp x along ``dim`` of an array that is not empty."""
    wide = _wide(x)
    e = fuse(_shifted_exp, wide, wide.max(dim, keepdims=True))
    return fuse(_quotient, e, e.sum(dim, keepdims=True)).astype(x.dtype, copy=False)


def log_softmax(x, dim):
    """x − log Σ exp x along ``dim`` of an array that is not empty."""
    wide = _wide(x)
    top = wide.max(dim, keepdims=True)
    total = fuse(_shifted_exp, wide, top).sum(dim, keepdims=True)
    return fuse(_log_quotient, wide, top, total).astype(x.dtype, copy=False)


def softmax_back(g, result, dim):
    """result · (g − Σ g · result)."""
    g, wide = _wide(g), _wide(result)
    found = fuse(_softmax_slope, g, wide, (g * wide).sum(dim, keepdims=True))
    return found.astype(result.dtype, copy=False)


def log_softmax_back(g, result, dim):
    """g − exp(result) · Σ g."""
    g, wide = _wide(g), _wide(result)
    found = fuse(_log_softmax_slope, g, wide, g.sum(dim, keepdims=True))
    return found.astype(result.dtype, copy=False)


# ---------------------------------------------------------------- GELU
def _gelu(m, x):
    return x * 0.5 * (1 + m.erf(x * ROOT_HALF))


def _gelu_slope(m, g, x):
    return g * ((1 + m.erf(x * ROOT_HALF)) * 0.5 + x * m.exp(x * x * -0.5) * DENSITY)


def gelu(x):
    """x · Φ(x)."""
    return fuse(_gelu, _wide(x)).astype(x.dtype, copy=False)


def gelu_back(g, x):
    """g · (Φ(x) + x · φ(x))."""
    return fuse(_gelu_slope, _wide(g), _wide(x)).astype(x.dtype, copy=False)


# ---------------------------------------------------------------- layer norm
def _apart(m, x, mean):
    return (x - mean) * (x - mean)


def _steepness(m, variance, eps):
    return 1 / m.sqrt(variance + eps)


def _standard(m, x, mean, scale):
    return (x - mean) * scale


def _affine(m, x, mean, scale, weight, bias):
    return (x - mean) * scale * weight + bias


def _standard_slope(m, g, xhat, scale, along, across):
    return scale * (g - along - xhat * across)


def standardise(rows, eps, weight, bias):
    """Rows with mean 0 and variance 1, times ``weight`` plus ``bias`` (None: 1 and 0); and the
    means and 1/σ of the rows.
    """
    mean = rows.mean(1, keepdims=True)
    scale = fuse(_steepness, fuse(_apart, rows, mean).mean(1, keepdims=True), float(eps))
    factors = 1.0 if weight is None else weight, 0.0 if bias is None else bias
    return fuse(_affine, rows, mean, scale, *factors), mean[:, 0], scale[:, 0]


def standardise_back(g, rows, mean, scale, weight, needs):
    """The gradients of rows, weight and bias of ``standardise``; None where not needed."""
    scale = scale[:, None]
    xhat = fuse(_standard, rows, mean[:, None], scale)
    gw = g if weight is None else g * weight
    means = gw.mean(1, keepdims=True), (gw * xhat).mean(1, keepdims=True)
    return (
        fuse(_standard_slope, gw, xhat, scale, *means) if needs[0] else None,
        (g * xhat).sum(0) if needs[1] else None,
        g.sum(0) if needs[2] else None,
    )


# ---------------------------------------------------------------- Adam
def _adam(m, p, g, mean, square, rest1, beta2, rest2, eps, size):
    mean += (g - mean) * rest1
    square *= beta2
    square += g * g * rest2
    p -= mean / (m.sqrt(square) + eps) * size


def _adam_largest(m, p, g, mean, square, largest, rest1, beta2, rest2, eps, size):
    mean += (g - mean) * rest1
    square *= beta2
    square += g * g * rest2
    largest += m.maximum(square - largest, 0)
    p -= mean / (m.sqrt(largest) + eps) * size


def adam(arrays, numbers):
    """One step, in place: parameter, gradient, two moments and, for AMSGrad, the largest second
    one.
    """
    fuse(_adam if len(arrays) == 4 else _adam_largest, *arrays, *numbers)
