"""A function of one number and its derivatives."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Floor:
    """One order: its values at the points (None where not finite), the nodes of its graph and how
    many there are of each operation.
    """

    order: int
    values: list[float | None] = field(default_factory=list)
    nodes: int = 0
    operations: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class Tower:
    """``floors`` from the function itself upwards; ``note``: why there are fewer than asked for."""

    points: list[float] = field(default_factory=list)
    floors: list[Floor] = field(default_factory=list)
    note: str = ""
