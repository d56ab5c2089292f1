"""Variance, norms, covariance, renormalisation."""

from __future__ import annotations

import math
import warnings

from ..backend import xp, zeros_by
from ..engine import dtypes
from ..engine.dispatch import wrap
from ..engine.dtypes import default
from ..engine.errors import warn_once
from ..engine.given import AllAxes, all_axes, given
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import part
from ..engine.tensor import wrap_dim
from ..engine.views import write
from .declare import FUNCTIONS, declare, method, only_method, public
from .reduce import _as, add_reduce, axes, count, mean_dims, restore


# ---------------------------------------------------------------- variance and norms
def _centred(x, dims):
    return x - add_reduce(x, dims, None, None, True) / x.dtype.type(max(count(x.shape, dims), 1))


def _var_forward(x, dims, correction, keepdim):
    c = _centred(x, dims)
    with xp.errstate(all="ignore"):
        squares = (c * xp.conj(c)).real if x.dtype.kind == "c" else c * c
        return add_reduce(squares, dims, None, None, keepdim) / squares.dtype.type(
            max(count(x.shape, dims) - correction, 0)
        )


def _var_grad(F, g, self, self_shape, dim, correction, keepdim):
    n = count(self_shape, dim)
    scale = 2.0 / (n - correction) if n != correction else math.nan
    if not keepdim and dim.__class__ is AllAxes:
        return g * scale * (self - F.mean(self))
    wide = g if keepdim else F.with_dims(g, self_shape, dim)
    return wide * scale * (self - F.mean_dims(self, dim, True))


var_op = declare(
    "var",
    _var_forward,
    "self",
    "dim correction keepdim",
    formula="2 g (self − mean) / (n − correction)",
    hidden=("self_sym_sizes",),
    self=_var_grad,
)
std_op = declare(
    "std",
    lambda x, dims, c, k: xp.sqrt(_var_forward(x, dims, c, k)),
    "self",
    "dim correction keepdim",
    formula="g (self − mean) / ((n − correction) · result)",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, result, self_shape, dim, correction, keepdim: _var_grad(
        F, _half_over(F, g, result), self, self_shape, dim, correction, keepdim
    ),
)


def _half_over(F, g, result):
    """g / (2 · result), 0 where the deviation is 0."""
    with xp.errstate(all="ignore"):
        return F.masked_fill(g / (result * 2), result == 0, 0)


def _mean_joint(F, g, self_shape, dim, keepdim):
    return restore(F, g, self_shape, dim, keepdim) / count(self_shape, dim)


def _var_mean_joint(F, g, self, result, self_shape, dim, correction, keepdim):
    parts = []
    if g[0] is not None:
        parts.append(_var_grad(F, g[0], self, self_shape, dim, correction, keepdim))
    if g[1] is not None:
        parts.append(_mean_joint(F, g[1], self_shape, dim, keepdim))
    return (parts[0] if len(parts) == 1 else parts[0] + parts[1],)


def _std_mean_joint(F, g, self, result, self_shape, dim, correction, keepdim):
    spread = None if g[0] is None else _half_over(F, g[0], result[0])
    return _var_mean_joint(F, (spread, g[1]), self, result, self_shape, dim, correction, keepdim)


def _spread_and_mean(name, spread, joint, also=None):
    op = declare(
        name,
        lambda x, dims, c, k: (spread(x, dims, c, k), mean_dims.op.forward(x, dims, k)),
        "self",
        "dim correction keepdim",
        outputs=True,
        formula="the gradients of both, added",
        hidden=("self_sym_sizes", "result"),
        joint=joint,
        also=also,
    )

    def function(input, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        correction = _correction(unbiased, correction, dim)
        return op(input, _freedom(name, input, dim, correction), correction, keepdim)

    function.__name__ = name
    function.__doc__ = f"({name.split('_')[0]}, mean) of all elements or along ``dim``."
    public(name, function)


def _freedom(name, input, dim, correction):
    """The dimensions; UserWarning when too few elements lie along them."""
    dims = axes(dim, input._a.ndim)
    if count(input._a.shape, dims) <= correction:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel).",
            UserWarning,
            stacklevel=3,
        )
    return dims


def _correction(unbiased, correction, dim):
    if correction is not None:
        return correction
    if unbiased is None and dim is None:
        return given(1, None)
    return 1 if unbiased is None or unbiased else 0


_spread_and_mean("var_mean", _var_forward, _var_mean_joint)
_spread_and_mean(
    "std_mean",
    lambda x, dims, c, k: xp.sqrt(_var_forward(x, dims, c, k)),
    _std_mean_joint,
    {"result0": part(0)},
)


def _spread_measure(name, op):
    def function(input, dim=None, unbiased=None, keepdim=False, *, correction=None, axis=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        correction = _correction(unbiased, correction, dim)
        dim = axis if dim is None else dim
        if input._a.dtype.kind in "biu":
            raise RuntimeError("std and var only support floating point and complex dtypes")
        return op(input, _freedom(name, input, dim, correction), correction, keepdim)

    function.__name__ = name
    function.__doc__ = (
        f"``{name}`` of all elements or along ``dim``; ``correction`` is subtracted from the count "
        "(1 = unbiased)."
    )
    method(function, name)
    return function


var, std = _spread_measure("var", var_op), _spread_measure("std", std_op)


def _norm_forward(x, p, dims, keepdim):
    if p == 2 and x.dtype.kind == "f" and x.dtype.itemsize > 2:
        if len(dims) == x.ndim and not keepdim and x.flags.c_contiguous:
            flat = x.reshape(-1)
            return xp.sqrt(flat.dot(flat))
        return xp.sqrt(add_reduce(x * x, dims, None, None, keepdim))
    a = xp.abs(x)
    if p == 2:
        return xp.sqrt(add_reduce(a * a, dims, None, None, keepdim))
    if p == 1:
        return add_reduce(a, dims, None, None, keepdim)
    if p == math.inf:
        return xp.maximum.reduce(a, dims, None, None, keepdim)
    if p == -math.inf:
        return xp.minimum.reduce(a, dims, None, None, keepdim)
    if p == 0:
        return add_reduce((a != 0).astype(a.dtype), dims, None, None, keepdim)
    return add_reduce(a**p, dims, None, None, keepdim) ** a.dtype.type(1 / p)


def _norm_grad(F, g, self, result, self_shape, p, dim, keepdim):
    if p == 0:
        return F.zeros_like(self)
    if not keepdim and dim.__class__ is not AllAxes:
        g, result = (F.with_dims(x, self_shape, dim) for x in (g, result))
    if p == 1:
        return F.sgn(self) * g
    with xp.errstate(all="ignore"):
        if p == 2:
            return g * F.masked_fill(self / result, result == 0, 0)
        return _power_norm_grad(F, g, self, result, p, dim)


def _power_norm_grad(F, g, self, result, p, dim):
    size = F.abs(self)
    if p in (math.inf, -math.inf):
        mask = F.cast(size == result, (g if F is RAW else g._a).dtype)
        return F.sgn(self) * (g / F.sum_dims(mask, dim, True) * mask)
    scale = F.masked_fill(g / F.pow_scalar(result, p - 1), result == 0, 0)
    if p > 2:
        return self * F.pow_scalar(size, p - 2) * scale
    power = F.masked_fill(F.pow_scalar(size, p - 1), size == 0, 0)
    return F.sgn(self) * power * scale


def _norm_derivative(F, g, self, result, self_shape, p, dim, keepdim):
    """No gradient at all of a count."""
    return None if p == 0 else _norm_grad(F, g, self, result, self_shape, p, dim, keepdim)


norm_op = declare(
    "norm_all",
    _norm_forward,
    "self",
    "p dim keepdim",
    node="NormBackward0",
    formula="g · self / result",
    hidden=("self_sym_sizes",),
    self=_norm_derivative,
)
norm_dims_op = declare(
    "norm_dims",
    _norm_forward,
    "self",
    "p dim keepdim",
    node="NormBackward1",
    formula="g · self / result",
    hidden=("self_sym_sizes",),
    self=_norm_derivative,
)
vector_norm_op = declare(
    "vector_norm",
    _norm_forward,
    "self",
    "ord dim keepdim",
    node="LinalgVectorNormBackward0",
    formula="g · self / result",
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, result, self_shape, ord, dim, keepdim: _norm_derivative(
        F, g, self, result, self_shape, ord, dim, keepdim
    ),
)


def norm(input, p="fro", dim=None, keepdim=False, dtype=None):
    """The p-norm of all elements or along ``dim``; "fro" is p = 2."""
    input = _as(input, dtype)
    if p == "nuc" or isinstance(p, str) and p != "fro":
        from .matrix import matrix_norm

        return matrix_norm(input, p, dim if dim is not None else (-2, -1), keepdim)
    power = 2 if p in ("fro", None) else p
    return vector_norm_op(input, power, axes(dim, input._a.ndim), keepdim)


def norm_along(input, p, dim, keepdim):
    """The p-norm along one dimension, as it is recorded inside the distances."""
    return norm_dims_op(input, float(p), axes(dim, input._a.ndim), keepdim)


def vector_norm(x, ord=2, dim=None, keepdim=False, *, dtype=None):
    """``linalg.vector_norm``: the ``ord``-norm of all elements or along ``dim``."""
    if dtype is not None and dtypes.PYTHON.get(dtype, dtype).category < 2:
        raise RuntimeError(
            "linalg.vector_norm: dtype should be floating point or complex, but got "
            f"{dtypes.scalar_name(dtypes.PYTHON.get(dtype, dtype))}"
        )
    x = _as(x, dtype)
    return vector_norm_op(x, ord, axes(dim, x._a.ndim), keepdim)


method(norm)


def _dist_grad(F, g, self, other, result, p):
    shape = (self if F is RAW else self._a).shape
    return _norm_grad(F, g, self - other, result, shape, p, all_axes(len(shape), None), False)


dist_op = declare(
    "dist",
    lambda a, b, p: _norm_forward(a - b, p, tuple(range((a - b).ndim)), False),
    "self other",
    "p",
    formula="g · (self − other) / result",
    self=_dist_grad,
    other=lambda F, g, self, other, result, p: -_dist_grad(F, g, self, other, result, p),
)


def dist(input, other, p=2):
    """The p-norm of ``input − other``."""
    RAW.sub(*(xp.empty(0, x._a.dtype) for x in (input, other)))  # what cannot be subtracted
    shape = xp.broadcast_shapes(input._a.shape, other._a.shape)
    spread = [x if x._a.shape == shape else x.expand(*shape) for x in (input, other)]
    return dist_op(*spread, p)


method(dist)


def _between(F, x):
    """The differences of every two rows."""
    rows = xp.triu_indices((x if F is RAW else x._a).shape[0], 1)
    first, second = (F.index_select(x, F.constant(r), 0) for r in rows)
    return first - second, rows


def _pdist(x, p):
    return _norm_forward(_between(RAW, x)[0], p, (1,), False)


def _pdist_grad(F, g, self, result, self_shape, p):
    gaps, (i, j) = _between(F, self)
    shape = (gaps if F is RAW else gaps._a).shape
    parts = _norm_grad(F, g, gaps, result, shape, p, (1,), False)
    return F.select_back(parts, F.constant(i), self_shape, 0) - F.select_back(
        parts, F.constant(j), self_shape, 0
    )


pdist_op = declare(
    "pdist",
    _pdist,
    "self",
    "p",
    formula="g · (selfᵢ − selfⱼ) / result, summed over pairs",
    self=_pdist_grad,
)


# ---------------------------------------------------------------- covariance
def cov(input, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of variables in rows, observations in columns."""
    if input._a.ndim > 2:
        raise RuntimeError(
            "cov(): expected input to have two or fewer dimensions but got an input with "
            f"{input._a.ndim} dimensions"
        )
    if input._a.dtype.kind == "b":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    if input._a.dtype.kind in "iu":
        input = input.to(default.float)
    x = input if input._a.ndim == 2 else input.reshape(1, -1)
    if fweights is not None and fweights._a.dtype.kind not in "iu":
        raise RuntimeError(
            "cov(): expected fweights to have integral dtype but got fweights with "
            f"{dtypes.scalar_name(fweights.dtype)} dtype"
        )
    weights = (
        aweights if fweights is None else fweights if aweights is None else fweights * aweights
    )
    n = x._a.shape[1]
    if weights is None:
        if n and n <= correction:
            warn_once(
                "cov(): degrees of freedom is <= 0. Correction should be strictly less than the "
                "number of observations."
            )
        total, centred, factor = n, x, max(n - correction, 0)
    else:
        weights = weights.to(x.dtype)
        total = weights.sum()
        factor = (
            total
            if correction == 0
            else total
            - correction * (1 if aweights is None else (weights * aweights).sum() / total)
        )
        centred = x * weights
    centred = x - (centred.sum(1) / total).unsqueeze(1)
    scaled = centred if weights is None else centred * weights
    return ((centred @ TENSOR.conj(scaled.t())) / factor).squeeze()


def corrcoef(input):
    """Pearson's correlation of variables in rows."""
    if input._a.ndim > 2:
        raise RuntimeError(
            "corrcoef(): expected input to have two or fewer dimensions but got an input with "
            f"{input._a.ndim} dimensions"
        )
    c = cov(input)
    if c._a.ndim == 0:
        return c / c
    scale = c.diagonal().real.sqrt() if c.is_complex() else c.diagonal().sqrt()
    found = (c / scale.view(-1, 1)) / scale.view(1, -1)
    if not found.is_complex():
        return found.clamp(-1, 1)
    return FUNCTIONS["complex"](found.real.clamp(-1, 1), found.imag.clamp(-1, 1))


method(cov)
method(corrcoef)


# ---------------------------------------------------------------- renormalisation
def _renorm_scale(F, self, p, dim, maxnorm):
    shape = (self if F is RAW else self._a).shape
    dims = tuple(d for d in range(len(shape)) if d != dim)
    size = F.vector_norm(self, float(p), dims, True)
    return F.where(size > maxnorm, maxnorm / (size + 1e-7), F.ones_like(size))


def _renorm_grad(F, g, self, p, dim, maxnorm):
    shape = (self if F is RAW else self._a).shape
    dims = tuple(d for d in range(len(shape)) if d != dim)
    size = F.vector_norm(self, float(p), dims, True)
    inverse = F.where(size > maxnorm, 1 / (size + 1e-7), F.constant_like(0, size))
    inner = F.sum_dims(F.cast(g * F.conj(self), (size if F is RAW else size._a).dtype), dims, True)
    back = _norm_grad(F, inner, self, size, shape, float(p), dims, True)
    scale = F.where(size > maxnorm, inverse * maxnorm, F.ones_like(size))
    return g * scale - back * (inverse * inverse * maxnorm)


renorm_op = declare(
    "renorm",
    lambda x, p, dim, maxnorm: x * _renorm_scale(RAW, x, p, dim, maxnorm).astype(x.dtype),
    "self",
    "p dim maxnorm",
    formula="g scaled, less its part along self",
    self=_renorm_grad,
)
RAW.ones_like = lambda x: zeros_by(x, x.shape) + x.dtype.type(1)
TENSOR.ones_like = lambda x: wrap(xp.ones(x._a.shape, x._a.dtype, like=x._a))
method(
    lambda input, p, dim, maxnorm: renorm_op(input, p, wrap_dim(dim, input._a.ndim), maxnorm),
    "renorm",
)
only_method(
    lambda self, p, dim, maxnorm: write(
        renorm_op.op, (self,), (p, wrap_dim(dim, self._a.ndim), maxnorm)
    ),
    "renorm_",
)
