"""Hooks and storages as a person sees them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Place


@dataclass(slots=True)
class HookRow:
    """``kind``: as in ``Hook``, or one of the state of a module or an optimizer (state_dict_pre,
    state_dict, load_state_dict_pre, load_state_dict), or of its steps (step_pre, step); ``owner``:
    "" for one of all modules; ``calls``: None where they are not counted.
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
