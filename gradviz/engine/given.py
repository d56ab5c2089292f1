"""Arguments that are kept in the engine's form but shown as the person wrote them: a dimension
counted from the back, all dimensions for None.
"""

from __future__ import annotations

import functools

_UNSIGNED = 2**64


class Given(int):
    """An int whose ``written`` is how it was given."""

    def __new__(cls, value, written):
        self = super().__new__(cls, value)
        self.written = written
        return self


class AllAxes(tuple):
    """Every axis; ``written`` None or ()."""

    def __new__(cls, ndim, written):
        self = super().__new__(cls, range(ndim))
        self.written = written
        return self


given = functools.lru_cache(4096)(Given)
all_axes = functools.lru_cache(256)(AllAxes)


def shown(value, name=""):
    """An argument as PyTorch's ``_saved_`` attributes show it: dimensions and places without a
    sign.
    """
    kind = type(value)
    if kind is Given or kind is AllAxes:
        return _unsigned(value.written)
    if kind is int:
        return _unsigned(value) if name in _PLACES else value
    return tuple(shown(v, name) for v in value) if kind is tuple else value


_PLACES = {"diagonal", "ignore_index", "k", "offset", "pad", "padding_idx", "shifts"}


def _unsigned(value):
    return value + _UNSIGNED if type(value) is int and value < 0 else value
