"""Differences, derivatives and integrals along a dimension, by sample points."""

from __future__ import annotations

from ..backend import xp
from ..engine.arguments import refusal
from ..engine.dispatch import Tensor, wrap
from ..engine.operation import TENSOR
from ..engine.tensor import wrap_dim
from .declare import method, public
from .reduce import axes


# ---------------------------------------------------------------- differences
def _check_joined(input, x, dim):
    if x._a.ndim != input._a.ndim:
        raise RuntimeError("diff expects prepend or append to be the same dimension as input")
    for k, (own, other) in enumerate(zip(input._a.shape, x._a.shape, strict=True)):
        if k != dim and own != other:
            raise RuntimeError(
                "diff expects the shape of tensor to prepend or append to match that of input "
                f"except along the differencing dimension; input.size({k}) = {own}, but got "
                f"tensor.size({k}) = {other}"
            )


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """The ``n``-th differences along ``dim``."""
    if not input._a.ndim:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise RuntimeError(f"order must be non-negative but got {n}")
    d = wrap_dim(dim, input._a.ndim)
    parts = [x for x in (prepend, input, append) if x is not None]
    for x in parts:
        _check_joined(input, x, d)
    out = TENSOR.cat(parts, d) if len(parts) > 1 else input
    if n == 0:
        return TENSOR.zeros_like(out).copy_(out)
    for _ in range(n):
        if out._a.shape[d] == 0:
            break
        second, first = _before(out, d), _after(out, d)
        out = first.logical_xor(second) if out._a.dtype == bool else first - second
    return out


def _after(x, dim):
    """All but the first along ``dim``."""
    n = x._a.shape[dim]
    return x.narrow(dim, min(1, n), max(n - 1, 0))


def _before(x, dim):
    """All but the last along ``dim``."""
    return x.narrow(dim, 0, max(x._a.shape[dim] - 1, 0))


# ---------------------------------------------------------------- integrals
def _refuse_bool(name, y, x):
    if x is None and y._a.dtype == bool:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is not None and bool in (y._a.dtype, x._a.dtype):
        raise RuntimeError(
            f"{name}: received a bool input for `x` or `y`, but bool is not supported"
        )


def _widths(name, y, x, dim):
    """The widths of the intervals between the points ``x``, shaped for ``y``."""
    if x._a.ndim == 1:
        if x._a.shape[0] != y._a.shape[dim]:
            raise RuntimeError(f"{name}: There must be one `x` value for each sample point")
        x = x.view([-1 if d == dim else 1 for d in range(y._a.ndim)])
    elif x._a.ndim < y._a.ndim:
        x = x.view((1,) * (y._a.ndim - x._a.ndim) + x._a.shape)
    before, after = _before(x, dim), _after(x, dim)
    return after - before


def _spacing(name, dx):
    if isinstance(dx, (bool, complex)):
        raise RuntimeError(f"{name}: Currently, we only support dx as a real number.")
    return dx.item() if isinstance(dx, Tensor) else dx


def trapezoid(y, x=None, *, dx=1, dim=-1):
    """The integral along ``dim`` by the trapezoid rule, with points ``x`` or spacing ``dx``."""
    _refuse_bool("trapezoid", y, x)
    d = wrap_dim(dim, y._a.ndim)
    if not y._a.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    if not y._a.shape[d]:
        return wrap(xp.zeros(y._a.shape[:d] + y._a.shape[d + 1 :], y._a.dtype, like=y._a))
    if x is not None:
        areas = (_after(y, d) + _before(y, d)) * _widths("trapezoid", y, x, d)
        return TENSOR.div_number(areas.sum(d), 2.0)
    dx = _spacing("trapezoid", dx)
    ends = TENSOR.mul_number(y.select(d, 0) + y.select(d, -1), 0.5)
    return TENSOR.mul_number(y.sum(d) - ends, dx)


def cumulative_trapezoid(y, x=None, *, dx=1, dim=-1):
    """The running integral along ``dim``."""
    _refuse_bool("cumulative_trapezoid", y, x)
    d = wrap_dim(dim, y._a.ndim)
    if not y._a.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if x is not None:
        areas = (_after(y, d) + _before(y, d)) * _widths("cumulative_trapezoid", y, x, d)
        return TENSOR.div_number(areas.cumsum(d), 2.0)
    dx = _spacing("cumulative_trapezoid", dx)
    return TENSOR.mul_number(_after(y, d) + _before(y, d), dx / 2).cumsum(d)


# ---------------------------------------------------------------- derivatives
def _evenly(x, gap, d, edge_order):
    """Differences of points that lie ``gap`` apart."""
    gap = gap.item() if isinstance(gap, Tensor) else gap
    n = x._a.shape[d]

    def at(place, length=1):
        return x.narrow(d, place, length)

    def times(place, factor):
        return TENSOR.mul_number(at(place), factor)

    inner = TENSOR.div_number(TENSOR.div_number(at(2, n - 2) - at(0, n - 2), gap), 2)
    if edge_order == 1:
        first, last = at(1) - at(0), at(n - 1) - at(n - 2)
    else:
        first = (times(0, -1.5) + times(1, 2)) - times(2, 0.5)
        last = (times(n - 1, 1.5) - times(n - 2, 2)) + times(n - 3, 0.5)
    return [TENSOR.div_number(first, gap), inner, TENSOR.div_number(last, gap)]


def _unevenly(x, points, d, edge_order):
    """Differences of points that lie at ``points`` of a line."""
    n = x._a.shape[d]
    shape = [-1 if k == d else 1 for k in range(x._a.ndim)]
    gaps = diff(points).view(shape)

    def at(place, length=1):
        return x.narrow(d, place, length)

    def gap(place, length=1):
        return gaps.narrow(d, place, length)

    left, right = gap(0, n - 2), gap(1, n - 2)

    def weighed(*terms):
        total = terms[0][0] * terms[0][1]
        for factor, part in terms[1:]:
            total = total + factor * part
        return total

    inner = weighed(
        (-right / (left * (left + right)), at(0, n - 2)),
        ((right - left) / (left * right), at(1, n - 2)),
        (left / (right * (left + right)), at(2, n - 2)),
    )
    if edge_order == 1:
        return [(at(1) - at(0)) / gap(0), inner, (at(n - 1) - at(n - 2)) / gap(n - 2)]
    a, b = gap(0), gap(1)
    first = weighed(
        (-(2 * a + b) / (a * (a + b)), at(0)),
        ((a + b) / (a * b), at(1)),
        (-a / (b * (a + b)), at(2)),
    )
    a, b = gap(n - 3), gap(n - 2)
    last = weighed(
        (b / (a * (a + b)), at(n - 3)),
        (-(a + b) / (a * b), at(n - 2)),
        ((a + 2 * b) / (b * (a + b)), at(n - 1)),
    )
    return [first, inner, last]


def _spacings(spacing, dims, given):
    """One spacing a dimension; RuntimeError where there are more or fewer."""
    if isinstance(spacing, Tensor) and spacing._a.ndim:
        raise refusal("gradient", (), {"spacing": spacing})
    if not isinstance(spacing, (list, tuple)):
        return [spacing] * len(dims)
    if len(spacing) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim "
            "arguments to have the same length, but got a spacing argument of length "
            f"{len(spacing)} and a dim argument of length {len(dims)}."
            if given
            else "torch.gradient expected spacing to be unspecified, a scalar, or "
            f"a list of length equal to 'self.dim() = {len(dims)}', since dim argument was "
            f"not given, but got a list of length {len(spacing)}"
        )
    return list(spacing)


def gradient(input, *, spacing=1, dim=None, edge_order=1):
    """Central differences along every given dimension, one tensor each. ``spacing``: a number, or
    one number or one tensor of points a dimension.
    """
    if input._a.dtype == xp.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    dims = axes(dim, input._a.ndim)
    gaps = _spacings(spacing, dims, dim is not None)
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input._a.shape[d] < edge_order + 1 for d in dims):
        raise RuntimeError(
            "torch.gradient expected each dimension size to be at least edge_order+1"
        )
    found = []
    for gap, d in zip(gaps, dims, strict=True):
        along = _unevenly if isinstance(gap, Tensor) and gap._a.ndim else _evenly
        found.append(TENSOR.cat(along(input, gap, d, edge_order), d))
    return found


method(diff)
for _f in (trapezoid, cumulative_trapezoid, gradient):
    public(_f.__name__, _f)
public("trapz", trapezoid)
