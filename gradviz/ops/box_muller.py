"""Normal numbers from uniform ones by the method of Box and Muller, bit for bit as PyTorch computes
them on x86 CPUs.

In single precision its vectorised kernel has a logarithm and a sine of its own, polynomials after
Cephes whose steps are fused: ``a · b + c`` is rounded once. NumPy has no such step; double
precision stands in for it. In double precision it asks the C library.
"""

from __future__ import annotations

import math

from ..backend import xp

_PAIRS = 1 << 13  # in one go: what the steps leave behind stays in cache
_SINGLE = xp.float32


def _single(*numbers):
    return tuple(float(_SINGLE(n)) for n in numbers)


_LOG = _single(
    7.0376836292e-2,
    -1.1514610310e-1,
    1.1676998740e-1,
    -1.2420140846e-1,
    1.4249322787e-1,
    -1.6668057665e-1,
    2.0000714765e-1,
    -2.4999993993e-1,
    3.3333331174e-1,
)
_LN2_LOW, _LN2_HIGH, _ROOT_HALF = _single(-2.12194440e-4, 0.693359375, 0.707106781186547524)
_SIN = _single(-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
_COS = _single(2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
_QUARTER = _single(-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)  # −π/4
_PER_QUARTER = _SINGLE(1.27323954473516)  # 4/π


def _fma(a, b, c):
    """``a · b + c`` of single precision, rounded once."""
    total = xp.multiply(a, b, dtype=xp.float64)
    total += c
    return total.astype(_SINGLE)


def _polynomial(x, coefficients):
    """By Horner's rule, the highest first."""
    found = _fma(x, coefficients[0], coefficients[1])
    for c in coefficients[2:]:
        found = _fma(found, x, c)
    return found


def _log(x):
    """The logarithm of numbers in (0, 1]."""
    mantissa, exponent = xp.frexp(x)
    low = mantissa < _ROOT_HALF
    exponent = exponent.astype(_SINGLE) - low.astype(_SINGLE)
    x = (mantissa - _SINGLE(1)) + xp.where(low, mantissa, _SINGLE(0))
    square = x * x
    found = _polynomial(x, _LOG) * x
    found = _fma(found, square, exponent * _SINGLE(_LN2_LOW))
    found = x + _fma(square, -0.5, found)
    return _fma(exponent, _LN2_HIGH, found)


def _sine_and_cosine(x):
    """Of angles that are not negative."""
    octant = (x * _PER_QUARTER).astype(xp.int32)
    octant = (octant + 1) & ~1
    steps = octant.astype(_SINGLE)
    for part in _QUARTER:
        x = _fma(steps, part, x)
    square = x * x
    even = _polynomial(square, _COS) * square
    even = _fma(even, square, -(square * _SINGLE(0.5))) + _SINGLE(1)
    odd = _polynomial(square, _SIN) * square
    odd = _fma(odd, x, x)
    plain = (octant & 2) == 0
    sine, cosine = xp.where(plain, odd, even), xp.where(plain, even, odd)
    xp.negative(sine, out=sine, where=(octant & 4) != 0)
    xp.negative(cosine, out=cosine, where=((octant - 2) & 4) == 0)
    return sine, cosine


def _single_pairs(first, second):
    radius = xp.sqrt(_SINGLE(-2) * _log(_SINGLE(1) - first))
    sine, cosine = _sine_and_cosine(_SINGLE(2 * math.pi) * second)
    return radius * cosine, radius * sine


def _double_pairs(first, second):
    logs = xp.fromiter(map(math.log, (1 - first).ravel().tolist()), xp.float64, first.size)
    radius = xp.sqrt(-2 * logs.reshape(first.shape))
    turn = xp.exp(2j * math.pi * second)  # NumPy's own sine is another one
    return radius * turn.real, radius * turn.imag


def box_muller(uniform, mean=0.0, std=1.0):
    """Normal numbers in the place of uniform ones: in every block of 16 the first 8 and the last 8
    make pairs. A flat array of float32 or float64 whose size is a multiple of 16.
    """
    blocks = uniform.reshape(-1, 2, 8)
    double = uniform.dtype == xp.float64
    out = xp.empty_like(blocks)
    for k in range(0, len(blocks), _PAIRS // 8):
        part = blocks[k : k + _PAIRS // 8]
        pairs = (_double_pairs if double else _single_pairs)(part[:, 0], part[:, 1])
        for half, found in enumerate(pairs):
            out[k : k + _PAIRS // 8, half] = scaled(found, mean, std)
    return out.reshape(-1)


def scaled(normal, mean, std):
    """``normal · std + mean``, rounded once."""
    if mean == 0 and std == 1:
        return normal
    if normal.dtype == xp.float64:
        return fused(normal, std, mean)
    return _fma(normal, *_single(std, mean))


def fused(x, factor, term):
    """``x · factor + term`` of doubles with one rounding: Dekker's product and Knuth's sum keep
    what the plain ones drop.
    """
    product = x * factor
    x_high, factor_high = _upper_half(x), _upper_half(factor)
    x_low, factor_low = x - x_high, factor - factor_high
    lost = x_low * factor_low - (
        product - x_high * factor_high - x_low * factor_high - x_high * factor_low
    )
    total = product + term
    added = total - product
    return total + (lost + (product - (total - added)) + (term - added))


def _upper_half(x):
    spread = x * 134217729.0  # 2²⁷ + 1
    return spread - (spread - x)
