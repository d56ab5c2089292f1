"""Autocast: operands of products in a shorter floating dtype, inside ``gradviz.autocast``
blocks."""

from __future__ import annotations

import functools
import weakref

from ..engine.dispatch import Tensor
from ..engine.dtypes import float32, float64
from ..engine.modes import local, state
from ..engine.node import LEAF
from ..engine.operation import TENSOR


class Autocast:
    """What holds for one kind of device inside a block: the dtype, and the weights cast so far
    (each once a block). ``local.autocast`` maps the kinds to it; None outside.
    """

    __slots__ = ("cache", "dtype")

    def __init__(self, dtype, cached):
        self.dtype = dtype
        self.cache = {} if cached else None


def _cast(x, kinds):
    if not isinstance(x, Tensor):
        return x
    settings = kinds.get(x.device.type)
    if settings is None:
        return x
    own = x.dtype
    if own.category != 2 or own is float64 or own is settings.dtype:
        return x
    keep = settings.cache is not None and x._g is LEAF
    if keep:
        found = settings.cache.get(id(x))
        if found is not None and found[0]() is x:
            return found[1]
    made = TENSOR.cast(x, settings.dtype.np)
    if keep and made._g is not None:  # what was cast under no_grad would cut later gradients
        settings.cache[id(x)] = (weakref.ref(x), made)
    return made


def lowered(*tensors):
    """The tensors in the dtype of this thread's autocast block; others than floating ones as they
    are."""
    kinds = local.autocast
    return tensors if kinds is None else tuple(_cast(x, kinds) for x in tensors)


def outside_autocast(function):
    """The function computed as if there were no autocast block."""

    @functools.wraps(function)
    def plain(*args, **kwargs):
        before, local.autocast = local.autocast, None
        try:
            return function(*args, **kwargs)
        finally:
            local.autocast = before

    return plain


def keeps_precise(function):
    """The function with floating arguments in float32 inside an autocast block."""

    @functools.wraps(function)
    def precise(*args, **kwargs):
        if state.special and local.autocast is not None:
            args = tuple(map(_raise, args))
            kwargs = {name: _raise(value) for name, value in kwargs.items()}
        return function(*args, **kwargs)

    return precise


def _raise(value):
    if isinstance(value, (list, tuple)) and any(isinstance(v, Tensor) for v in value):
        return type(value)(raised(*value))
    return raised(value)[0]


def raised(*tensors):
    """The tensors in float32, for operations that autocast keeps precise."""
    kinds = local.autocast
    if kinds is None:
        return tensors
    return tuple(
        TENSOR.cast(x, float32.np)
        if isinstance(x, Tensor)
        and x.device.type in kinds
        and x.dtype.category == 2
        and x.dtype is not float64
        else x
        for x in tensors
    )
