"""Samples to batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...backend import xp
from ...engine.dispatch import Tensor
from ...engine.dtypes import float64
from ...ops.declare import FUNCTIONS

_TYPES = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_collate(batch):
    """Stack tensors, arrays and numbers; go into lists, tuples and dictionaries."""
    first = batch[0]
    if isinstance(first, Tensor):
        return FUNCTIONS["stack"](list(batch))
    if isinstance(first, xp.ndarray):
        if first.dtype.kind in "OSUa":
            raise TypeError(_TYPES.format(first.dtype))
        return default_collate([FUNCTIONS["as_tensor"](b) for b in batch])
    if isinstance(first, xp.generic):
        return FUNCTIONS["as_tensor"](xp.asarray(batch))
    if isinstance(first, float):
        return FUNCTIONS["tensor"](list(batch), dtype=float64)
    if isinstance(first, int):
        return FUNCTIONS["tensor"](list(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return _rebuilt(first, {key: default_collate([b[key] for b in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(
            *(default_collate(list(samples)) for samples in zip(*batch, strict=True))
        )
    if isinstance(first, Sequence):
        return _collate_sequences(first, batch)
    raise TypeError(_TYPES.format(type(first)))


def _collate_sequences(first, batch):
    if any(len(b) != len(first) for b in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(list(samples)) for samples in zip(*batch, strict=True)]
    return columns if isinstance(first, tuple) else _rebuilt(first, columns)


def _rebuilt(like, made):
    try:
        return type(like)(made)
    except TypeError:
        return made


def default_convert(data):
    """Arrays to tensors, inside lists, tuples and dictionaries too."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (xp.ndarray, xp.generic)):
        return data if data.dtype.kind in "OSUa" else FUNCTIONS["as_tensor"](data)
    if isinstance(data, Mapping):
        return _rebuilt(data, {k: default_convert(v) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _rebuilt(data, [default_convert(d) for d in data])
    return data
