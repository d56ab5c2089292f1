"""Losses with derivatives of their own: what PyTorch records as one node."""

from __future__ import annotations

import math

from ..backend import as_array, beside, xp, zeros_by
from ..engine import dtypes
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import maybe
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


def _shared(x, shape, reduction):
    """``x``, linear in the gradient of a reduced loss, for one element."""
    return x / math.prod(shape) if reduction == MEAN else x


def _curved(F, g, grad_output, self, reduction, curve=1):
    """The second derivative of such a loss: ``curve`` for one element."""
    return _shared(g * grad_output, self.shape, reduction) * curve


declare(
    "mse_loss_backward",
    lambda g, x, y, reduction: _shared(g, x.shape, reduction) * ((x - y) * 2),
    "grad_output self target",
    "reduction",
    formula="2 (self − target) · g / n",
    grad_output=lambda F, g, self, target, reduction: F.mse_loss_backward(
        g, self, target, reduction
    ),
    self=lambda F, g, grad_output, self, reduction: _curved(F, g, grad_output, self, reduction, 2),
    target=lambda F, g, grad_output, self, reduction: _curved(
        F, g, grad_output, self, reduction, -2
    ),
)
mse_op = declare(
    "mse_loss",
    lambda a, b, r: reduce((a - b) * (a - b), r),
    "self target",
    "reduction",
    formula="2 (self − target) · g / n",
    self=lambda F, g, self, target, reduction: F.mse_loss_backward(g, self, target, reduction),
    target=lambda F, g, self, target, reduction: F.mse_loss_backward(g, target, self, reduction),
)


def _l1_self(F, g, self, target, self_shape, reduction):
    return _shared(g, self_shape, reduction) * F.sgn(self - target)


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


def _smooth_slope(g, x, y, reduction, beta):
    d = x - y
    slope = xp.where(xp.abs(d) < beta, d / beta, RAW.sgn(d)) if beta else RAW.sgn(d)
    return _shared(g, x.shape, reduction) * slope


def _smooth_curve(F, g, grad_output, self, target, reduction, beta):
    inside = F.abs(self - target) < beta
    found = _curved(F, g, grad_output, self, reduction, 1 / beta if beta else 1)
    return F.masked_fill(found, ~inside, 0)


declare(
    "smooth_l1_loss_backward",
    _smooth_slope,
    "grad_output self target",
    "reduction beta",
    node="SmoothL1LossBackwardBackward0",
    formula="(self − target)/β inside β, its sign outside",
    grad_output=lambda F, g, self, target, reduction, beta: F.smooth_l1_loss_backward(
        g, self, target, reduction, beta
    ),
    self=_smooth_curve,
    target=lambda F, g, grad_output, self, target, reduction, beta: (
        -_smooth_curve(F, g, grad_output, self, target, reduction, beta)
    ),
)
smooth_l1_op = declare(
    "smooth_l1_loss",
    _smooth_forward,
    "self target",
    "reduction beta",
    formula="(self − target)/β inside β, its sign outside",
    self=lambda F, g, self, target, reduction, beta: F.smooth_l1_loss_backward(
        g, self, target, reduction, beta
    ),
    target=lambda F, g, self, target, reduction, beta: F.smooth_l1_loss_backward(
        g, target, self, reduction, beta
    ),
)


def _huber_forward(a, b, reduction, delta):
    d = xp.abs(a - b)
    return reduce(
        xp.where(d <= delta, 0.5 * d * d, delta * (d - 0.5 * delta)).astype(a.dtype, copy=False),
        reduction,
    )


def _huber_slope(g, x, y, reduction, delta):
    if x.dtype != y.dtype:
        found, wanted = (dtypes.scalar_name(dtypes.of(k)) for k in (y, x))
        raise RuntimeError(f"Found dtype {found} but expected {wanted}")
    d = x - y
    slope = xp.where(xp.abs(d) <= delta, d, RAW.sgn(d) * delta)
    return _shared(g, x.shape, reduction) * slope


def _huber_curve(F, g, grad_output, self, target, reduction, delta):
    outside = F.abs(self - target) >= delta
    return F.masked_fill(_curved(F, g, grad_output, self, reduction), outside, 0)


declare(
    "huber_loss_backward",
    _huber_slope,
    "grad_output self target",
    "reduction delta",
    formula="self − target inside δ, ±δ outside",
    grad_output=lambda F, g, self, target, reduction, delta: F.huber_loss_backward(
        g, self, target, reduction, delta
    ),
    self=_huber_curve,
    target=lambda F, g, grad_output, self, target, reduction, delta: (
        -_huber_curve(F, g, grad_output, self, target, reduction, delta)
    ),
)
huber_op = declare(
    "huber_loss",
    _huber_forward,
    "self target",
    "reduction delta",
    formula="self − target inside δ, ±δ outside",
    self=lambda F, g, self, target, reduction, delta: F.huber_loss_backward(
        g, self, target, reduction, delta
    ),
    target=lambda F, g, self, target, reduction, delta: F.huber_loss_backward(
        g, target, self, reduction, delta
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


def _nll_back_forward(g, x, target, weight, reduction, ignore_index):
    shape = x.shape
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


def _nll(name, node):
    back = f"{name}_backward"
    declare(
        back,
        _nll_back_forward,
        "grad_output self",
        "target weight reduction ignore_index",
        node=node.replace("Backward0", "BackwardBackward0"),
        formula="−weight · g at the target class",
        also={"weight": maybe("weight")},
        grad_output=_nll_back_back,
        self=lambda F, g: F.zeros_like(g),
    )
    return declare(
        name,
        _nll_forward,
        "self",
        "target weight reduction ignore_index",
        node=node,
        formula="−g · weight at the target class",
        also={"total_weight": _total_weight, "weight": maybe("weight")},
        self=lambda F, g, self, target, weight, reduction, ignore_index: getattr(F, back)(
            g, self, target, weight, reduction, ignore_index
        ),
    )


nll_op = _nll("nll_loss", "NllLossBackward0")
nll2d_op = _nll("nll_loss2d", "NllLoss2DBackward0")


# ---------------------------------------------------------------- binary cross entropy
def _bce_forward(x, target, weight, reduction):
    with xp.errstate(divide="ignore"):
        out = -(
            target * xp.maximum(xp.log(x), -100) + (1 - target) * xp.maximum(xp.log1p(-x), -100)
        )
    return reduce((out if weight is None else out * weight).astype(x.dtype, copy=False), reduction)


def _weighted(x, weight):
    return x if weight is None else x * weight


def _bce_back(g, x, target, weight, reduction):
    slope = (x - target) / xp.clip((1 - x) * x, x.dtype.type(1e-12), None)
    return _weighted(_shared(g, x.shape, reduction) * slope, weight)


def _bce_back_self(F, g, grad_output, self, target, weight, reduction):
    below = F.clamp((1 - self) * self, 1e-12, None)
    rest = self - target
    curve = 1 / below - rest * (1 - self * 2) / (below * below)
    return _weighted(_curved(F, g, grad_output, self, reduction, curve), weight)


def _bce_back_target(F, g, grad_output, self, weight, reduction):
    curve = -1 / F.clamp((1 - self) * self, 1e-12, None)
    return _weighted(_curved(F, g, grad_output, self, reduction, curve), weight)


declare(
    "binary_cross_entropy_backward",
    _bce_back,
    "grad_output self target weight",
    "reduction",
    formula="(self − target) / (self (1 − self)) · g / n",
    grad_output=lambda F, g, self, target, weight, reduction: F.binary_cross_entropy_backward(
        g, self, target, weight, reduction
    ),
    self=_bce_back_self,
    target=_bce_back_target,
)


def _log_odds(F, x):
    if F is TENSOR:
        return F.logit(x, None)
    with xp.errstate(all="ignore"):
        return xp.log(x) - xp.log1p(-x)


def _bce_target(F, g, self, weight, reduction):
    return _shared(_weighted(-_log_odds(F, self) * g, weight), self.shape, reduction)


bce_op = declare(
    "binary_cross_entropy",
    _bce_forward,
    "self target weight",
    "reduction",
    node="BinaryCrossEntropyBackward0",
    formula="(self − target) / (self (1 − self)) · g / n",
    self=lambda F, g, self, target, weight, reduction: F.binary_cross_entropy_backward(
        g, self, target, weight, reduction
    ),
    target=_bce_target,
)


def _bce_logits_forward(x, target, weight, pos_weight, reduction):
    soft = xp.log1p(xp.exp(-xp.abs(x))) + xp.maximum(-x, 0)
    if pos_weight is None:
        out = (1 - target) * x + soft
    else:
        out = (1 - target) * x + (1 + (pos_weight - 1) * target) * soft
    out = out if weight is None else out * weight
    return reduce(out.astype(target.dtype, copy=False), reduction)


def _bce_logits_self(F, g, self, target, weight, pos_weight, reduction):
    if pos_weight is None:
        rate = F.sigmoid(self) - target
    else:
        t = pos_weight * target
        rate = (t + 1 - target) * F.sigmoid(self) - t
    return _shared(_weighted(rate * g, weight), self.shape, reduction)


def _bce_logits_target(F, g, self, weight, pos_weight, reduction):
    if pos_weight is None:
        rate = -self
    else:
        rate = F.log_sigmoid(-self) - F.log_sigmoid(self) * pos_weight
    return _shared(_weighted(rate * g, weight), self.shape, reduction)


bce_logits_op = declare(
    "binary_cross_entropy_with_logits",
    _bce_logits_forward,
    "self target weight pos_weight",
    "reduction",
    node="BinaryCrossEntropyWithLogitsBackward0",
    formula="(σ(self) − target) · g / n",
    self=_bce_logits_self,
    target=_bce_logits_target,
)
