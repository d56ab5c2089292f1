"""Memory over time: what is held, by kind, at each moment of a measured stretch."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Moment:
    """Bytes held after ``at`` operations. ``activations``: saved for backward."""

    at: int
    parameters: int = 0
    gradients: int = 0
    optimizer: int = 0
    activations: int = 0

    @property
    def total(self) -> int:
        """All kinds together."""
        return self.parameters + self.gradients + self.optimizer + self.activations


@dataclass(slots=True)
class Mark:
    """Something happened: ``forward``, ``backward``, ``step``."""

    at: int
    what: str


@dataclass(slots=True)
class Held:
    """Something that is in memory: ``name`` is an operation or a module."""

    name: str
    bytes: int


@dataclass(slots=True)
class Measured:
    """``peak``: the moment of most bytes, ``alive``: what was saved then, heaviest first;
    ``saving``: what checkpointing each module would have saved then.
    """

    moments: list[Moment] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    peak: Moment | None = None
    alive: list[Held] = field(default_factory=list)
    saving: list[Held] = field(default_factory=list)
