"""Kernels of large float32 arrays, compiled by numba (the extra ``fast``). Chosen by ``fast.py``.

They give what the NumPy forms give, NaN, infinity and underflow included: no flag here lets the
compiler assume finite numbers. ``error_model="numpy"`` keeps divisions free of a branch for zero,
without which loops are not vectorised. All run on one thread and without the interpreter's lock;
what was compiled is cached on disk.
"""

from __future__ import annotations

import numba
import numpy as np

from .polynomial import ERF

f = np.float32
_FLAGS = {
    "error_model": "numpy",
    "fastmath": {"contract", "reassoc", "nsz", "arcp"},
    "nogil": True,
}
_kernel = numba.njit(cache=True, **_FLAGS)
_inline = numba.njit(inline="always", **_FLAGS)

_LOG2E, _LN2_HIGH, _LN2_LOW = f(1.44269504), f(0.693359375), f(-2.12194440e-4)
_LOWEST, _HIGHEST, _TINY = f(-104), f(88.8), f(-87.33654)
_OVERFLOW, _INFINITY = f(88.722839), f(np.inf)
_LOW, _LIFT, _DROP = f(-100), f(64), f(2.0**-64)
_E0, _E1, _E2, _E3, _E4, _E5 = map(
    f, (1.98756915e-4, 1.39819995e-3, 8.33345191e-3, 4.16657959e-2, 1.66666655e-1, 0.5)
)
_P0, _P1, _P2, _P3, _P4 = map(
    f, (0.999999979, 0.133797124, 3.49402792e-3, 2.05833718e-5, 1.33189195e-8)
)
_Q1, _Q2, _Q3, _Q4 = map(f, (0.467130276, 2.5871048e-2, 3.28308198e-4, 7.76195724e-7))
_FLAT = f(9.02)  # beyond, tanh is 1
_G0, _G1, _G2, _G3, _G4, _G5, _G6 = (f(-2 * c) for c in ERF)
_ZERO, _ONE, _HALF = f(0), f(1), f(0.5)
_DENSITY = f(0.3989422804014327)


@_inline
def _mantissa(c, n):
    """e^c / 2^n for n next to c / ln 2."""
    r = c - n * _LN2_HIGH
    r = r - n * _LN2_LOW
    p = ((((_E0 * r + _E1) * r + _E2) * r + _E3) * r + _E4) * r + _E5
    return np.float32(p * r * r + r + _ONE)


@_inline
def _scaled(p, n):
    """p · 2^n. The exponent is added as an integer: the compiler cannot reorder that."""
    power = np.int32(np.int32(n) << np.int32(23))
    return np.int32(p.view(np.int32) + power).view(np.float32)


@_inline
def _exp(x):
    """e^x within 1e-7; very small results get their last 2^−64 by a product, which rounds them."""
    c = _LOWEST if x < _LOWEST else x
    c = _HIGHEST if c > _HIGHEST else c
    n = np.floor(c * _LOG2E + _HALF)
    p = _mantissa(c, n)
    low = n < _LOW
    found = _scaled(p, n + _LIFT if low else n) * (_DROP if low else _ONE)
    found = found if x < _OVERFLOW else _INFINITY
    return x if x != x else found


@_inline
def _share(x):
    """e^x for x ≤ 0 where it is a part of something larger: 0 below 1.2e-38."""
    c = _TINY if x < _TINY else x
    n = np.floor(c * _LOG2E + _HALF)
    found = _scaled(_mantissa(c, n), n)
    found = found if x >= _TINY else _ZERO
    return x if x != x else found


@_inline
def _normal(x):
    """Φ(x) = (1 + erf(x/√2)) / 2 = 1 / (1 + e^(−2u)) with erf(x/√2) = tanh u."""
    q = x * x
    p = (((((_G6 * q + _G5) * q + _G4) * q + _G3) * q + _G2) * q + _G1) * q + _G0
    u = x * p  # −2u
    e = _share(-abs(u))
    return (e if u > _ZERO else _ONE) / (_ONE + e)


@_kernel
def exp(x, out):
    for i in range(x.size):
        out[i] = _exp(x[i])


@_kernel
def tanh(x, out):
    """x · P(x²) / Q(x²) within 4e-7, never beyond ±1."""
    for i in range(x.size):
        v = x[i]
        c = -_FLAT if v < -_FLAT else v
        c = _FLAT if c > _FLAT else c
        q = c * c
        over = (((_P4 * q + _P3) * q + _P2) * q + _P1) * q + _P0
        under = (((_Q4 * q + _Q3) * q + _Q2) * q + _Q1) * q + _ONE
        t = c * over / under
        t = _ONE if t > _ONE else t
        out[i] = -_ONE if t < -_ONE else t


@_kernel
def gelu(x, out):
    for i in range(x.size):
        out[i] = x[i] * _normal(x[i])


@_kernel
def gelu_back(g, x, out):
    for i in range(x.size):
        v = x[i]
        out[i] = g[i] * (_normal(v) + v * (_DENSITY * _share(-_HALF * v * v)))


@_kernel
def softmax(x, out, masked):
    count, width = x.shape
    whole = width // 16 * 16
    lanes = np.empty(16, np.float32)  # by hand: LLVM leaves a largest element scalar
    for i in range(count):
        lanes[:] = x[i, 0]
        for j in range(0, whole, 16):
            for k in range(16):
                v = x[i, j + k]
                lanes[k] = v if v > lanes[k] else lanes[k]
        top = lanes[0]
        for k in range(1, 16):
            top = max(top, lanes[k])
        for j in range(whole, width):
            top = max(top, x[i, j])
        if masked and top == -np.inf:
            top = _ZERO
        total = _ZERO
        for j in range(width):
            e = _share(x[i, j] - top)
            out[i, j] = e
            total += e
        if masked and total == _ZERO:
            total = _ONE
        share = _ONE / total
        for j in range(width):
            out[i, j] *= share


@_kernel
def softmax_back(g, p, out):
    for i in range(p.shape[0]):
        along = _ZERO
        for j in range(p.shape[1]):
            along += p[i, j] * g[i, j]
        for j in range(p.shape[1]):
            out[i, j] = p[i, j] * (g[i, j] - along)


@_kernel
def standardise(x, eps, weight, bias, out, mean, scale):
    n = x.shape[1]
    for i in range(x.shape[0]):
        total = _ZERO
        for j in range(n):
            total += x[i, j]
        m = total / f(n)
        missed = _ZERO
        for j in range(n):
            missed += x[i, j] - m
        m += missed / f(n)
        square = _ZERO
        for j in range(n):
            d = x[i, j] - m
            square += d * d
        r = _ONE / np.sqrt(square / f(n) + eps)
        mean[i], scale[i] = m, r
        for j in range(n):
            out[i, j] = (x[i, j] - m) * r * weight[j] + bias[j]


@_kernel
def standardise_back(g, x, mean, scale, weight, out, of_weight, of_bias):
    n = x.shape[1]
    for i in range(x.shape[0]):
        m, r = mean[i], scale[i]
        along = _ZERO
        across = _ZERO
        for j in range(n):
            h = (x[i, j] - m) * r
            gw = g[i, j] * weight[j]
            along += gw
            across += gw * h
            of_weight[j] += g[i, j] * h
            of_bias[j] += g[i, j]
        along /= f(n)
        across /= f(n)
        for j in range(n):
            h = (x[i, j] - m) * r
            out[i, j] = r * (g[i, j] * weight[j] - along - h * across)


@_kernel
def adam(p, g, mean, square, rest1, beta2, rest2, eps, size):
    for i in range(p.size):
        m = mean[i] + (g[i] - mean[i]) * rest1
        s = square[i] * beta2 + g[i] * g[i] * rest2
        mean[i], square[i] = m, s
        p[i] -= size * (m / (np.sqrt(s) + eps))


@_kernel
def sgd(p, g, size):
    for i in range(p.size):
        p[i] -= size * g[i]
