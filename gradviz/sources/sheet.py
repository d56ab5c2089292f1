"""Reads a tensor of the engine into a ``Sheet``."""

from __future__ import annotations

import numpy as np

from gradviz.engine import events
from gradviz.texts import text
from gradviz.watch.sheet import Histogram, Numbers, Sheet

from .values import WHOLE, stats

BINS = 24
BAD = 20
CODE = 64


def sheet(tensor, other=None, index=(), label="") -> Sheet:
    """The sheet of ``tensor``; with ``other`` its numbers and the difference too.

    ``index`` chooses the slice of the leading dimensions that is shown. ValueError when the shapes
    differ.
    """
    array = tensor._a
    chosen = _index(array.shape, index)
    found = facts(tensor, label)
    found.index = chosen
    found.value = numbers(array, chosen)
    grad = events.grad(tensor)
    found.grad = None if grad is None else numbers(grad._a, chosen)
    if array.size <= CODE:
        found.code = f"torch.tensor({array.tolist()!r}, dtype=torch.{found.dtype})"
    if other is not None:
        if other._a.shape != array.shape:
            one, two = tuple(array.shape), tuple(other._a.shape)
            raise ValueError(text("notebook.panel.shapes", one=one, other=two))
        found.other = numbers(other._a, chosen)
        found.difference = numbers(_difference(array, other._a), chosen)
    return found


def facts(tensor, label="") -> Sheet:
    """What is known of a tensor without reading its numbers."""
    array = tensor._a
    node, item = events.node_of(tensor), max(1, array.itemsize)
    return Sheet(
        label=label,
        shape=tuple(array.shape),
        dtype=str(array.dtype),
        device=str(tensor.device),
        strides=tuple(step // item for step in array.strides),
        offset=tensor.storage_offset(),
        storage_bytes=events.storage_bytes(tensor),
        contiguous=tensor.is_contiguous(),
        requires_grad=events.edge(tensor) is not None,
        is_leaf=node is None,
        grad_fn="" if node is None else node.name(),
        version=0 if tensor.is_inference() else events.version(tensor),
    )


def numbers(array, index=()) -> Numbers:
    """Statistics of ``array`` and of its slice at ``index``, histogram, places not finite."""
    part = array[tuple(index)] if index else array
    found = Numbers(stats(array, str(array.dtype)), stats(part, str(array.dtype)))
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub" or array.size > WHOLE:
        return found
    flat = array.ravel()
    finite = flat[np.isfinite(flat)]
    if finite.size > 1:
        counts, edges = np.histogram(finite.astype(np.float64), BINS)
        found.histogram = Histogram(float(edges[0]), float(edges[-1]), counts.tolist())
    if array.ndim and finite.size < flat.size:
        found.bad = np.argwhere(~np.isfinite(array))[:BAD].tolist()
    return found


def _difference(a, b):
    kind = np.float64 if a.dtype.kind in "iub" or b.dtype.kind in "iub" else None
    return np.subtract(a, b, dtype=kind)


def _index(shape, index):
    """``index`` made to fit the leading dimensions of ``shape``."""
    leading = shape[:-2]
    given = [*index, *[0] * len(leading)][: len(leading)]
    return [min(max(0, int(at)), size - 1) for at, size in zip(given, leading, strict=True)]
