"""Gradients of a model's parameters at one step, as plain numbers."""

from __future__ import annotations

import math

import numpy as np

from gradviz.watch.training import FlowStep, Layer

from . import reading
from .values import norm

SCALES = range(-8, 2)
COPIED = 4_000_000


def flow_step(number, named) -> FlowStep:
    """The step of ``named`` parameters: (name, tensor) pairs."""
    found = FlowStep(number)
    square = 0.0
    for name, parameter in named:
        layer = found.layers[name] = _layer(parameter)
        square += (layer.grad or 0.0) ** 2
    found.total = math.sqrt(square) if math.isfinite(square) else square
    return found


def copies(named) -> dict:
    """The numbers of the parameters now, of those that are not very large."""
    return {name: reading.value(p).copy() for name, p in named if p.numel() <= COPIED}


def put_updates(step, named, before):
    """Write into ``step`` how far each parameter moved from ``before``."""
    for name, parameter in named:
        old, layer = before.get(name), step.layers.get(name)
        if old is not None and layer is not None:
            size = norm(old)
            layer.update = norm(reading.value(parameter) - old) / size if size else None


def _layer(parameter):
    grad, layer = reading.grad(parameter), Layer(weight=norm(reading.value(parameter)))
    if grad is None:
        return layer
    array = reading.value(grad)
    layer.grad = norm(array)
    if not isinstance(array, np.ndarray):
        return layer
    size = np.abs(array.astype(np.float64))
    layer.nan = int((~np.isfinite(size)).sum())
    if array.ndim > 1:
        layer.dead = float((size.reshape(len(size), -1) == 0).all(1).mean())
    scale = np.log10(size[np.isfinite(size) & (size > 0)])
    place = np.clip(np.floor(scale).astype(int) - SCALES[0], 0, len(SCALES) - 1)
    layer.bins = np.bincount(place.ravel(), minlength=len(SCALES)).tolist()
    return layer
