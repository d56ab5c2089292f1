"""A trace: the graph in view, the cells that ran, what the doctor said. Plain data, JSON in and
out.
"""

from __future__ import annotations

import types
import typing
from dataclasses import dataclass, field, fields, is_dataclass

from gradviz.texts import text

from .model import SCHEMA, Cell, Detail, Edge, Finding, Node
from .plain import plain


@dataclass(slots=True)
class Trace:
    """The graph shown now and the history around it.

    ``state``: idle, running, failed or interrupted. ``shown`` of ``total`` nodes are in ``nodes``;
    ``note`` is a key of the catalogue that says what was left out. ``overhead``: the observer's own
    ``ms`` and ``bytes``.
    """

    nodes: dict[int, Node] = field(default_factory=dict)
    edges: dict[tuple[int, int], Edge] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    details: dict[int, Detail] = field(default_factory=dict)
    state: str = "idle"
    total: int = 0
    folded: int = 0
    note: str = ""
    queued: bool = False
    overhead: dict[str, float] = field(default_factory=dict)

    @property
    def cell(self) -> int | None:
        """Execution count of the newest cell."""
        return self.cells[-1].count if self.cells else None

    def status(self) -> dict:
        """The ``status`` of a frame, as docs/protocol.md has it."""
        return {
            "state": self.state,
            "cell": self.cell,
            "shown": len(self.nodes),
            "total": max(self.total, len(self.nodes)),
            "folded": self.folded,
            "note": self.note,
            "cells": [{"count": c.count, "bytes": dict(c.bytes)} for c in self.cells[-200:]],
            "queued": self.queued,
            "overhead": dict(self.overhead),
        }

    def to_json(self) -> dict:
        """The trace as JSON values; ``load`` reads it back."""
        return plain(
            {
                "schema": SCHEMA,
                "nodes": list(self.nodes.values()),
                "edges": list(self.edges.values()),
                "cells": self.cells,
                "findings": self.findings,
                "details": self.details,
                "status": self.status(),
            }
        )


def load(data: dict) -> Trace:
    """A trace from what ``Trace.to_json`` gave. Raises ValueError for another schema."""
    if data.get("schema") != SCHEMA:
        found = repr(data.get("schema"))
        raise ValueError(text("notebook.file.trace_schema", wanted=SCHEMA, found=found))
    status = data.get("status", {})
    nodes = [read(Node, row) for row in data.get("nodes", [])]
    edges = [read(Edge, row) for row in data.get("edges", [])]
    return Trace(
        nodes={node.id: node for node in nodes},
        edges={(edge.target, edge.slot): edge for edge in edges},
        cells=[read(Cell, row) for row in data.get("cells", [])],
        findings=[read(Finding, row) for row in data.get("findings", [])],
        details={int(key): read(Detail, row) for key, row in data.get("details", {}).items()},
        state=status.get("state", "idle"),
        total=status.get("total", len(nodes)),
        folded=status.get("folded", 0),
        note=status.get("note", ""),
        overhead=status.get("overhead", {}),
    )


def read(kind, row):
    """An instance of the dataclass ``kind`` from JSON values."""
    hints = typing.get_type_hints(kind)
    return kind(
        **{f.name: _value(hints[f.name], row[f.name]) for f in fields(kind) if f.name in row}
    )


def _value(hint, value):
    """``value`` of JSON as the type that ``hint`` says."""
    if value is None:
        return None
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(next(part for part in parts if part is not type(None)), value)
    if is_dataclass(hint):
        return read(hint, value)
    if origin is dict and is_dataclass(parts[1]):
        return {parts[0](key): read(parts[1], item) for key, item in value.items()}
    if origin is list:
        return [_value(parts[0], item) for item in value]
    if origin is tuple:
        return tuple(value)
    return float(value) if hint is float else value
