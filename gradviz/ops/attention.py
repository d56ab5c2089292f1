"""Attention as one operation, and the softmax that gives 0 to rows in which everything is
masked."""

from __future__ import annotations

from ..backend import contiguous, xp
from ..engine.operation import RAW
from .declare import declare
from .rows import softmax, softmax_back

ndarray = xp.ndarray


def _in_rows(x, dim):
    return x.__class__ is ndarray and dim in (-1, x.ndim - 1) and x.size


def _safe_softmax(x, dim):
    if _in_rows(x, dim):
        return softmax(x, masked=True)
    top = x.max(dim, keepdims=True)
    out = xp.exp(x - xp.where(xp.isfinite(top), top, 0))
    total = out.sum(dim, keepdims=True)
    out /= xp.where(total == 0, x.dtype.type(1), total)
    return out


def _softmax_grad(F, g, result, dim):
    if F is RAW and _in_rows(result, dim):
        return softmax_back(g, result)
    return result * (g - F.sum_dims(g * result, (dim,), True))


safe_softmax = declare(
    "safe_softmax",
    _safe_softmax,
    "self",
    "dim",
    formula="result · (g − Σ g · result)",
    self=_softmax_grad,
)


def _turned(F, x):
    return F.transpose(x, -2, -1)


def _weights(F, query, key, bias, scale):
    if F is RAW:
        scores = _scores(query, key, scale)
    else:
        scores = F.matmul(query, _turned(F, key)) * scale
    if bias is not None:
        scores = scores + F.constant(bias)
    return F.safe_softmax(scores, len(scores.shape) - 1)


def _scores(query, key, scale):
    """query · keyᵀ · scale; BLAS is slow on small matrices that stand transposed."""
    scores = xp.matmul(query, contiguous(key.swapaxes(-2, -1)))
    scores *= query.dtype.type(scale)
    return scores


def _forward(query, key, value, bias, scale):
    scores = _scores(query, key, scale)
    if bias is not None:
        scores += bias
    return xp.matmul(_safe_softmax(scores, -1), value).astype(query.dtype, copy=False)


def _joint(F, g, query, key, value, bias, scale):
    weights = _weights(F, query, key, bias, scale)
    turned = _turned(F, value)
    given = F.matmul(g, contiguous(turned) if F is RAW else turned)
    given = _softmax_grad(F, given, weights, len(query.shape) - 1)
    if F is RAW:
        given *= given.dtype.type(scale)
    else:
        given = given * scale
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
