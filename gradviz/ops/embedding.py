"""Rows looked up and rows repeated: embedding, repeat_interleave."""

from __future__ import annotations

from ..backend import MetaArray, beside, host, xp, zeros_by
from ..engine import dtypes
from ..engine.dispatch import wrap
from ..engine.memory_format import contiguous_format
from ..engine.operation import TENSOR
from ..engine.tensor import wrap_dim
from .declare import declare, method, public
from .expand import expand
from .index import add_rows
from .place import index_select
from .shape import reshape


def _embedding_back_forward(g, indices, shape, padding_idx, by_frequency):
    out = zeros_by(g, shape)
    rows, places = g.reshape(-1, shape[1]), indices.ravel()
    add_rows(out, places, shared_by_frequency(rows, places) if by_frequency else rows)
    if padding_idx is not None:
        out[padding_idx] = 0
    return out


def shared_by_frequency(rows, places):
    """``rows`` divided by how often the place of each one occurs."""
    if not places.size:
        return rows
    return rows / xp.bincount(places)[places][:, None].astype(rows.dtype)


embedding_op = declare(
    "embedding",
    lambda weight, indices, padding_idx, by_frequency: weight[indices],
    "weight",
    "indices padding_idx by_frequency",
    formula="g added into the chosen rows",
    hidden=("weight_sym_sizes", "by_frequency"),
    also={
        "indices": lambda node: wrap(node.at[0]),
        "scale_grad_by_freq": lambda node: node.at[2],
        "sparse": lambda node: False,
        "weight_sym_argsize_0": lambda node: node.at[-1][0],
        "padding_idx": lambda node: -1 if node.at[1] is None else node.at[1],
    },
    weight=lambda F, g, indices, weight_shape, padding_idx, by_frequency: F.embedding_back(
        g, indices, weight_shape, padding_idx, by_frequency
    ),
)
declare(
    "embedding_back",
    _embedding_back_forward,
    "self",
    "indices shape padding_idx by_frequency",
    node="EmbeddingDenseBackwardBackward0",
    hidden=("shape", "by_frequency"),
    also={
        "indices": lambda node: wrap(node.at[0]),
        "padding_idx": lambda node: -1 if node.at[2] is None else node.at[2],
    },
    # PyTorch too leaves the frequency out of the second derivative
    self=lambda F, g, indices, padding_idx: F.embedding(g, indices, padding_idx, False),
)


def _check_counts(counts):
    if counts.dtype not in (xp.int64, xp.int32):
        name = dtypes.scalar_name(dtypes.of(counts))
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{name}'")
    if (counts < 0).any():
        raise RuntimeError("repeats can not be negative")


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """Every slice along ``dim`` repeated: by one number, or by one a slice."""
    if dim is None:
        input = reshape(input, (-1,)) if input._a.ndim != 1 else input
        dim = 0
    d = wrap_dim(dim, input._a.ndim)
    if isinstance(repeats, int):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        shape = input._a.shape
        wide = expand(input.unsqueeze(d + 1), (*shape[: d + 1], repeats, *shape[d + 1 :]))
        if output_size is not None and output_size != shape[d] * repeats:
            raise RuntimeError(
                f"repeat_interleave: Invalid output_size, expected {shape[d] * repeats} but got "
                f"{output_size}"
            )
        return TENSOR.clone(wide, contiguous_format).flatten(d, d + 1)
    if isinstance(repeats._a, MetaArray):
        raise RuntimeError("cannot repeat_interleave a meta tensor without output_size")
    counts = host(repeats._a)
    if counts.ndim > 1:
        raise RuntimeError("repeats must be 0-dim or 1-dim tensor")
    if counts.size != 1 and counts.size != input._a.shape[d]:
        raise RuntimeError(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({int(d)}) = {input._a.shape[d]}"
        )
    _check_counts(counts)
    index = numbered(input._a.shape[d], counts)
    return index_select(input, d, wrap(beside(index, input._a)))


def numbered(count, times):
    """The numbers below ``count``, each as often as ``times`` says; on the host."""
    return xp.repeat(xp.arange(count, dtype=xp.int64), times.astype(xp.intp, copy=False))


method(repeat_interleave)
public(
    "repeat_interleave",
    lambda input, repeats=None, dim=None, *, output_size=None: (
        repeat_interleave(input, repeats, dim, output_size=output_size)
        if repeats is not None
        else wrap(beside(numbered(input._a.shape[0], host(input._a)), input._a))
    ),
)
