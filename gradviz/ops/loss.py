"""Losses with derivatives of their own: what PyTorch records as one node."""

from __future__ import annotations

import math

from ..backend import as_array, beside, xp, zeros_by
from ..engine.operation import RAW
from .declare import declare

NONE, MEAN, SUM = 0, 1, 2
REDUCTIONS = {"none": NONE, "mean": MEAN, "sum": SUM}


def reduction_code(name):
    """0 none, 1 mean, 2 sum; ValueError otherwise."""
    if name not in REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return REDUCTIONS[name]


def reduce(x, reduction):
    """The losses themselves, their mean or their sum."""
    if reduction == NONE:
        return x
    if reduction == SUM:
        return as_array(xp.add.reduce(x, None))
    with xp.errstate(all="ignore"):
        return as_array(xp.add.reduce(x, None) / x.dtype.type(x.size))


def _spread(F, g, shape, reduction):
    """The gradient of a reduced loss, for one element."""
    return g / math.prod(shape) if reduction == MEAN else g


def _mse_self(F, g, self, target, self_shape, reduction):
    return _spread(F, g, self_shape, reduction) * ((self - target) * 2)


mse_op = declare(
    "mse_loss",
    lambda a, b, r: reduce((a - b) * (a - b), r),
    "self target",
    "reduction",
    formula="2 (self − target) · g / n",
    hidden=("self_sym_sizes",),
    self=_mse_self,
    target=lambda F, g, self, target, self_shape, reduction: (
        -_mse_self(F, g, self, target, self_shape, reduction)
    ),
)


def _l1_self(F, g, self, target, self_shape, reduction):
    return _spread(F, g, self_shape, reduction) * F.sgn(self - target)


l1_op = declare(
    "l1_loss",
    lambda a, b, r: reduce(xp.abs(a - b), r),
    "self target",
    "reduction",
    formula="sgn(self − target) · g / n",
    self=_l1_self,
    target=lambda F, g, self, target, self_shape, reduction: (
        -_l1_self(F, g, self, target, self_shape, reduction)
    ),
)


def _smooth_forward(a, b, reduction, beta):
    d = xp.abs(a - b)
    return reduce(
        xp.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta).astype(a.dtype, copy=False)
        if beta
        else d,
        reduction,
    )


def _smooth_self(F, g, self, target, self_shape, reduction, beta):
    d = self - target
    inner = d / beta if beta else d
    return _spread(F, g, self_shape, reduction) * F.where(F.abs(d) < beta, inner, F.sgn(d))


smooth_l1_op = declare(
    "smooth_l1_loss",
    _smooth_forward,
    "self target",
    "reduction beta",
    formula="(self − target)/β inside β, its sign outside",
    hidden=("self_sym_sizes",),
    self=_smooth_self,
    target=lambda F, g, self, target, self_shape, reduction, beta: (
        -_smooth_self(F, g, self, target, self_shape, reduction, beta)
    ),
)


def _huber_forward(a, b, reduction, delta):
    d = xp.abs(a - b)
    return reduce(
        xp.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta)).astype(a.dtype, copy=False),
        reduction,
    )


def _huber_self(F, g, self, target, self_shape, reduction, delta):
    d = self - target
    return _spread(F, g, self_shape, reduction) * F.where(F.abs(d) <= delta, d, F.sgn(d) * delta)


huber_op = declare(
    "huber_loss",
    _huber_forward,
    "self target",
    "reduction delta",
    hidden=("self_sym_sizes",),
    formula="self − target inside δ, ±δ outside",
    self=_huber_self,
    target=lambda F, g, self, target, self_shape, reduction, delta: (
        -_huber_self(F, g, self, target, self_shape, reduction, delta)
    ),
)


# ---------------------------------------------------------------- negative log likelihood
def _nll_weights(target, weight, ignore_index, classes, dtype):
    """Weight of every element of ``target``: 0 where ignored. On a GPU classes that do not exist
    have weight NaN, since it would wait to say more; elsewhere they were refused.
    """
    kept = target != ignore_index
    if target.__class__ is not xp.ndarray:
        there = (target >= 0) & (target < classes)
        safe = xp.where(kept & there, target, 0)
        per = 1.0 if weight is None else weight[safe]
        return xp.where(kept, xp.where(there, per, xp.nan), 0).astype(dtype), safe
    if kept.all():
        safe = target
        per = (
            xp.ones(target.shape, dtype, like=target)
            if weight is None
            else weight[safe].astype(dtype)
        )
        return per, safe
    safe = xp.where(kept, target, 0)
    if weight is None:
        return kept.astype(dtype), safe
    return xp.where(kept, weight[safe], 0).astype(dtype), safe


def _at_target(x, safe):
    """The index of each target's element in (C), (N, C) or (N, C, …)."""
    if x.ndim == 1:
        return safe
    if x.ndim == 2:
        return xp.arange(len(safe), like=x), safe
    batch, *rest = (beside(k, x) for k in xp.ogrid[tuple(slice(n) for n in safe.shape)])
    return (batch, safe, *rest)


def _nll_forward(x, target, weight, reduction, ignore_index):
    classes = x.shape[1 if x.ndim > 1 else 0]
    per, safe = _nll_weights(target, weight, ignore_index, classes, x.dtype)
    losses = -x[_at_target(x, safe)] * per
    if reduction == NONE:
        return as_array(losses)
    total = as_array(xp.add.reduce(losses, None))
    if reduction == SUM:
        return total
    with xp.errstate(all="ignore"):
        return as_array(total / xp.add.reduce(per, None))


def _nll_back_forward(g, shape, target, weight, reduction, ignore_index):
    classes = shape[1 if len(shape) > 1 else 0]
    per, safe = _nll_weights(target, weight, ignore_index, classes, g.dtype)
    scale = -per / xp.add.reduce(per, None) if reduction == MEAN else -per
    out = zeros_by(g, shape)
    out[_at_target(out, safe)] = scale * g
    return out


def _nll_back_back(F, g, target, weight, reduction, ignore_index):
    like = g.dtype if F is RAW else g._a.dtype
    shape = (g if F is RAW else g._a).shape
    classes = shape[1 if len(shape) > 1 else 0]
    per, safe = _nll_weights(target, weight, ignore_index, classes, like)
    scale = -per / xp.add.reduce(per, None) if reduction == MEAN else -per
    picked = F.take_along(
        g, safe if len(shape) == 1 else xp.expand_dims(safe, 1), 0 if len(shape) == 1 else 1
    )
    picked = F.reshape(picked, safe.shape) * F.constant(scale)
    return picked if reduction == NONE else F.sum(picked)


def _total_weight(node):
    target, weight, _, ignored = node.at[:4]
    seen = target != ignored
    dtype = node.dtype
    total = seen.sum() if weight is None else weight[xp.where(seen, target, 0)][seen].sum()
    return xp.asarray(total, dtype)


nll_op = declare(
    "nll_loss",
    _nll_forward,
    "self",
    "target weight reduction ignore_index",
    node="NllLossBackward0",
    formula="−g · weight at the target class",
    hidden=("self_sym_sizes",),
    also={"total_weight": _total_weight},
    self=lambda F, g, self, self_shape, target, weight, reduction, ignore_index: F.nll_back(
        g, self_shape, target, weight, reduction, ignore_index
    ),
)
nll2d_op = declare(
    "nll_loss2d",
    _nll_forward,
    "self",
    "target weight reduction ignore_index",
    node="NllLoss2DBackward0",
    formula="−g · weight at the target class",
    hidden=("self_sym_sizes",),
    also={"total_weight": _total_weight},
    self=lambda F, g, self, self_shape, target, weight, reduction, ignore_index: F.nll_back(
        g, self_shape, target, weight, reduction, ignore_index
    ),
)
declare(
    "nll_back",
    _nll_back_forward,
    "self",
    "shape target weight reduction ignore_index",
    node="NllLossBackwardBackward0",
    self=_nll_back_back,
)


# ---------------------------------------------------------------- binary cross entropy
def _bce_forward(x, target, weight, reduction):
    with xp.errstate(divide="ignore"):
        out = -(
            target * xp.maximum(xp.log(x), -100) + (1 - target) * xp.maximum(xp.log1p(-x), -100)
        )
    return reduce((out if weight is None else out * weight).astype(x.dtype, copy=False), reduction)


def _bce_self(F, g, self, target, weight, self_shape, reduction):
    out = _spread(F, g, self_shape, reduction) * (
        (self - target) / F.clamp((1 - self) * self, 1e-12, None)
    )
    return out if weight is None else out * weight


def _bce_target(F, g, self, target, weight, self_shape, reduction):
    rate = F.clamp(F.log(1 - self), -100.0, None) - F.clamp(F.log(self), -100.0, None)
    out = _spread(F, g, self_shape, reduction) * rate
    return out if weight is None else out * weight


bce_op = declare(
    "binary_cross_entropy",
    _bce_forward,
    "self target weight",
    "reduction",
    node="BinaryCrossEntropyBackward0",
    hidden=("self_sym_sizes",),
    formula="(self − target) / (self (1 − self)) · g / n",
    self=_bce_self,
    target=_bce_target,
)


def _bce_logits_forward(x, target, weight, pos_weight, reduction):
    soft = xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(-x, 0)
    if pos_weight is None:
        out = (1 - target) * x + soft
    else:
        out = (1 - target) * x + (1 + (pos_weight - 1) * target) * soft
    return reduce((out if weight is None else out * weight).astype(x.dtype, copy=False), reduction)


def _bce_logits_self(F, g, self, target, weight, pos_weight, self_shape, reduction):
    if pos_weight is None:
        rate = F.sigmoid(self) - target
    else:
        t = pos_weight * target
        rate = (t + 1 - target) * F.sigmoid(self) - t
    out = _spread(F, g, self_shape, reduction) * rate
    return out if weight is None else out * weight


def _bce_logits_target(F, g, self, weight, pos_weight, self_shape, reduction):
    rate = -self if pos_weight is None else F.log_sigmoid(-self) - pos_weight * F.log_sigmoid(self)
    out = _spread(F, g, self_shape, reduction) * rate
    return out if weight is None else out * weight


bce_logits_op = declare(
    "binary_cross_entropy_with_logits",
    _bce_logits_forward,
    "self target weight pos_weight",
    "reduction",
    node="BinaryCrossEntropyWithLogitsBackward0",
    hidden=("self_sym_sizes",),
    formula="(σ(self) − target) · g / n",
    self=_bce_logits_self,
    target=_bce_logits_target,
)
