"""Attention as one operation, and the softmax that gives 0 to rows in which everything is
masked."""

from __future__ import annotations

from ..backend import xp
from .declare import declare


def _safe_softmax(x, dim):
    top = x.max(dim, keepdims=True)
    out = xp.exp(x - xp.where(xp.isfinite(top), top, 0))
    total = out.sum(dim, keepdims=True)
    out /= xp.where(total == 0, x.dtype.type(1), total)
    return out


def _softmax_grad(F, g, result, dim):
    return result * (g - F.sum_dims(g * result, (dim,), True))


safe_softmax = declare(
    "safe_softmax",
    _safe_softmax,
    "self",
    "dim",
    formula="result · (g − Σ g · result)",
    self=lambda F, g, result, dim: _softmax_grad(F, g, result, dim),
)


def _turned(F, x):
    return F.transpose(x, -2, -1)


def _weights(F, query, key, bias, scale):
    scores = F.matmul(query, _turned(F, key)) * scale
    if bias is not None:
        scores = scores + F.constant(bias)
    return F.safe_softmax(scores, len(scores.shape) - 1)


def _forward(query, key, value, bias, scale):
    scores = xp.matmul(query, key.swapaxes(-2, -1))
    scores *= query.dtype.type(scale)
    if bias is not None:
        scores += bias
    return xp.matmul(_safe_softmax(scores, -1), value).astype(query.dtype, copy=False)


def _joint(F, g, query, key, value, bias, scale):
    weights = _weights(F, query, key, bias, scale)
    given = F.matmul(g, _turned(F, value))
    given = _softmax_grad(F, given, weights, len(query.shape) - 1) * scale
    return (
        F.matmul(given, key),
        F.matmul(_turned(F, given), query),
        F.matmul(_turned(F, weights), g),
    )


attention = declare(
    "scaled_dot_product_attention",
    _forward,
    "query key value",
    "bias scale",
    node="ScaledDotProductFlashAttentionForCpuBackward0",
    formula="P = softmax(query · keyᵀ · scale):    ∂value: Pᵀ · g    ∂query, ∂key through it",
    joint=_joint,
)
