"""Follows the graph of one tensor, apart from what the recorder shows of the newest cell."""

from __future__ import annotations

import weakref

from gradviz.sources import reading
from gradviz.sources.details import detail, picture
from gradviz.sources.graph import newest
from gradviz.sources.picture import grey
from gradviz.sources.reading import node_of
from gradviz.sources.rows import tensor_id
from gradviz.watch.recorder import Recorder

from .scope import Scope

NODES = 5_000
COUNTED = 200_000


class Follower:
    """Keeps a recorder of its own for ``tensor``, which it holds weakly.

    ``source`` and ``main`` (its recorder) are the session's. ``look`` reads the tensor's graph as
    it is, on the main thread; ``follow`` takes over what the session has recorded since.
    """

    def __init__(self, tensor, source, main):
        self.recorder = Recorder()
        self.target = tensor_id(tensor)
        self._tensor = weakref.ref(tensor)
        self._source, self._main = source, main
        self._scope = Scope(self.target, 2 * NODES)  # operations and what they use
        self._since = main.seq
        self._cell = newest_cell(main)
        self._refs: dict = {}

    def look(self):
        """Read the graph of the tensor as it is now, if it still lives; grey what does not."""
        grey(self.recorder, self._refs)
        nodes, leaves = self._graph()
        if not nodes and not leaves:
            return
        self._count(nodes)
        refs = {id: reading.weak(thing) for id, thing in (*nodes.items(), *leaves.items())}
        self._refs.update(refs)
        rows, edges = picture(self._source.rows, nodes, leaves)
        flow = self._source.watcher.flow
        for edge in edges:
            edge.grad_norm = flow.norms.get((edge.target, edge.slot)) if flow else None
        self._take(rows, edges, only_changed=True)

    def follow(self):
        """Take over what was recorded since the last time, and the state of things."""
        delta = self._main.delta(self._since)
        self._since = delta.seq
        self._take(delta.nodes, delta.edges)
        trace = self.recorder.trace
        self._tell()
        for id, found in delta.details.items():
            if id in trace.nodes:
                self.recorder.put_detail(found)
        if delta.findings is not None:
            mine = [f for f in delta.findings if not trace.nodes.keys().isdisjoint(f.node_ids)]
            self.recorder.set_findings(mine)

    def _tell(self):
        """How things are; the error of another cell is not this tensor's."""
        trace, main = self.recorder.trace, self._main.trace
        trace.overhead = main.overhead
        if main.state in ("idle", "running") or newest_cell(self._main) is self._cell:
            trace.state, trace.cells = main.state, main.cells
        else:
            trace.state, trace.cells = "idle", main.cells[:-1]

    def detail(self, id: int):
        """What the inspector shows of a node; never reads an array while a cell runs."""
        found = self._source.detail(id)
        if found is None and self._main.trace.state != "running":
            found = self._detail(id)
        if found is None:
            return self.recorder.trace.details.get(id)
        self.recorder.put_detail(found)
        return found

    def read(self, id: int):
        """The same for a caller on the main thread, where an array may be read at any time."""
        return self.detail(id) or self._detail(id)

    def attempt(self, asked: dict) -> dict:
        """What a page asks to be run once more (docs/protocol.md, ``try``)."""
        nodes, leaves = self._graph()
        return self._source.attempt(asked, nodes | leaves)

    def weigh(self, id: int) -> dict | None:
        """What a node and the graph behind it keep alive."""
        return self._source.weigh(id, self._graph()[0])

    def _detail(self, id):
        nodes, leaves = self._graph()
        tensor = self._tensor() if id == self.target else None
        return detail(id, nodes.get(id, leaves.get(id)), tensor, ())

    def _graph(self):
        tensor = self._tensor()
        if tensor is None:
            return {}, {}
        node = node_of(tensor)
        if node is None:
            return {}, {self.target: tensor}
        nodes, leaves = newest([node], NODES)
        first = self._source.creators(nodes)
        return newest([node, *first], NODES) if first else (nodes, leaves)

    def _count(self, nodes):
        """Tell how many nodes there are when not all of them are shown; ``COUNTED`` at most."""
        if len(nodes) == NODES:
            every, leaves, _ = reading.walk([nodes[max(nodes)]], COUNTED)
            self.recorder.trace.total = len(every) + len(leaves)

    def _take(self, rows, edges, only_changed=False):
        rows, edges = self._scope.absorb(rows, edges)
        trace = self.recorder.trace
        with self.recorder.lock:
            for row in rows:
                if not only_changed or self._fresh(row):
                    self.recorder.put(row)
            for edge in edges:
                before = trace.edges.get((edge.target, edge.slot))
                if before is not None and edge.grad_norm is None:
                    edge.grad_norm = before.grad_norm
                if before != edge:
                    self.recorder.put_edge(edge)
            self._mark_root()

    def _fresh(self, row):
        """True when ``row`` says something new; what the session found out about it is kept."""
        before = self.recorder.trace.nodes.get(row.id)
        if before is not None:
            row.findings, row.root = before.findings, before.root
        return before != row

    def _mark_root(self):
        """The target is the root until something grows out of it."""
        row = self.recorder.trace.nodes.get(self.target)
        if row is not None and row.kind == "operation" and not row.root:
            if all(e.source != self.target for e in self.recorder.trace.edges.values()):
                row.root = True
                self.recorder.put(row)


def newest_cell(recorder):
    """The cell that runs or ran last; None before the first."""
    return recorder.trace.cells[-1] if recorder.trace.cells else None
