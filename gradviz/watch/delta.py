"""What changed in a trace between two moments."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import Detail, Edge, Finding, Node


@dataclass(slots=True)
class Delta:
    """Rows to put and identifiers to remove, so that a reader at ``base`` arrives at ``seq``.

    ``reset``: the reader starts empty (its ``base`` was too old or the graph was replaced).
    ``findings`` is the full list when it changed, else None.
    """

    seq: int
    base: int
    reset: bool = False
    nodes: list[Node] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    details: dict[int, Detail] = field(default_factory=dict)
    findings: list[Finding] | None = None
    status: dict = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """True when nothing but perhaps the status changed."""
        changed = self.nodes or self.edges or self.removed or self.details
        return not self.reset and not changed and self.findings is None
