"""Losses with margins, and the pairwise ones."""

from __future__ import annotations

import math

from ...backend import xp
from ...engine.dispatch import wrap
from ...engine.dtypes import default, scalar_name
from ...engine.operands import together
from ...engine.operation import RAW, TENSOR
from ...engine.views import check_cast
from ...ops import loss as table
from ...ops.declare import FUNCTIONS, declare
from ...ops.loss import reduction_code
from ...ops.margins import multi_margin_op, multilabel_margin_op
from .distance import pairwise_distance
from .loss import legacy_reduction, not_differentiable, precise, reduced


def _soft_margin_grad(F, g, self, target, self_shape, reduction):
    z = F.exp(-target * self)
    return -target * z / (z + 1) * (g / math.prod(self_shape) if reduction == table.MEAN else g)


soft_margin_op = declare(
    "soft_margin_loss",
    lambda x, y, r: table.reduce(xp.log1p(xp.exp(RAW.neg(y) * x)), r),
    "self target",
    "reduction",
    formula="−target · σ(−target · self) · g / n",
    self=_soft_margin_grad,
)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """``log(1 + exp(−target · input))``."""
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    not_differentiable("soft_margin_loss", target=target)
    input, target = precise(input, target)
    together(input, target)
    if input._a.dtype.kind in "iu":
        check_cast(default.float.np, input._a.dtype)
    return soft_margin_op(input, target, code)


def _from(value, x):
    """``value − x``, recorded as a subtraction of two tensors."""
    return FUNCTIONS["sub"](wrap(xp.asarray(value, x._a.dtype)), x)


def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """``input`` where the target is 1, ``max(0, margin − input)`` where it is −1."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    reduction_code(reduction)
    input, target = precise(input, target)
    zero = FUNCTIONS["zeros_like"](input)
    where = FUNCTIONS["where"]
    loss = where(target != 1, _from(margin, input).clamp_min(0), zero) + where(
        target != -1, input, zero
    )
    return reduced(loss, reduction)


def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """``max(0, −target · (input1 − input2) + margin)``."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    reduction_code(reduction)
    input1, input2, target = precise(input1, input2, target)
    if input1.dim() != input2.dim() or input1.dim() != target.dim():
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.size()}, input2: "
            f"{input2.size()}, target: {target.size()} "
        )
    return reduced(TENSOR.add_number(-target * (input1 - input2), margin).clamp_min(0), reduction)


def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """``1 − cos`` where the target is 1, ``max(0, cos − margin)`` where it is −1."""
    reduction = legacy_reduction(size_average, reduce, reduction)
    reduction_code(reduction)
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
    first, second = (TENSOR.add_number((x * x).sum(-1), eps) for x in (input1, input2))
    cos = product / (first * second).sqrt()
    zeros = FUNCTIONS["zeros_like"](cos)
    where = FUNCTIONS["where"]
    loss = where(target == 1, _from(1, cos), zeros) + where(
        target == -1, TENSOR.sub_number(cos, margin).clamp_min(0), zeros
    )
    return reduced(loss, reduction)


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
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    input, target = precise(input, target)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ValueError("weight must be one-dimensional")
    not_differentiable("multi_margin_loss", weight=weight)
    _check_margin(input, target, weight)
    array = None if weight is None else weight._a
    return multi_margin_op(input, target._a, array, p, margin, code)


def _rows_of(input):
    """(rows, classes) of a matrix, a vector or a number."""
    shape = input._a.shape
    if len(shape) > 2:
        raise RuntimeError(
            "Expected non-empty vector or matrix with optional 0-dim batch size, but got: "
            f"{list(shape)}"
        )
    return shape if len(shape) == 2 else (1, shape[0] if shape else 1)


def _check_margin(input, target, weight):
    rows, classes = _rows_of(input)
    single = input.dim() < 2 and target.dim() == 0
    if not single and (target.dim() != 1 or target.numel() != rows):
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input "
            f"samples (batch size). Expected target size [{rows}], but got "
            f"{list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.numel() != classes:
        raise RuntimeError(
            f"inconsistent weight size, expected {classes} but got {list(weight.shape)}"
        )
    _check_kinds("multi_margin_loss_cpu_kernel", input, target, weight)
    if target.numel() and not ((target._a >= 0) & (target._a < classes)).all():
        raise RuntimeError("target out of range")


def _check_kinds(kernel, input, target, weight=None):
    if input._a.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{scalar_name(input.dtype)}'")
    if target._a.dtype != xp.int64:
        raise RuntimeError(f"expected scalar type Long but found {scalar_name(target.dtype)}")
    if weight is not None and weight._a.dtype != input._a.dtype:
        names = scalar_name(input.dtype), scalar_name(weight.dtype)
        raise RuntimeError("expected scalar type {} but found {}".format(*names))


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """Margins between every target class (up to the first −1) and every other class."""
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    input, target = precise(input, target)
    classes = _rows_of(input)[1]
    if input.shape != target.shape:
        raise RuntimeError(
            f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}"
        )
    if target.numel() and not ((target._a >= -1) & (target._a < classes)).all():
        raise RuntimeError("argument #2 'target' is out of range")
    _check_kinds("multilabel_margin_loss_forward_out_frame", input, target)
    return multilabel_margin_op(input, target._a, code)


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
    reduction = legacy_reduction(size_average, reduce, reduction)
    reduction_code(reduction)
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
    return reduced((TENSOR.add_number(near, margin) - far).clamp_min(0), reduction)


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
