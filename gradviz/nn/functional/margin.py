"""Losses with margins, and the pairwise ones."""

from __future__ import annotations

import math

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.modes import is_grad_enabled
from ...ops import loss as table
from ...ops.declare import FUNCTIONS, declare
from ...ops.loss import reduction_code
from .distance import pairwise_distance
from .loss import legacy_reduction, precise, reduced


def _soft_margin_grad(F, g, self, target, self_shape, reduction):
    z = F.exp(-target * self)
    return -target * z / (z + 1) * (g / math.prod(self_shape) if reduction == table.MEAN else g)


soft_margin_op = declare(
    "soft_margin_loss",
    lambda x, y, r: table._reduce(xp.log1p(xp.exp(-x * y)), r),
    "self target",
    "reduction",
    formula="−target · σ(−target · self) · g / n",
    self=_soft_margin_grad,
)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``log(1 + exp(−target · input))``."""
    reduction = reduction_code(legacy_reduction(size_average, reduce, reduction))
    if target.requires_grad and is_grad_enabled():
        raise RuntimeError(
            "The function 'soft_margin_loss' is not differentiable with respect to argument "
            "'target'. This input cannot have requires_grad True."
        )
    input, target = precise(input, target)
    return soft_margin_op(input, target, reduction)


def _from(value, x):
    """``value − x``, recorded as a subtraction of two tensors."""
    return FUNCTIONS["sub"](wrap(xp.asarray(value, x._a.dtype)), x)


def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """``input`` where the target is 1, ``max(0, margin − input)`` where it is −1."""
    input, target = precise(input, target)
    zero = FUNCTIONS["zeros_like"](input)
    where = FUNCTIONS["where"]
    loss = where(target != 1, _from(margin, input).clamp_min(0), zero) + where(
        target != -1, input, zero
    )
    return reduced(loss, legacy_reduction(size_average, reduce, reduction))


def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """``max(0, −target · (input1 − input2) + margin)``."""
    input1, input2, target = precise(input1, input2, target)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: "
            f"{input2.size()}, target: {target.size()} "
        )
    return reduced(
        (-target * (input1 - input2) + margin).clamp_min(0),
        legacy_reduction(size_average, reduce, reduction),
    )


def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """``1 − cos`` where the target is 1, ``max(0, cos − margin)`` where it is −1."""
    input1, input2, target = precise(input1, input2, target)
    if target.dim() > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    n = target.dim() + 1
    if not input1.dim() == input2.dim() == n:
        raise RuntimeError(
            f"{n - 1}D target tensor expects {n}D input tensors, but found inputs with sizes "
            f"{list(input1.shape)} and {list(input2.shape)}."
        )
    eps = 1e-12
    product = (input1 * input2).sum(-1)
    cos = product / (((input1 * input1).sum(-1) + eps) * ((input2 * input2).sum(-1) + eps)).sqrt()
    zeros = FUNCTIONS["zeros_like"](cos)
    where = FUNCTIONS["where"]
    loss = where(target == 1, _from(1, cos), zeros) + where(
        target == -1, (cos - margin).clamp_min(0), zeros
    )
    return reduced(loss, legacy_reduction(size_average, reduce, reduction))


def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """The mean over classes of the cross entropy of each label."""
    from .activation import logsigmoid

    loss = -(target * logsigmoid(input) + (1 - target) * logsigmoid(-input))
    if weight is not None:
        loss = loss * weight
    loss = loss.sum(input.dim() - 1) / input.size(input.dim() - 1)
    return reduced(loss, legacy_reduction(size_average, reduce, reduction))


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """How far other classes come within ``margin`` of the target class."""
    input, target = precise(input, target)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    rows = input if input.dim() == 2 else input.unsqueeze(0)
    _check_margin(input.shape, rows, target, weight)
    index = target.reshape(-1, 1)
    rest = (margin - rows.gather(1, index) + rows).clamp_min(0)
    rest = rest if p == 1 else rest * rest
    if weight is not None:
        rest = rest * weight[target.reshape(-1)].unsqueeze(1)
    others = FUNCTIONS["ones_like"](rows).scatter(1, index, 0.0)
    loss = (rest * others).sum(1) / rows.shape[1]
    loss = loss if input.dim() == 2 else loss.squeeze(0)
    return reduced(loss, legacy_reduction(size_average, reduce, reduction))


def _check_margin(shape, rows, target, weight):
    single = len(shape) < 2 and target.dim() == 0
    if not single and (target.dim() != 1 or target.numel() != rows.shape[0]):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows.shape[0]}], but got "
            f"{list(target.shape)}. Input has shape {list(shape)}."
        )
    if weight is not None and (weight.dim() > 1 or weight.numel() != rows.shape[1]):
        raise RuntimeError(
            f"inconsistent weight size, expected {rows.shape[1]} but got {list(weight.shape)}"
        )


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Margins between every target class (up to the first −1) and every other class."""
    input, target = precise(input, target)
    if input.shape != target.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    rows, labels = (
        (input, target) if input.dim() == 2 else (input.unsqueeze(0), target.unsqueeze(0))
    )
    losses = []
    for x, y in zip(rows, labels, strict=True):
        chosen = []
        for k in y.tolist():
            if k < 0:
                break
            chosen.append(k)
        others = [k for k in range(x.shape[0]) if k not in chosen]
        if chosen and others:
            losses.append(
                (1 - (x[chosen].unsqueeze(1) - x[others].unsqueeze(0))).clamp_min(0).sum()
                / x.shape[0]
            )
        else:
            losses.append(x.sum() * 0)
    loss = FUNCTIONS["stack"](losses)
    return reduced(
        loss if input.dim() == 2 else loss.squeeze(0),
        legacy_reduction(size_average, reduce, reduction),
    )


def triplet_margin_loss(
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    """``max(0, d(anchor, positive) − d(anchor, negative) + margin)``."""
    anchor, positive, negative = precise(anchor, positive, negative)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.dim() == positive.dim() == negative.dim():
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.dim()}D, positive {positive.dim()}D, and "
            f"negative {negative.dim()}D inputs"
        )
    near, far = (
        pairwise_distance(anchor, positive, p, eps),
        pairwise_distance(anchor, negative, p, eps),
    )
    if swap:
        far = FUNCTIONS["minimum"](far, pairwise_distance(positive, negative, p, eps))
    return reduced(
        (margin + near - far).clamp_min(0), legacy_reduction(size_average, reduce, reduction)
    )


def triplet_margin_with_distance_loss(
    anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"
):
    """``triplet_margin_loss`` with a distance of your own."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = distance_function or pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = FUNCTIONS["minimum"](far, distance(positive, negative))
    return reduced((margin + near - far).clamp_min(0), reduction)
