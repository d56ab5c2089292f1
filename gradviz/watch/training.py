"""Training over steps: gradients by layer, metrics, events."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Layer:
    """One parameter at one step. ``update``: norm of its change over its norm; ``dead``: the share
    of its units (rows) that got no gradient; ``bins``: how many elements of the gradient have each
    order of magnitude, from below 1e-8 to above 1e1.
    """

    grad: float | None = None
    weight: float | None = None
    update: float | None = None
    dead: float | None = None
    nan: int = 0
    bins: list[int] = field(default_factory=list)


@dataclass(slots=True)
class FlowStep:
    """All parameters at one step; ``total``: the norm of all gradients together."""

    number: int
    total: float | None = None
    layers: dict[str, Layer] = field(default_factory=dict)
