"""Reads a tensor into a ``Sheet``."""

from __future__ import annotations

import numpy as np

from gradviz.texts import text
from gradviz.watch.sheet import Histogram, Numbers, Sheet

from . import reading
from .values import WHOLE, of_array

BINS = 24
BAD = 20
CODE = 64


def sheet(tensor, other=None, index=(), label="") -> Sheet:
    """The sheet of ``tensor``; with ``other`` its numbers and the difference too.

    ``index`` chooses the slice of the leading dimensions that is shown. ValueError when the shapes
    differ.
    """
    array = reading.value(tensor)
    chosen = _index(array.shape, index)
    found = facts(tensor, label)
    found.index = chosen
    found.value = numbers(array, chosen)
    grad = reading.grad(tensor)
    found.grad = None if grad is None else numbers(reading.value(grad), chosen)
    if isinstance(array, np.ndarray) and array.size <= CODE:
        grad = ", requires_grad=True" if found.is_leaf and found.requires_grad else ""
        found.code = f"torch.tensor({literal(array)}, dtype=torch.{found.dtype}{grad})"
    if other is not None:
        second = reading.value(other)
        if second.shape != array.shape:
            one, two = reading.shape_of(array), tuple(second.shape)
            raise ValueError(text("notebook.panel.shapes", one=one, other=two))
        found.other = numbers(second, chosen)
        found.difference = numbers(_difference(array, second), chosen)
    return found


def literal(array) -> str:
    """The numbers of an array as Python writes them, each as short as its dtype allows."""
    if array.ndim:
        return f"[{', '.join(map(literal, map(np.asarray, array)))}]"
    number = array[()]
    if array.dtype.kind == "c" and not np.isfinite(number):
        return f"complex({literal(array.real)}, {literal(array.imag)})"
    if array.dtype.kind in "fV" and not np.isfinite(number):
        return "torch.nan" if np.isnan(number) else "torch.inf" if number > 0 else "-torch.inf"
    return str(number)


def facts(tensor, label="") -> Sheet:
    """What is known of a tensor without reading its numbers."""
    array, node = reading.array(tensor), reading.node_of(tensor)
    return Sheet(
        label=label,
        shape=reading.shape_of(array),
        dtype=reading.dtype_of(array),
        device=str(tensor.device),
        strides=tuple(tensor.stride()),
        offset=tensor.storage_offset(),
        storage_bytes=reading.storage_bytes(tensor),
        contiguous=tensor.is_contiguous(),
        requires_grad=reading.edge(tensor) is not None,
        is_leaf=node is None,
        grad_fn="" if node is None else node.name(),
        version=0 if tensor.is_inference() else reading.version(tensor),
    )


def numbers(array, index=()) -> Numbers:
    """Statistics of ``array`` and of its slice at ``index``, histogram, places not finite."""
    part = array[tuple(index)] if index else array
    found = Numbers(of_array(array), of_array(part))
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
