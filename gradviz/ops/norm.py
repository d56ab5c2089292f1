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
from ..engine.saved_names import kept
from .declare import declare
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


def _layer_joint(F, g, self, weight, needs, count, eps, stats):
    if F is RAW:
        return _layer_raw(g, self, weight, count, eps, stats, needs)
    dims = list(range(self.dim() - count, self.dim()))
    shape = tuple(self.shape[self.dim() - count :])
    return _tensor_grads(g, self, weight, dims, eps, needs, shape)


def _statistic(node, k):
    """The mean, or the reciprocal deviation, of every row."""
    if node.s is FREED:
        freed()
    count = node.at[0]
    shape = node.shape[: len(node.shape) - count] + (1,) * count
    return xp.asarray(node.at[2][k]).reshape(shape)


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


def _batch_forward(x, weight, bias, mean, variance, eps, training):
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


def _batch_joint(F, g, self, weight, needs, mean, variance, eps, training):
    if F is RAW:
        return _batch_raw(g, self, weight, mean, variance, eps, training, needs)
    ndim = self.dim()
    like = (1, self.shape[1], *[1] * (ndim - 2))
    wide = None if weight is None else F.reshape(weight, like)
    if training:
        given, of_weight, of_bias = _tensor_grads(
            g, self, wide, list(_axes(ndim)), eps, needs, like
        )
    else:
        scale = F.constant(1 / xp.sqrt(variance + variance.dtype.type(eps)).reshape(like))
        given = (g if wide is None else g * wide) * scale if needs[0] else None
        of_weight, of_bias = _affine_grads(
            F, g, (self - F.constant(mean.reshape(like))) * scale, like, needs
        )
    flat = (self.shape[1],)
    return (
        given,
        None if of_weight is None else F.reshape(of_weight, flat),
        None if of_bias is None else F.reshape(of_bias, flat),
    )


batch_norm = declare(
    "native_batch_norm",
    _batch_forward,
    "self weight bias",
    "mean variance eps training",
    formula="(g·w − mean(g·w) − x̂ · mean(g·w·x̂)) / σ, channel by channel",
    hidden=("self", "mean", "variance"),
    also={"input": kept("self")},
    joint=_batch_joint,
)
