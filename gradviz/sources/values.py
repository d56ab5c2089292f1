"""Numbers of one array: statistics, the values themselves when few, a heat map when many."""

from __future__ import annotations

import math

import numpy as np

from gradviz.watch.model import Stats

from . import reading

FEW = 64
HEAT = 32
WHOLE = 4_000_000


def of_tensor(tensor) -> Stats:
    """Statistics of what a tensor holds."""
    return of_array(reading.array(tensor))


def of_array(array) -> Stats:
    """Statistics of an array, whichever engine it belongs to."""
    numbers, dtype = reading.host(array), reading.dtype_of(array)
    if isinstance(numbers, np.ndarray):
        return stats(numbers, dtype)
    return Stats(reading.shape_of(array), dtype)  # reading it would wait for another device


def stats(array, dtype: str) -> Stats:
    """Statistics of ``array``; only shape and dtype for arrays that are not numbers or are very
    large.
    """
    found = Stats(tuple(array.shape), dtype)
    if not isinstance(array, np.ndarray):
        return found  # on another device: reading it would wait for all work there
    if array.dtype.name == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype.kind not in "fiub" or array.size > WHOLE:
        if array.dtype.kind == "c" and array.size <= WHOLE:
            found.norm = _length(np.linalg.norm(array.ravel()))
        return found
    with np.errstate(all="ignore"):
        _fill(found, array)
    return found


def norm(array) -> float | None:
    """The Euclidean norm, NaN when an element is; None when it is not to be had."""
    if isinstance(array, np.generic):
        array = np.asarray(array)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiubc" or array.size > WHOLE:
        return None
    with np.errstate(all="ignore"):
        flat = array.ravel("K")
        return _length(
            np.sqrt(np.vdot(flat, flat).real) if flat.dtype.kind in "fc" else np.linalg.norm(flat)
        )


def length(grads) -> float | None:
    """The norm of a gradient (a tensor), or of several together; None when it is not to be had."""
    parts = grads if isinstance(grads, tuple) else (grads,)
    given = [part for part in parts if part is not None]
    norms = [one for part in given if (one := norm(reading.array(part))) is not None]
    return math.hypot(*norms) if len(norms) == len(given) else None


def _fill(found, array):
    numbers = array.astype(np.float64, copy=False) if array.dtype.kind != "f" else array
    if numbers.size:
        finite = numbers[np.isfinite(numbers)]
        found.nan = int(np.isnan(numbers).sum())
        found.inf = int(numbers.size - finite.size) - found.nan
        found.zero = int(numbers.size - np.count_nonzero(numbers))
        if finite.size:
            found.minimum, found.maximum = _number(finite.min()), _number(finite.max())
            found.mean = _number(finite.mean(dtype=np.float64))
        found.norm = _length(np.linalg.norm(numbers.ravel().astype(np.float64)))
    if array.size <= FEW:
        found.values = array.tolist()
    else:
        found.heat = heat(numbers)


def heat(array) -> list[list[float | None]]:
    """At most 32 × 32 block means; leading dimensions are stacked as rows. NaN is None."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else _fold(array)
    blocks = _means(_means(np.asarray(rows, np.float64), 0), 1)
    return [[_number(value) for value in row] for row in blocks]


def _fold(line):
    """A line as a nearly square picture, padded with NaN."""
    width = min(HEAT, max(1, math.ceil(math.sqrt(line.size))))
    if line.size > HEAT * HEAT:
        return line.reshape(1, -1)
    padded = np.full(math.ceil(line.size / width) * width, np.nan)
    padded[: line.size] = line
    return padded.reshape(-1, width)


def _means(rows, axis):
    size = rows.shape[axis]
    if size <= HEAT:
        return rows
    edges = np.linspace(0, size, HEAT, endpoint=False).astype(int)
    counts = np.diff(np.append(edges, size))
    shape = [1, 1]
    shape[axis] = -1
    return np.add.reduceat(rows, edges, axis=axis) / counts.reshape(shape)


def _number(value):
    value = float(value)
    return None if math.isnan(value) else value


def _length(value):
    """A norm as a float; NaN is always the same object, so that rows with it compare equal."""
    value = float(value)
    return math.nan if math.isnan(value) else value
