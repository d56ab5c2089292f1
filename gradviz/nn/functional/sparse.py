"""``embedding_bag``: sums, means or maxima of rows of a table."""

from __future__ import annotations

from ...backend import beside, host, xp, zeros_by
from ...engine.dispatch import call, wrap
from ...engine.operation import TENSOR
from ...ops.declare import declare, public
from ...ops.embedding import numbered, shared_by_frequency
from .basic import _renorm_rows

_MODES = {"sum": 0, "mean": 1, "max": 2}


def _bag_of(offsets, count, last):
    """Which bag each index belongs to; on the host."""
    offsets = host(offsets)
    ends = xp.append(offsets, count) if not last else offsets
    return numbered(len(ends) - 1, xp.diff(ends))


def _bag_forward(weight, scale, indices, bags, count, mode, picked, by_frequency):
    rows = weight[indices] if scale is None else weight[indices] * scale[:, None]
    out = xp.zeros((count, weight.shape[1]), weight.dtype, like=weight)
    if mode == 2:
        for k in range(count):
            part = rows[bags == k]
            if len(part):
                out[k] = part.max(0)
                picked[k] = xp.flatnonzero(bags == k)[part.argmax(0)]
        return out
    xp.add.at(out, bags, rows)
    if mode == 1:
        out /= xp.maximum(xp.bincount(bags, minlength=count), 1)[:, None].astype(out.dtype)
    return out


def _bag_back(g, scale, indices, bags, count, mode, picked, by_frequency, shape):
    out = zeros_by(g, shape)
    if mode == 2:
        filled, columns = xp.nonzero(picked >= 0)
        xp.add.at(out, (indices[picked[filled, columns]], columns), g[filled, columns])
        return out
    if mode == 1:
        g = g / xp.maximum(xp.bincount(bags, minlength=count), 1)[:, None].astype(g.dtype)
    rows = g[bags] if scale is None else g[bags] * scale[:, None]
    xp.add.at(out, indices, shared_by_frequency(rows, indices) if by_frequency else rows)
    return out


def _bag_scale(F, g, weight, indices, bags):
    return (F.take(g, F.constant(bags), 0) * F.take(weight, F.constant(indices), 0)).sum(-1)


_ATTRS = "indices bags count mode picked by_frequency"
declare(
    "embedding_bag_op",
    _bag_forward,
    "weight scale",
    _ATTRS,
    node="EmbeddingBagBackward0",
    formula="g to the rows of each bag",
    weight=lambda F, g, weight_shape, scale, indices, bags, count, mode, picked, by_frequency: (
        F.embedding_bag_back(
            g, scale, indices, bags, count, mode, picked, by_frequency, weight_shape
        )
    ),
    scale=lambda F, g, weight, indices, bags: _bag_scale(F, g, weight, indices, bags),
)
declare(
    "embedding_bag_back",
    _bag_back,
    "self scale",
    f"{_ATTRS} shape",
    node="EmbeddingBagBackwardBackward0",
    self=lambda F, g, scale, indices, bags, count, mode, picked: F.embedding_bag_op(
        g, scale, indices, bags, count, mode, picked, False
    ),
    scale=lambda F, g, self, indices, bags: _bag_scale(F, self, g, indices, bags),
)


def _with_optional(name):
    """The tensor form of an operation whose second input may be None."""
    op = getattr(TENSOR, name).op
    setattr(TENSOR, name, lambda *args: call(op, args[:2], args[2:]))


_with_optional("embedding_bag_op")
_with_optional("embedding_bag_back")


def embedding_bag(
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    """Rows of ``weight`` combined bag by bag: input (B, N), or (N) with ``offsets`` (B)."""
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported "
            "for mode='sum' (got mode="
            f"'{mode}'). Please open a feature request on GitHub."
        )
    if scale_grad_by_freq and mode == "max":
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if per_sample_weights is not None and input.size() != per_sample_weights.size():
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then "
            "it must have the same shape as the "
            f"input ({input.shape})"
        )
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch "
                "of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        starts = (
            xp.arange(0, input.numel(), input.shape[1], xp.int64)
            if input.shape[1]
            else xp.zeros(input.shape[0], xp.int64)
        )
        include_last_offset = False
        per_sample_weights = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        starts = offsets._a
        if len(starts) and starts[0] != 0:
            raise RuntimeError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start "
                f"from position 0. However, got {int(starts[0])}"
            )
    else:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if max_norm is not None:
        _renorm_rows(weight, input, max_norm, norm_type)
    indices = input._a.reshape(-1)
    count = len(starts) - include_last_offset
    bags = beside(_bag_of(starts, indices.size, include_last_offset), indices)
    by_frequency = bool(scale_grad_by_freq)
    return _bags(weight, per_sample_weights, indices, bags, count, mode, padding_idx, by_frequency)


def _bags(weight, scale, indices, bags, count, mode, padding_idx, by_frequency):
    if padding_idx is not None:
        kept = indices != padding_idx % weight.shape[0]
        indices, bags = indices[kept], bags[kept]
        scale = None if scale is None else scale[wrap(xp.flatnonzero(kept))]
    picked = (
        xp.full((count, weight.shape[1]), -1, xp.int64, like=indices) if mode == "max" else None
    )
    mode = _MODES[mode]
    return TENSOR.embedding_bag_op(weight, scale, indices, bags, count, mode, picked, by_frequency)


def _by_position(
    weight,
    indices,
    offsets,
    scale_grad_by_freq=False,
    mode=0,
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    word = ("sum", "mean", "max")[mode]
    out = embedding_bag(
        indices,
        weight,
        offsets,
        None,
        2,
        scale_grad_by_freq,
        word,
        sparse,
        per_sample_weights,
        include_last_offset,
        padding_idx,
    )
    count = len(offsets) - include_last_offset
    bags = _bag_of(offsets._a, indices.numel(), include_last_offset)
    sizes = xp.bincount(bags, minlength=count).astype(xp.int64, copy=False)
    bags, sizes = (beside(x, indices._a) for x in (bags, sizes))
    return out, wrap(bags), wrap(sizes), wrap(sizes)


public("embedding_bag", _by_position)
