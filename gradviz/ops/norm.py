"""Normalisation: subtract the mean of a group of elements, divide by their standard deviation,
scale and shift.

Batch, layer and group norm differ in which elements form a group. The first order works on arrays
with the statistics
that forward left in ``stats``; higher orders write the same formula with operations on tensors.
"""

from __future__ import annotations

import math

from ..backend import xp
from ..engine.node import FREED, freed
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import kept, maybe
from .declare import declare
from .derived import filled, pulled_back
from .layout import channels_kept
from .rows import as_rows, standardise, standardise_back


def _wide(*arrays):
    """Half precision is computed in float32."""
    out = tuple(
        x.astype(xp.float32) if x is not None and x.dtype.itemsize == 2 else x for x in arrays
    )
    return out if len(out) > 1 else out[0]


def _affine_grads(F, g, xhat, like, needs):
    """Gradients of weight and bias: sums over everything they were broadcast along."""
    weight = F.sum_to(g * xhat, like) if len(needs) > 1 and needs[1] else None
    bias = F.sum_to(g, like) if len(needs) > 2 and needs[2] else None
    return weight, bias


def _shaped(x, shape):
    return None if x is None else x.reshape(shape)


def _tensor_grads(g, x, weight, dims, eps, needs, shape):
    """The same on tensors: any order. ``shape``: of weight and bias, as they are broadcast."""
    mean = x.mean(dims, keepdim=True)
    centred = x - mean
    scale = ((centred * centred).mean(dims, keepdim=True) + eps).rsqrt()
    xhat = centred * scale
    gx = g if weight is None else g * weight
    given = (
        scale * (gx - gx.mean(dims, keepdim=True) - xhat * (gx * xhat).mean(dims, keepdim=True))
        if needs[0]
        else None
    )
    return given, *_affine_grads(TENSOR, g, xhat, shape, needs)


# ---------------------------------------------------------------- layer norm
def _layer_forward(x, weight, bias, count, eps, stats):
    n = math.prod(x.shape[x.ndim - count :])
    weight, bias = _wide(weight, bias)
    out, *stats[:] = standardise(as_rows(x, n), eps, _shaped(weight, -1), _shaped(bias, -1))
    return out.reshape(x.shape).astype(x.dtype, copy=False)


def _layer_raw(g, x, weight, count, eps, stats, needs):
    shape = x.shape[x.ndim - count :]
    n = math.prod(shape)
    given, of_weight, of_bias = standardise_back(
        as_rows(g, n), as_rows(x, n), *stats, _shaped(_wide(weight), -1), needs
    )
    return _shaped(given, x.shape), _shaped(of_weight, shape), _shaped(of_bias, shape)


def _layer_joint(F, g, self, weight, bias, needs, count, eps, stats):
    if F is RAW:
        return _layer_raw(g, self, weight, count, eps, stats, needs)
    mean, rstd = (F.constant(x) for x in _statistics(self._a.shape, count, stats))
    at = count, eps, stats, tuple(needs)
    made = F.native_layer_norm_backward(g, self, mean, rstd, weight, bias, *at)
    return tuple(x if n else None for x, n in zip(made, needs, strict=True))


def _layer_back_joint(F, g, grad_out, input, mean, rstd, weight, count, eps, wanted):
    def gradients(g, x, weight):
        dims = list(range(x.dim() - count, x.dim()))
        return _tensor_grads(g, x, weight, dims, eps, wanted, tuple(x.shape[x.dim() - count :]))

    given, x, w = pulled_back(F, gradients, (grad_out, input, weight), g)
    return given, x, None, None, w, None


def _statistics(shape, count, stats):
    """The mean, and the reciprocal deviation, of every row."""
    return [x.reshape(shape[: len(shape) - count] + (1,) * count) for x in stats]


def _statistic(node, k):
    if node.s is FREED:
        freed()
    return _statistics(node.shape, node.at[0], node.at[2])[k]


declare(
    "native_layer_norm_backward",
    lambda g, x, mean, rstd, weight, bias, count, eps, stats, wanted: filled(
        _layer_raw(g, x, weight, count, eps, stats, wanted), g
    ),
    "grad_out input mean rstd weight bias",
    "count eps stats wanted",
    outputs=True,
    formula="∂(g·w − mean(g·w) − x̂ · mean(g·w·x̂)) / σ",
    hidden=("eps", "wanted", "count"),
    also={"normalized_shape": lambda node: node.shape[0][len(node.shape[0]) - node.at[0] :]},
    joint=_layer_back_joint,
)


layer_norm = declare(
    "native_layer_norm",
    _layer_forward,
    "self weight bias",
    "count eps stats",
    formula="(g·w − mean(g·w) − x̂ · mean(g·w·x̂)) / σ    ∂weight: Σ g·x̂    ∂bias: Σ g",
    hidden=("self", "count", "stats", "eps"),
    also={
        "input": kept("self"),
        "normalized_shape": lambda node: node.shape[len(node.shape) - node.at[0] :],
        "result1": lambda node: _statistic(node, 0),
        "result2": lambda node: _statistic(node, 1),
    },
    joint=_layer_joint,
)


# ---------------------------------------------------------------- group norm
def _per_channel(x, ndim):
    return None if x is None else x.reshape(1, -1, *[1] * (ndim - 2))


def _group_rows(x, groups):
    """One row a group; groups of no element are rows of none."""
    return as_rows(x, math.prod(x.shape[1:]) // groups)


def _group_forward(x, weight, bias, groups, eps, stats):
    kind = x.dtype
    x, weight, bias = _wide(x, weight, bias)
    rows, *stats[:] = standardise(_group_rows(x, groups), eps, None, None)
    out = rows.reshape(x.shape)
    if weight is not None:
        out *= _per_channel(weight, x.ndim)
    if bias is not None:
        out += _per_channel(bias, x.ndim)
    return out.astype(kind, copy=False)


def _group_joint(F, g, self, weight, needs, groups, eps, stats):
    if F is RAW:
        g, self, weight = _wide(g, self, weight)
    ndim = len(g.shape)
    channels = self.shape[1]
    like = (1, channels, *[1] * (ndim - 2))
    gx = g if weight is None else g * F.reshape(weight, like)
    rows = (self.shape[0] * groups, -1)
    if F is RAW:
        flat = self.reshape(rows)
        given = (
            standardise_back(gx.reshape(rows), flat, *stats, None, (True, False, False))[0].reshape(
                self.shape
            )
            if needs[0]
            else None
        )
        xhat = (
            ((flat - stats[0][:, None]) * stats[1][:, None]).reshape(self.shape)
            if needs[1]
            else None
        )
    else:
        given, *_ = _tensor_grads(
            F.reshape(gx, rows), F.reshape(self, rows), None, [1], eps, (True,), None
        )
        given = F.reshape(given, tuple(self.shape))
        flat = F.reshape(self, rows)
        centred = flat - flat.mean([1], keepdim=True)
        xhat = F.reshape(
            centred * ((centred * centred).mean([1], keepdim=True) + eps).rsqrt(), tuple(self.shape)
        )
    of_weight, of_bias = _affine_grads(F, g, xhat, like, needs)
    flat = (channels,)
    return (
        given,
        None if of_weight is None else F.reshape(of_weight, flat),
        None if of_bias is None else F.reshape(of_bias, flat),
    )


group_norm = declare(
    "native_group_norm",
    channels_kept(_group_forward),
    "self weight bias",
    "groups eps stats",
    formula="(g·w − mean(g·w) − x̂ · mean(g·w·x̂)) / σ, group by group",
    hidden=("self", "groups", "stats"),
    also={
        "input": kept("self"),
        "group": lambda node: node.at[0],
        "N": lambda node: node.shape[0],
        "C": lambda node: node.shape[1],
        "HxW": lambda node: math.prod(node.shape[2:]),
    },
    joint=_group_joint,
)


# ---------------------------------------------------------------- batch norm
def _axes(ndim):
    return (0, *range(2, ndim))


def batch_statistics(x):
    """Mean and biased variance of every channel of (N, C, …)."""
    x = _wide(x)
    rows = x.reshape(*x.shape[:2], -1)
    count = rows.dtype.type(rows.shape[0] * rows.shape[2])
    mean = xp.add.reduce(rows, (0, 2)) / count
    centred = rows - mean[:, None]
    return mean, xp.einsum("ncl,ncl->c", centred, centred) / count


def _batch_forward(x, weight, bias, mean, variance, eps, training, running_mean, running_var):
    scale = 1 / xp.sqrt(variance + variance.dtype.type(eps))
    factor = scale if weight is None else scale * weight
    shift = -mean * factor
    if bias is not None:
        shift = shift + bias
    like = (1, -1, *[1] * (x.ndim - 2))
    out = x * factor.reshape(like)
    out += shift.reshape(like)
    return out.astype(x.dtype, copy=False)


def _batch_raw(g, x, weight, mean, variance, eps, training, needs):
    g, x, weight = _wide(g, x, weight)
    axes, like = _axes(x.ndim), (1, -1, *[1] * (x.ndim - 2))
    scale = 1 / xp.sqrt(variance + variance.dtype.type(eps))
    xhat = (x - mean.reshape(like)) * scale.reshape(like)
    of_bias = xp.add.reduce(g, axes)
    of_weight = xp.add.reduce(g * xhat, axes)
    given = None
    if needs[0]:
        factor = (scale if weight is None else scale * weight).reshape(like)
        if training:
            count = x.dtype.type(x.size // x.shape[1])
            xhat *= (of_weight / count).reshape(like)
            given = g - (of_bias / count).reshape(like)
            given -= xhat
            given *= factor
        else:
            given = g * factor
    return given, of_weight if needs[1] else None, of_bias if needs[2] else None


def _batch_joint(
    F, g, self, weight, needs, mean, variance, eps, training, running_mean, running_var
):
    at = mean, variance, eps, training
    if F is RAW:
        return _batch_raw(g, self, weight, *at, needs)
    saved = map(F.constant, _batch_saved(mean, variance, eps, training))
    running = running_mean, running_var
    made = F.native_batch_norm_backward(g, self, weight, *saved, *at, tuple(needs), *running)
    return tuple(x if n else None for x, n in zip(made, needs, strict=True))


def _batch_saved(mean, variance, eps, training):
    """Mean and reciprocal deviation as PyTorch saves them: of the batch, nothing otherwise."""
    if not training:
        return xp.zeros(0, mean.dtype, like=mean), xp.zeros(0, mean.dtype, like=mean)
    return mean, 1 / xp.sqrt(variance + variance.dtype.type(eps))


def _batch_saved_of(node, k):
    if node.s is FREED:
        freed()
    return _batch_saved(*node.at[:4])[k]


_RUNNING = {name: maybe(name) for name in ("running_mean", "running_var")}


def _batch_back_joint(
    F, g, grad_out, input, weight, save_mean, save_invstd, mean, variance, eps, train, wanted
):
    def gradients(g, x, weight):
        ndim = x.dim()
        like = (1, x.shape[1], *[1] * (ndim - 2))
        wide = None if weight is None else weight.reshape(like)
        if train:
            found = _tensor_grads(g, x, wide, list(_axes(ndim)), eps, wanted, like)
        else:
            scale = TENSOR.constant(1 / xp.sqrt(variance + variance.dtype.type(eps)).reshape(like))
            xhat = (x - TENSOR.constant(mean.reshape(like))) * scale
            given = (g if wide is None else g * wide) * scale
            found = (given, *_affine_grads(TENSOR, g, xhat, like, wanted))
        return found[0], *(None if f is None else f.reshape(-1) for f in found[1:])

    given, x, w = pulled_back(F, gradients, (grad_out, input, weight), g)
    return given, x, w, None, None


declare(
    "native_batch_norm_backward",
    lambda g, x, weight, save_mean, save_invstd, *at: filled(_batch_raw(g, x, weight, *at[:5]), g),
    "grad_out input weight save_mean save_invstd",
    "mean variance eps train wanted running_mean running_var",
    outputs=True,
    hidden=("mean", "variance", "wanted"),
    also=_RUNNING,
    formula="∂(g·w − mean(g·w) − x̂ · mean(g·w·x̂)) / σ, channel by channel",
    joint=_batch_back_joint,
)


batch_norm = declare(
    "native_batch_norm",
    _batch_forward,
    "self weight bias",
    "mean variance eps training running_mean running_var",
    formula="(g·w − mean(g·w) − x̂ · mean(g·w·x̂)) / σ, channel by channel",
    hidden=("self", "mean", "variance"),
    also={
        "input": kept("self"),
        "result1": lambda node: _batch_saved_of(node, 0),
        "result2": lambda node: _batch_saved_of(node, 1),
    }
    | _RUNNING,
    joint=_batch_joint,
)
