"""Losses."""

from __future__ import annotations

import math
import warnings

from ...backend import readable, xp
from ...engine.arguments import refusal
from ...engine.dispatch import Tensor, wrap
from ...engine.dtypes import from_np, scalar_name
from ...engine.kept import keep
from ...engine.modes import is_grad_enabled, local, native, state
from ...engine.operands import broadcast_error
from ...engine.operation import TENSOR
from ...engine.tensor import existing_dim
from ...ops import loss as table
from ...ops.casting import converted
from ...ops.declare import FUNCTIONS
from ...ops.expand import broadcast_tensors
from ...ops.loss import reduction_code
from ...ops.lower import raised
from ...ops.softmax import log_softmax as _log_softmax


def legacy_reduction(size_average, reduce, reduction):
    """``reduction`` from the old pair of arguments, with PyTorch's warning."""
    if size_average is None and reduce is None:
        return reduction
    average = True if size_average is None else size_average
    wanted = ("mean" if average else "sum") if reduce is None or reduce else "none"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{wanted}' "
        "instead.",
        stacklevel=3,
    )
    return wanted


def precise(*tensors):
    """The tensors in float32 inside an autocast block, as they are outside."""
    return raised(*tensors) if state.special and local.autocast is not None else tensors


def not_differentiable(function, **arguments):
    """RuntimeError where an argument that gets no gradient asks for one."""
    for name, x in arguments.items():
        if x is not None and x.requires_grad and is_grad_enabled():
            raise RuntimeError(
                f"The function '{function}' is not differentiable with respect to argument "
                f"'{name}'. This input cannot have requires_grad True."
            )


def shapes_together(a, b):
    """RuntimeError for shapes that do not broadcast."""
    if any(m != n and 1 not in (m, n) for m, n in zip(reversed(a), reversed(b), strict=False)):
        raise broadcast_error(b, a)


def reduced(loss, reduction):
    """Mean, sum or nothing."""
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(f"{reduction} is not a valid value for reduction")


def _pair(input, target, promote=True):
    """Input and target, broadcast and in one dtype, with PyTorch's warning about sizes that
    differ."""
    if target._a.shape != input._a.shape:
        warnings.warn(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to "
            "incorrect results due to broadcasting. Please ensure they have the same size.",
            stacklevel=3,
        )
        input, target = broadcast_tensors(input, target)
    if promote and target._a.dtype is not input._a.dtype:
        from ...engine.operands import common_dtype

        common = common_dtype(input, target)
        input, target = (converted(x, common.np) for x in (input, target))
    return input, target


def mse_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The squared difference."""
    input, target = precise(input, target)
    input, target = _pair(input, target)
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    if weight is None:
        return table.mse_op(input, target, code)
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")
    weighted = ((input - target) ** 2) * weight
    return weighted if code == 0 else weighted.sum() if code == 2 else weighted.sum() / weight.sum()


def l1_loss(input, target, size_average=None, reduce=None, reduction="mean", weight=None):
    """The absolute difference."""
    input, target = precise(input, target)
    input, target = _pair(input, target)
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    if weight is not None:
        weighted = weight * (input - target).abs()
        return (
            weighted
            if code == 0
            else weighted.sum()
            if code == 2
            else weighted.sum() / weight.sum()
        )
    difference = (input - target).abs()
    return difference if code == 0 else difference.mean() if code == 1 else difference.sum()


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    """Quadratic below ``beta``, linear above."""
    input, target = precise(input, target)
    input, target = _pair(input, target)
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return table.smooth_l1_op(input, target, code, beta)


def huber_loss(input, target, reduction="mean", delta=1.0, weight=None):
    """Quadratic below ``delta``, linear above, with slope ``delta``."""
    input, target = precise(input, target)
    input, target = _pair(input, target, promote=False)
    code = reduction_code(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    if weight is None:
        return table.huber_op(input, target, code, delta)
    weighted = weight * table.huber_op(input, target, 0, delta)
    return weighted if code == 0 else weighted.sum() if code == 2 else weighted.sum() / weight.sum()


# ---------------------------------------------------------------- classes
def _check_targets(target, classes, ignore_index):
    a = target._a
    if a.__class__ is not xp.ndarray:
        return  # it would wait: there a class that does not exist makes the loss NaN
    wrong = a[(a != ignore_index) & ((a < 0) | (a >= classes))]
    if wrong.size:
        raise IndexError(f"Target {wrong.flat[0]} is out of bounds.")


def nll_loss(
    input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
):
    """Minus the input at the target class: input (N, C, …) of log-probabilities, target (N, …) of
    class numbers."""
    input, target = precise(input, target)
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    n = input.dim()
    if n < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {n})")
    if n == 1 and target.dim() == 1 and target.shape[0] != 1:
        not_differentiable("nll_loss_forward", weight=weight)
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {target.shape[0]}"
        )
    batch = target.shape[0] if target.dim() else 0
    if n != 1 and input.shape[0] != batch:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size ({batch})."
        )
    not_differentiable("nll_loss_forward" if n <= 2 else "nll_loss2d_forward", weight=weight)
    _check_nll(input, target, weight, n)
    _check_targets(target, input.shape[0 if n == 1 else 1], ignore_index)
    array = None if weight is None else weight._a
    index, kept = target._a, [t for t in (target, weight) if t is not None]
    if n <= 2:
        return keep(table.nll_op(input, index, array, code, ignore_index), *kept)
    if n == 4:
        return keep(table.nll2d_op(input, index, array, code, ignore_index), *kept)
    return _nll_any(input, index, array, code, ignore_index)


def _check_nll(input, target, weight, n):
    if n <= 2:
        if target.dim() > 1:
            raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    else:
        wanted = (input.shape[0], *input.shape[2:])
        if tuple(target.shape) != wanted:
            if n == 4 and target.dim() != 3:
                raise RuntimeError(
                    "only batches of spatial targets supported (3D tensors) but got targets of "
                    "dimension: " + str(target.dim())
                )
            raise RuntimeError(
                f"Expected target size [{', '.join(map(str, wanted))}], got "
                f"[{', '.join(map(str, target.shape))}]"
            )
    if target._a.dtype.str[1:] not in ("i8", "u1"):
        raise RuntimeError(
            "expected target dtype to be Long or Byte, but got "
            f"{scalar_name(from_np(target._a.dtype))}"
        )
    classes = input.shape[0 if n == 1 else 1]
    if weight is not None and (weight.dim() != 1 or weight.numel() != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but "
            "got weight tensor of shape: "
            f"[{', '.join(map(str, weight.shape))}]"
        )
    if weight is not None and weight._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"expected scalar type {scalar_name(input.dtype)} but found {scalar_name(weight.dtype)}"
        )


def _nll_any(input, index, weight, code, ignore_index):
    batch, classes, *rest = input.shape
    if math.prod(input.shape):
        out = table.nll2d_op(
            input.contiguous().view(batch, classes, 1, -1),
            index.reshape(batch, 1, -1),
            weight,
            code,
            ignore_index,
        )
    else:
        out = table.nll2d_op(
            input.reshape(batch, classes, 0, 0),
            index.reshape(batch, 0, 0),
            weight,
            code,
            ignore_index,
        )
    return out.view(batch, *rest) if code == 0 else out


def cross_entropy(
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    """``nll_loss(log_softmax(input))``; targets are class numbers, or probabilities of the shape of
    the input."""
    input, target = precise(input, target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    code = reduction_code(reduction)
    dim = 0 if input.dim() == 1 else 1
    if input._a.shape == target._a.shape:
        if target._a.dtype.kind not in "fV":
            raise RuntimeError(
                "Expected floating point type for target with class probabilities, got "
                + scalar_name(target.dtype)
            )
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _probabilities(input, target, weight, code, label_smoothing, dim)
    if label_smoothing:
        return _smoothed(input, target, weight, reduction, ignore_index, label_smoothing, dim)
    return nll_loss(
        _log_softmax(input, dim),
        target,
        weight,
        ignore_index=ignore_index,
        reduction=reduction,
    )


def _check_smoothing(value):
    if not 0.0 <= value <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {value:g}")


def _by_class(weight, ndim, dim):
    return weight.view([-1 if d == dim else 1 for d in range(ndim)])


def _probabilities(input, target, weight, code, smoothing, dim):
    _check_smoothing(smoothing)
    log_p = _log_softmax(input, existing_dim(dim, input.dim()))
    if smoothing > 0:
        with native():
            target = target * (1 - smoothing) + smoothing / input.shape[dim]
    weighted = (
        log_p * target if weight is None else log_p * target * _by_class(weight, input.dim(), dim)
    )
    if code == 0:
        return -weighted.sum(dim)
    if code == 2:
        return -weighted.sum()
    return TENSOR.div_number(-weighted.sum(), input.numel() // input.shape[dim])


def _smoothed(input, target, weight, reduction, ignore_index, smoothing, dim):
    _check_smoothing(smoothing)
    log_p = _log_softmax(input, dim)
    nll = nll_loss(log_p, target, weight, ignore_index=ignore_index, reduction=reduction)
    by_class = log_p if weight is None else log_p * _by_class(weight, input.dim(), dim)
    ignored = target._a == ignore_index
    smooth = (-by_class.sum(dim)).masked_fill(wrap(ignored), 0.0)
    if reduction == "sum":
        smooth = smooth.sum()
    elif reduction == "mean":
        if weight is None:
            smooth = smooth.sum() / int((~ignored).sum())
        else:
            kept = wrap(weight._a[target._a[~ignored]])
            smooth = smooth.sum() / kept.sum()
    share = smoothing / input.shape[dim]
    return TENSOR.mul_number(nll, 1 - smoothing) + TENSOR.mul_number(smooth, share)


# ---------------------------------------------------------------- yes or no
def binary_cross_entropy(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """Cross entropy of probabilities in [0, 1]."""
    input, target = precise(input, target)
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please "
            "ensure they have the same size."
        )
    not_differentiable("binary_cross_entropy", weight=weight)
    if target._a.dtype != input._a.dtype:
        raise RuntimeError(
            f"Found dtype {scalar_name(target.dtype)} but expected {scalar_name(input.dtype)}"
        )
    if input.dtype.category != 2:
        raise NotImplementedError(
            f"\"binary_cross_entropy\" not implemented for '{scalar_name(input.dtype)}'"
        )
    for name, x in (("input", input), ("target", target)):
        if readable(x._a) and not ((x._a >= 0) & (x._a <= 1)).all():
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return table.bce_op(input, target, None if weight is None else weight.expand(input.shape), code)


def binary_cross_entropy_with_logits(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
):
    """``binary_cross_entropy(sigmoid(input))``, computed without overflow."""
    input, target = precise(input, target)
    code = reduction_code(legacy_reduction(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    if input.dtype.category != 2:
        raise NotImplementedError(
            f"\"log_sigmoid_cpu\" not implemented for '{scalar_name(input.dtype)}'"
        )
    not_differentiable("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    for factor in (weight, pos_weight):
        if factor is not None:
            shapes_together(input.shape, factor.shape)
    return table.bce_logits_op(input, target, weight, pos_weight, code)


# ---------------------------------------------------------------- distributions
def kl_div(input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    """``target · (log target − input)``, where ``input`` holds log-probabilities."""
    input, target = precise(input, target)
    if input.dtype.category < 2 and target.dtype.category < 2:
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if input.is_complex() or target.is_complex():
        raise RuntimeError("kl_div: Complex inputs not supported.")
    reduction = legacy_reduction(size_average, reduce, reduction)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size.'batchmean' divides only by the "
            "batch size, and aligns with the KL div math definition.'mean' will be changed to "
            "behave the same as 'batchmean' in the "
            "next major release.",
            stacklevel=2,
        )
    batch = reduction == "batchmean"
    code = reduction_code("sum" if batch else reduction)
    if log_target:
        apart = target - input
        losses = target.exp() * apart
    else:
        scaled = target * input
        losses = FUNCTIONS["xlogy"](target, target) - scaled
    out = reduced(losses, ("none", "mean", "sum")[code])
    return out / input.shape[0] if batch and input.dim() else out


def poisson_nll_loss(
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    """Negative log likelihood of a Poisson distribution."""
    input, target = precise(input, target)
    reduction = legacy_reduction(size_average, reduce, reduction)
    reduction_code(reduction)
    scaled = target * (input if log_input else TENSOR.add_number(input, eps).log())
    loss = (input.exp() if log_input else input) - scaled
    if full:
        half_log = TENSOR.mul_number(TENSOR.mul_number(target, 2 * math.pi).log(), 0.5)
        stirling = target * target.log() - target + half_log
        loss = loss + stirling.masked_fill(target <= 1, 0)
    return reduced(loss, reduction)


def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """Negative log likelihood of normal distributions with the given variances."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        var = var * FUNCTIONS["ones_like"](input)
    elif not isinstance(var, Tensor):
        raise refusal("any", (var < 0,), {})
    elif (var < 0).any():
        raise ValueError("var has negative entry/entries")
    if var.size() != input.size():
        if input.size()[:-1] == var.size():
            var = var.unsqueeze(-1)
        elif not (input.size()[:-1] == var.size()[:-1] and var.size(-1) == 1):
            raise ValueError("var is of incorrect size")
    reduction_code(reduction)
    var = var.clone()
    from ...engine.modes import no_grad

    with no_grad():
        var.clamp_(min=eps)
    loss = 0.5 * (var.log() + (input - target) ** 2 / var)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    return reduced(loss, reduction)
