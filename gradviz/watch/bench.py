"""Hooks and storages as a person sees them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Place


@dataclass(slots=True)
class HookRow:
    """``kind``: as in ``Hook``, or forward_pre, forward, backward_pre, backward of a module;
    ``calls``: None where they are not counted.
    """

    number: int
    owner: str
    kind: str
    name: str
    place: Place | None = None
    calls: int | None = None


@dataclass(slots=True)
class View:
    """A name on a storage: where it begins and which steps it takes, in elements."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    strides: tuple[int, ...]
    offset: int
    bytes: int
    requires_grad: bool = False


@dataclass(slots=True)
class Storage:
    """One piece of memory and everybody on it; ``version`` counts changes in place."""

    number: int
    bytes: int
    device: str = "cpu"
    version: int = 0
    views: list[View] = field(default_factory=list)
