"""Quantiles: elements sorted, and what lies between two of them."""

from __future__ import annotations

from ..backend import beside, host, xp
from ..engine.dispatch import Tensor, wrap
from ..engine.operation import TENSOR
from ..engine.tensor import wrap_dim
from .declare import method

_RULES = ("linear", "lower", "higher", "midpoint", "nearest")


def _check(input, q, interpolation):
    """``q`` as numbers on the host; RuntimeError for what has no quantiles."""
    if isinstance(q, Tensor):
        at = host(q._a)
        inside = (at >= 0) & (at <= 1)
        if input._a.dtype.kind == "f" and not inside.all():
            raise RuntimeError("quantile() q values must be in the range [0, 1]")
    elif not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    else:
        at = xp.asarray(q, input._a.dtype if input._a.dtype.kind == "f" else xp.float64)
    if interpolation not in _RULES:
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not input._a.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if at.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if input._a.dtype not in (xp.float32, xp.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if at.dtype != input._a.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    return at


def _sorted(input, dim, keepdim):
    """The elements sorted, along the last of the dimensions that the result has and one more."""
    n, shape = input._a.ndim, input._a.shape
    if dim is None:
        values, kept = input.flatten().sort(-1)[0], (1,) * n if keepdim else ()
        return values.view(*kept, -1)
    d = wrap_dim(dim, n)
    kept = tuple(1 if k == d else size for k, size in enumerate(shape) if keepdim or k != d)
    last = d == max(n, 1) - 1
    along = input if last else input.unsqueeze(-1).transpose(d, -1)
    return along.sort(-1)[0].view(*kept, -1)


def _ranks(values, at, ignore_nan):
    """Where the quantiles ``at`` lie among the sorted values, the NaN of a row where it has one."""
    size = values.shape[-1]
    bad = xp.isnan(values)
    if ignore_nan:
        top = xp.maximum((~bad).sum(-1, keepdims=True) - 1, 0).astype(values.dtype)
        return at * top
    found = xp.broadcast_to(at * values.dtype.type(size - 1), (*values.shape[:-1], len(at)))
    return xp.where(bad[..., -1:], values.dtype.type(size - 1), found)


def _quantile(input, q, dim, keepdim, interpolation, ignore_nan):
    at = _check(input, q, interpolation)
    values = _sorted(input, dim, keepdim)
    d = values._a.ndim - 1
    ranks = _ranks(values._a, beside(at.reshape(-1), values._a), ignore_nan)
    if interpolation in ("lower", "higher", "nearest"):
        ranks = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}[interpolation](ranks)
    below = xp.floor(ranks)
    found = TENSOR.gather(values, wrap(below.astype(xp.int64)), d)
    if interpolation in ("linear", "midpoint"):
        weight = ranks - below if interpolation == "linear" else xp.full_like(ranks, 0.5)
        above = TENSOR.gather(values, wrap(xp.ceil(ranks).astype(xp.int64)), d)
        found = found.lerp(above, wrap(weight))
    if at.ndim:
        found = found.unsqueeze_(0).transpose_(0, -1)
    return found.squeeze_(-1)


def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """The ``q``-quantiles of all elements or along ``dim``."""
    return _quantile(input, q, dim, keepdim, interpolation, False)


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """``quantile`` of what is not NaN."""
    return _quantile(input, q, dim, keepdim, interpolation, True)


method(quantile)
method(nanquantile)
