"""Samples to batches."""

from __future__ import annotations

import copy
from collections.abc import Mapping, MutableMapping, MutableSequence, Sequence

from ...backend import xp
from ...engine.dispatch import Tensor
from ...engine.dtypes import float64
from ...ops.declare import FUNCTIONS

_TYPES = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)
_NO_NUMBERS = "OSUa"


def collate(batch, *, collate_fn_map=None):
    """Batch nested samples; ``collate_fn_map`` gives a function a type of their elements.

    RuntimeError when lists differ in length, TypeError for elements of other types.
    """
    first = batch[0]
    handler = _handler(first, collate_fn_map or {})
    if handler is not None:
        return handler(batch, collate_fn_map=collate_fn_map)

    def inner(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, Mapping):
        return _like_mapping(first, {key: inner([b[key] for b in batch]) for key in first})
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*(inner(samples) for samples in zip(*batch, strict=False)))
    if isinstance(first, Sequence):
        if any(len(b) != len(first) for b in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return _like_sequence(first, [inner(samples) for samples in zip(*batch, strict=True)])
    raise TypeError(_TYPES.format(type(first)))


def _handler(first, functions):
    found = functions.get(type(first))
    if found is not None:
        return found
    return next((f for kind, f in functions.items() if isinstance(first, kind)), None)


def _like_mapping(first, made):
    try:
        if isinstance(first, MutableMapping):
            out = copy.copy(first)
            out.update(made)
            return out
        return type(first)(made)
    except TypeError:
        return made


def _like_sequence(first, made):
    if isinstance(first, tuple):
        return made
    try:
        if isinstance(first, MutableSequence):
            out = copy.copy(first)
            for k, samples in enumerate(made):
                out[k] = samples
            return out
        return type(first)(made)
    except TypeError:
        return made


def _tensors(batch, *, collate_fn_map=None):
    return FUNCTIONS["stack"](list(batch))


def _arrays(batch, *, collate_fn_map=None):
    if batch[0].dtype.kind in _NO_NUMBERS:
        raise TypeError(_TYPES.format(batch[0].dtype))
    return collate([FUNCTIONS["as_tensor"](b) for b in batch], collate_fn_map=collate_fn_map)


def _scalars(batch, *, collate_fn_map=None):
    return FUNCTIONS["as_tensor"](xp.asarray(batch))


def _floats(batch, *, collate_fn_map=None):
    return FUNCTIONS["tensor"](list(batch), dtype=float64)


def _integers(batch, *, collate_fn_map=None):
    return FUNCTIONS["tensor"](list(batch))


def _text(batch, *, collate_fn_map=None):
    return batch


default_collate_fn_map: dict = {
    Tensor: _tensors,
    xp.ndarray: _arrays,
    (xp.bool_, xp.number, xp.object_): _scalars,
    float: _floats,
    int: _integers,
    str: _text,
    bytes: _text,
}


def default_collate(batch):
    """Stack tensors, arrays and numbers; go into lists, tuples and dictionaries.

    RuntimeError for lists or tensors that differ in size, TypeError for other types.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)


def default_convert(data):
    """Arrays to tensors, inside lists, tuples and dictionaries too."""
    if isinstance(data, Tensor):
        return data
    if isinstance(data, (xp.ndarray, xp.generic)):
        return data if data.dtype.kind in _NO_NUMBERS else FUNCTIONS["as_tensor"](data)
    if isinstance(data, Mapping):
        return _like_mapping(data, {k: default_convert(v) for k, v in data.items()})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _like_sequence(data, [default_convert(d) for d in data])
    return data
