"""The picture in the recorder: which nodes have a row, kept up to date with few changes."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from gradviz.engine.node import serial

from . import details, reading
from .graph import newest
from .reading import is_node

SHOWN = 5_000
DEAD_SHOWN = 300
GLIMPSE = 300
GLIMPSE_EVERY = 0.5


@dataclass
class Glimpse:
    """A graph as it was when a sweep began. ``rows`` by id; ``refs``: its nodes and leaves,
    weakly; ``serial``: when that was.
    """

    rows: dict = field(default_factory=dict)
    edges: list = field(default_factory=list)
    refs: dict = field(default_factory=dict)
    serial: int = 0


class Picture:
    """Rows and edges of ``recorder`` for live nodes; ``rows`` builds them.

    ``live``: weak references by serial.
    """

    def __init__(self, recorder, rows):
        self.recorder, self.rows = recorder, rows
        rows.known = self._saved_before
        self.live: dict[int, Callable] = {}
        self._dead: list[int] = []
        self._glimpse = Glimpse()
        self._glimpsed = 0.0

    # -- growing, while a cell runs --------------------------------------------------
    def clear(self):
        """Start afresh."""
        self.recorder.clear()
        self.live.clear()
        self._dead.clear()

    def add(self, node, limit=SHOWN):
        """Rows for ``node`` and for what it needs that has no row yet, until ``limit`` have one."""
        pending = [node]
        while pending and len(self.live) < limit:
            node = pending.pop()
            if node.seq in self.live:
                continue
            self.live[node.seq] = reading.weak(node)
            self.recorder.put(self.rows.operation(node))
            pending += self._add_inputs(node)

    def _add_inputs(self, node):
        """Rows for the leaves and untracked inputs of ``node``; the nodes that feed it."""
        later = []
        for slot, output, source in self.rows.inputs(node):
            self.recorder.put_edge(self.rows.edge(node, slot, output, source))
            if reading.is_tensor(source):
                self.add_leaf(source)
            elif not is_node(source):
                row = self.rows.untracked(source)
                if row.id not in self.recorder.trace.nodes:
                    self.recorder.put(row)
            else:
                later.append(source)
        return later

    def add_leaf(self, leaf) -> int:
        """A row for ``leaf`` unless it has one; its serial."""
        id = reading.leaf_id(leaf)
        if id not in self.live or id not in self.recorder.trace.nodes:
            self.live[id] = reading.weak(leaf)
            self.put(self.rows.leaf(leaf))
        return id

    def grey_the_dead(self):
        """Rows of nodes that died meanwhile turn grey; all but the newest of them give way."""
        for id in [id for id, ref in self.live.items() if ref() is None]:
            del self.live[id]
            self._dead.append(id)
            row = self.recorder.trace.nodes.get(id)
            if row is not None and row.alive:
                self.recorder.put(details.dead(row))
        if len(self._dead) > DEAD_SHOWN:
            self.recorder.remove(self._dead[:-DEAD_SHOWN])
            del self._dead[:-DEAD_SHOWN]

    def glance(self, roots):
        """Remember the graph of ``roots`` before a sweep frees it; perhaps nothing will be left."""
        now = time.monotonic()
        if now - self._glimpsed < GLIMPSE_EVERY:
            return
        self._glimpsed = now
        nodes, leaves = newest([root for root in roots if not reading.is_tensor(root)], GLIMPSE)
        rows, edges = details.picture(self.rows, nodes, leaves)
        refs = {id: reading.weak(thing) for id, thing in (*nodes.items(), *leaves.items())}
        self._glimpse = Glimpse({row.id: row for row in rows}, edges, refs, serial())

    # -- settling, when a cell has ended -----------------------------------------------
    def rest(self):
        """The cell is over: the next sweep is worth a glance again."""
        self._glimpsed = 0.0

    def show(self, nodes, leaves):
        """Exactly these nodes and leaves."""
        rows, edges = details.picture(self.rows, nodes, leaves)
        mark_roots(rows, edges)
        self._replace(rows, edges)
        self.live = {id: reading.weak(thing) for id, thing in (*nodes.items(), *leaves.items())}

    def show_beside(self, nodes, leaves):
        """These nodes and leaves too."""
        rows, edges = details.picture(self.rows, nodes, leaves)
        mark_roots(rows, edges)
        for row in rows:
            self.put(row)
        for edge in edges:
            self.recorder.put_edge(edge)
        for id, thing in (*nodes.items(), *leaves.items()):
            self.live[id] = reading.weak(thing)

    def glanced_since(self, start: int) -> bool:
        """A glance was taken after the serial ``start``."""
        return self._glimpse.serial > start

    def show_glimpse(self) -> list:
        """The graph as it was before its sweep; what is alive as it is now. The nodes alive."""
        glimpse = self._glimpse
        alive = {id: thing for id, ref in glimpse.refs.items() if (thing := ref()) is not None}
        rows = [
            self._fresh(alive[row.id]) if row.id in alive else details.dead(row)
            for row in glimpse.rows.values()
        ]
        details.name_modules(rows, glimpse.edges)
        mark_roots(rows, glimpse.edges)
        self._replace(rows, glimpse.edges)
        self.live = dict(glimpse.refs)
        return [thing for thing in alive.values() if not reading.is_tensor(thing)]

    def _fresh(self, thing):
        """The row of a node or leaf as it is now."""
        return self.rows.leaf(thing) if reading.is_tensor(thing) else self.rows.operation(thing)

    def _saved_before(self, id):
        """What a node saved, as it was seen before it was freed; None when it was not."""
        rows = self._glimpse.rows.get(id), self.recorder.trace.nodes.get(id)
        return next((row.saved for row in rows if row is not None and row.saved), None)

    def refresh(self):
        """Bring the rows in view up to date."""
        alive = {id: thing for id, ref in self.live.items() if (thing := ref()) is not None}
        for id, row in list(self.recorder.trace.nodes.items()):
            if row.kind == "untracked":
                continue
            thing = alive.get(id)
            if thing is None:
                self.put(details.dead(row))
                continue
            fresh = self._fresh(thing)
            fresh.root = row.root
            self.put(fresh)

    def _replace(self, rows, edges):
        """Make the trace hold exactly these rows and edges, touching only what changed."""
        trace = self.recorder.trace
        wanted = {row.id for row in rows}
        wanted |= self._untracked_inputs(wanted, {(edge.target, edge.slot) for edge in edges})
        self.recorder.remove([id for id in trace.nodes if id not in wanted])
        for row in rows:
            self.put(row)
        for edge in edges:
            before = trace.edges.get((edge.target, edge.slot))
            if before is not None and before.source == edge.source and edge.grad_norm is None:
                edge.grad_norm = before.grad_norm
            if before != edge:
                self.recorder.put_edge(edge)

    def _untracked_inputs(self, wanted, slots):
        """Untracked inputs of nodes that stay, known from before their saved tensors went."""
        nodes, edges = self.recorder.trace.nodes, self.recorder.trace.edges
        kept = [e.source for key, e in edges.items() if e.target in wanted and key not in slots]
        return {id for id in kept if id in nodes and nodes[id].kind == "untracked"}

    def put(self, row):
        """Add or replace a row if that changes anything."""
        before = self.recorder.trace.nodes.get(row.id)
        if before is not None:
            row.findings = before.findings
        if before != row:
            self.recorder.put(row)

    def put_norms(self, norms):
        """Write the norm of what flowed on each edge, by (target, slot)."""
        for key, norm in norms.items():
            edge = self.recorder.trace.edges.get(key)
            if edge is not None and edge.grad_norm != norm:
                edge.grad_norm = norm
                self.recorder.put_edge(edge)


def grey(recorder, refs):
    """Rows of ``recorder`` whose node or leaf (``refs``: weak references by id) died turn grey."""
    with recorder.lock:
        for id in [id for id, ref in refs.items() if ref() is None]:
            del refs[id]
            row = recorder.trace.nodes.get(id)
            if row is not None and row.alive:
                recorder.put(details.dead(row))


def mark_roots(rows, edges):
    """A root is an operation in view that nothing in view uses."""
    used = {edge.source for edge in edges}
    for row in rows:
        row.root = row.kind == "operation" and row.id not in used
