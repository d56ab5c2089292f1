"""Connectionist temporal classification: the loss of a sequence of labels whose places in time are
unknown."""

from __future__ import annotations

from ...backend import beside, host, xp
from ...engine.arguments import refusal
from ...engine.dispatch import Tensor, wrap
from ...engine.dtypes import scalar_name
from ...ops.declare import FUNCTIONS, declare, public
from .loss import reduced

_NONE = -xp.inf


def _add(*logs):
    with xp.errstate(all="ignore"):
        return xp.logaddexp.reduce(logs)


def _extended(target, blank):
    """Blanks between the labels, and where a label may be reached by skipping a blank."""
    out = xp.full(2 * len(target) + 1, blank)
    out[1::2] = target
    skip = xp.zeros(len(out), bool)
    skip[2:] = (out[2:] != blank) & (out[2:] != out[:-2])
    return out, skip


def _forward_table(lp, labels, skip):
    """log of the sum over all ways to be at label s at time t."""
    table = xp.full((len(lp), len(labels)), _NONE)
    table[0, :2] = lp[0, labels[:2]]
    for t in range(1, len(lp)):
        before = table[t - 1]
        one = xp.concatenate(([_NONE], before[:-1]))
        two = xp.where(skip, xp.concatenate(([_NONE, _NONE], before[:-2]))[: len(before)], _NONE)
        table[t] = _add(before, one, two) + lp[t, labels]
    return table


def _one_loss(lp, target, blank):
    """(loss, its gradient with respect to the logits under ``lp``) of one sequence."""
    labels, skip = _extended(target, blank)
    lp = lp.astype(xp.float64)
    ahead = _forward_table(lp, labels, skip)
    loss = -_add(*ahead[-1, -2:])
    turned = _extended(target[::-1], blank)
    back = _forward_table(lp[::-1], *turned)[::-1, ::-1]
    with xp.errstate(all="ignore"):
        joint = ahead + back
        posterior = xp.full(lp.shape, _NONE)
        for s, c in enumerate(labels):
            posterior[:, c] = xp.logaddexp(posterior[:, c], joint[:, s])
        grad = xp.exp(lp) - xp.exp(posterior + loss - lp)
    return loss, grad


def _ctc_grad(F, g, grads):
    return F.constant(grads) * F.reshape(g, (1, -1, 1))


ctc_op = declare(
    "ctc_loss_op",
    lambda log_probs, box, grads: box[0],
    "log_probs",
    "box grads",
    node="CtcLossBackward0",
    formula="(softmax − posterior of the labels) · g",
    log_probs=_ctc_grad,
)


def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """log_probs (T, N, C), targets (N, S) or concatenated, lengths of both: −log of the probability
    of the labels."""
    if isinstance(input_lengths, Tensor) != isinstance(target_lengths, Tensor):
        given = (log_probs, targets, input_lengths, target_lengths, blank, 1, zero_infinity)
        raise refusal("ctc_loss", given, {})
    if log_probs._a.dtype.name not in ("float32", "float64"):
        raise NotImplementedError(
            f"\"ctc_loss_cpu\" not implemented for '{scalar_name(log_probs.dtype)}'"
        )
    sizes = [_numbers(x) for x in (input_lengths, target_lengths)]
    if log_probs.dim() == 2:
        out = ctc_loss(
            log_probs.unsqueeze(1), targets.unsqueeze(0), *sizes, blank, reduction, zero_infinity
        )
        return out if reduction != "none" else out.squeeze(0)
    steps, batch, classes = log_probs.shape
    _check(steps, batch, classes, sizes, blank)
    if targets.dim() == 2 and max(sizes[1], default=0) > targets.shape[1]:
        raise RuntimeError(
            f"Expected tensor to have size at least {max(sizes[1])} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets' (while checking arguments for "
            "ctc_loss_allocate_outputs)"
        )
    # element by element: on the host
    values, labels = host(log_probs._a), host(targets._a)
    grads = xp.zeros(values.shape, values.dtype)
    losses = xp.zeros(batch, values.dtype)
    start = 0
    for n, (t, s) in enumerate(zip(*sizes, strict=True)):
        row = labels[n, :s] if labels.ndim == 2 else labels[start : start + s]
        start += s
        loss, grad = _one_loss(values[:t, n], row, blank)
        if xp.isinf(loss):
            grad = xp.zeros_like(grad) if zero_infinity else grad
        losses[n] = loss
        grads[:t, n] = grad
    losses, grads = beside(losses, log_probs._a), beside(grads, log_probs._a)
    out = ctc_op(log_probs, [losses], grads)
    if zero_infinity:
        zeros = wrap(xp.zeros((), losses.dtype, like=losses))
        out = FUNCTIONS["where"](wrap(losses == xp.inf), zeros, out)
    if reduction == "mean":
        lengths = wrap(xp.maximum(xp.asarray(sizes[1], like=losses), 1).astype(losses.dtype))
        return (out / lengths).mean()
    return reduced(out, reduction)


def _numbers(lengths):
    if isinstance(lengths, Tensor):
        return [int(n) for n in host(lengths._a).reshape(-1)]
    return list(lengths) if hasattr(lengths, "__iter__") else [lengths]


def _check(steps, batch, classes, sizes, blank):
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, values in zip(("input_lengths", "target_lengths"), sizes, strict=True):
        if len(values) != batch:
            raise RuntimeError(f"{name} must be of size batch_size")
    for t in sizes[0]:
        if t > steps:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {steps}, but got value {t} (while "
                "checking arguments for ctc_loss_cpu)"
            )


public("ctc_loss", ctc_loss)
