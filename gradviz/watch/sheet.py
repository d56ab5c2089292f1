"""A tensor laid out for a person: facts, numbers, a histogram, where it is not finite."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Stats


@dataclass(slots=True)
class Histogram:
    """``counts`` of equal bins from ``low`` to ``high``; of what is finite."""

    low: float
    high: float
    counts: list[int] = field(default_factory=list)


@dataclass(slots=True)
class Numbers:
    """One array: ``stats`` of all of it, ``part`` of the slice in view; ``bad``: places of what is
    not finite, at most twenty.
    """

    stats: Stats
    part: Stats
    histogram: Histogram | None = None
    bad: list[list[int]] = field(default_factory=list)


@dataclass(slots=True)
class Sheet:
    """``index`` chooses the slice of a tensor of more than two dimensions. ``code``: how to make
    it again, when it is small.
    """

    label: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    device: str = "cpu"
    strides: tuple[int, ...] = ()
    offset: int = 0
    storage_bytes: int = 0
    contiguous: bool = True
    requires_grad: bool = False
    is_leaf: bool = True
    grad_fn: str = ""
    version: int = 0
    index: list[int] = field(default_factory=list)
    value: Numbers | None = None
    grad: Numbers | None = None
    other: Numbers | None = None
    difference: Numbers | None = None
    code: str = ""
