"""Clipping of gradients. All work in place, outside the graph."""

from __future__ import annotations

import math
import types
import warnings

from ...backend import as_array, xp
from ...engine.dispatch import Tensor, wrap
from ...engine.views import bump


def _norm(array, order):
    flat = array.reshape(-1)
    if flat.dtype.kind == "c":
        flat = xp.abs(flat)
    if order == 2.0:
        return xp.sqrt(flat.dot(flat))
    if order == math.inf:
        return xp.abs(flat).max() if flat.size else flat.dtype.type(0)
    if order == -math.inf:
        return xp.abs(flat).min()
    if order == 0.0:
        return flat.dtype.type(xp.count_nonzero(flat))
    return (xp.abs(flat) ** order).sum() ** flat.dtype.type(1.0 / order)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The norm of all tensors together, a 0-d tensor; RuntimeError for NaN or infinity when asked
    to."""
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    order = float(norm_type)
    if not tensors:
        return wrap(xp.zeros((), xp.float32))
    with xp.errstate(all="ignore"):
        norms = xp.stack([as_array(_norm(t._a, order)) for t in tensors])
        total = as_array(_norm(norms, order))
    if error_if_nonfinite and not xp.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so "
            "it cannot be clipped. To disable "
            "this error and scale the gradients by the non-finite norm anyway, set "
            "`error_if_nonfinite=False`"
        )
    return wrap(total)


def clip_grads_with_norm_(parameters, max_norm, total_norm, foreach=None):
    """Scale the gradients so that ``total_norm`` becomes at most ``max_norm``."""
    parameters = [parameters] if isinstance(parameters, Tensor) else parameters
    total = total_norm._a
    factor = xp.minimum(
        total.dtype.type(float(max_norm)) / (total + total.dtype.type(1e-6)), total.dtype.type(1)
    )
    for p in parameters:
        grad = p._grad
        if grad is not None:
            xp.multiply(grad._a, factor.astype(grad._a.dtype), out=grad._a)
            bump(grad)


def clip_grad_norm_(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """Scale the gradients of ``parameters`` so that their norm is at most ``max_norm``; returns the
    norm before."""
    if not isinstance(parameters, Tensor):
        generated = isinstance(parameters, types.GeneratorType)
        parameters = list(parameters)
        if generated and not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=2
            )
    else:
        parameters = [parameters]
    grads = [p._grad for p in parameters if p._grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    """The old name of ``clip_grad_norm_``."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters, clip_value, foreach=None):
    """Clip every element of the gradients to [−clip_value, clip_value]."""
    bound = float(clip_value)
    for p in [parameters] if isinstance(parameters, Tensor) else parameters:
        grad = p._grad
        if grad is not None:
            kind = grad._a.dtype.type
            xp.clip(grad._a, kind(-bound), kind(bound), out=grad._a)
            # two bounds are two writes
            bump(grad)
            bump(grad)
