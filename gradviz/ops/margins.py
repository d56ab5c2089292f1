"""Losses over the margins between classes: what PyTorch records as one node."""

from __future__ import annotations

from ..backend import xp
from ..engine.operation import RAW
from .declare import declare
from .loss import MEAN, NONE, reduce


def _rows(x):
    return x if x.ndim == 2 else x.reshape(1, -1)


def _array(F, x):
    return x if F is RAW else x._a


def _of_rows(F, g, shape, reduction):
    """The gradient of a reduced loss, one a row."""
    count = shape[0] if len(shape) == 2 else 1
    if reduction == NONE:
        return F.reshape(g, (count, 1))
    return g / count if reduction == MEAN else g


# ---------------------------------------------------------------- one right class
def _hot(rows, target):
    return xp.arange(rows.shape[1], like=rows) == target.reshape(-1, 1)


def _multi_margin(x, target, weight, p, margin, reduction):
    rows = _rows(x)
    hot = _hot(rows, target)
    own = xp.take_along_axis(rows, target.reshape(-1, 1), 1)
    gap = xp.maximum(rows.dtype.type(margin) - own + rows, 0)
    gap = gap if p == 1 else gap * gap
    if weight is not None:
        gap = gap * weight[target.reshape(-1)][:, None]
    losses = xp.where(hot, rows.dtype.type(0), gap).sum(1) / rows.dtype.type(rows.shape[1])
    return reduce(losses if x.ndim == 2 else losses[0], reduction)


def _multi_margin_grad(F, g, self, self_shape, target, weight, p, margin, reduction):
    a = _rows(_array(F, self))
    classes = a.shape[1]
    hot = F.constant(_hot(a, target))
    rows = F.reshape(self, a.shape)
    own = F.sum_dims(F.masked_fill(rows, F.logical_not(hot), 0), (1,), True)
    gap = rows - own + margin
    near = F.cast(gap > 0, a.dtype)
    slope = near if p == 1 else near * gap * 2
    if weight is not None:
        slope = slope * F.constant(weight[target.reshape(-1)][:, None])
    slope = F.masked_fill(slope, hot, 0) / classes
    slope = slope - F.cast(hot, a.dtype) * F.sum_dims(slope, (1,), True)
    return F.reshape(slope * _of_rows(F, g, self_shape, reduction), self_shape)


multi_margin_op = declare(
    "multi_margin_loss",
    _multi_margin,
    "self",
    "target weight p margin reduction",
    formula="±g · p · max(margin − selfₖ + selfⱼ, 0)ᵖ⁻¹ / n",
    self=_multi_margin_grad,
)


# ---------------------------------------------------------------- several right classes
def _pairs(rows, target):
    """How often class k is among the right ones, up to the first −1, while j is not."""
    labels = target.reshape(rows.shape)
    listed = xp.cumprod(labels >= 0, 1).astype(bool)
    spots = labels[:, :, None] == xp.arange(rows.shape[1], like=rows)
    counts = (spots & listed[:, :, None]).sum(1)
    return counts[:, :, None] * (counts == 0)[:, None, :]


def _gaps(rows):
    return rows.dtype.type(1) - rows[:, :, None] + rows[:, None, :]


def _multilabel_margin(x, target, reduction):
    rows = _rows(x)
    open_ = xp.maximum(_gaps(rows), 0) * _pairs(rows, target).astype(rows.dtype)
    losses = open_.sum((1, 2)) / rows.dtype.type(rows.shape[1])
    return reduce(losses if x.ndim == 2 else losses[0], reduction)


def _multilabel_margin_grad(F, g, self, self_shape, target, reduction):
    rows = _rows(_array(F, self))
    open_ = (_gaps(rows) > 0) * _pairs(rows, target)
    slope = (open_.sum(1) - open_.sum(2)).astype(rows.dtype) / rows.dtype.type(rows.shape[1])
    return F.reshape(F.constant(slope) * _of_rows(F, g, self_shape, reduction), self_shape)


multilabel_margin_op = declare(
    "multilabel_margin_loss",
    _multilabel_margin,
    "self",
    "target reduction",
    formula="±g · [1 − selfₖ + selfⱼ > 0] / n",
    self=_multilabel_margin_grad,
)
