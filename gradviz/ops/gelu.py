"""GELU in single precision. NumPy has no error function and SciPy's is slow, but NumPy's tanh is
fast: erf(x/√2) = tanh(x · P(x²)) with a polynomial P.
"""

from __future__ import annotations

from ..backend import blocks, contiguous, scratch, xp
from ..backend.fast import elementwise
from ..backend.polynomial import ERF


def _constant(value):
    """0-d: a ufunc takes it faster than a Python number."""
    return xp.asarray(value, xp.float32)


BLOCK = 1 << 15  # elements: three arrays of that many stay in the second-level cache
_ONE, _HALF, _MINUS_HALF = _constant(1), _constant(0.5), _constant(-0.5)
_DENSITY = _constant(0.3989422804014327)  # 1/√2π
_LOWEST, *_MIDDLE, _HIGHEST = map(_constant, ERF)


def _erf(x, out, square):
    """erf(x/√2) to ``out``; x² stays in ``square``."""
    xp.multiply(x, x, out=square)
    xp.multiply(square, _HIGHEST, out=out)
    for c in reversed(_MIDDLE):
        out += c
        out *= square
    out += _LOWEST
    out *= x
    xp.tanh(out, out=out)


@xp.errstate(all="ignore")
def gelu(x):
    """½ x (1 + erf(x/√2)) of a float32 array."""
    x = contiguous(x)
    found = elementwise("gelu", x)
    if found is not None:
        return found
    out = xp.empty_like(x)
    for part, found in blocks(BLOCK, x, out):
        half = scratch.like(part)
        _erf(part, found, half)
        found += _ONE
        found *= xp.multiply(part, _HALF, out=half)
    return out


@xp.errstate(all="ignore")
def gelu_back(g, x):
    """g · (Φ(x) + x · φ(x)) of float32 arrays."""
    x, g = contiguous(x), contiguous(g)
    found = elementwise("gelu_back", g, x)
    if found is not None:
        return found
    out = xp.empty_like(x)
    for part, given, found in blocks(BLOCK, x, g, out):
        density = scratch.like(part)
        _erf(part, found, density)
        found += _ONE
        found *= _HALF
        density *= _MINUS_HALF
        xp.exp(density, out=density)
        density *= _DENSITY
        density *= part
        found += density
        found *= given
    return out
