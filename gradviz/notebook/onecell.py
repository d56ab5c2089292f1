"""Follows one cell: its graph while it runs, and afterwards what becomes of that graph."""

from __future__ import annotations

from gradviz.engine.node import serial
from gradviz.sources.picture import grey
from gradviz.watch.model import OPERATION
from gradviz.watch.recorder import Recorder

from .follow import newest_cell


class CellFollower:
    """Keeps a recorder of its own for the cell that is running when it is made.

    ``source`` and ``main`` (its recorder) are the session's. ``look`` takes the graph that the cell
    left, once it is over, and afterwards greys what has died; ``follow`` takes over what the
    session has recorded since. Rows of other cells stay out.
    """

    target = None

    def __init__(self, source, main):
        self.recorder = Recorder()
        self._source, self._main = source, main
        self._start, self._since = serial(), main.seq
        self._cell = newest_cell(main)
        self._over = False
        self._refs: dict = {}

    def look(self):
        """The cell has ended: its final graph, or none when it computed nothing."""
        if not self._over:
            self._over = True
            self._since = self._main.seq
            shown = self._main.delta(-1) if self._computed() or self._swept() else None
            self._take(shown)
            live = self._source.picture.live
            self._refs = {id: live[id] for id in self.recorder.trace.nodes if id in live}
        grey(self.recorder, self._refs)

    def follow(self):
        """Take over what was recorded since the last time."""
        delta = self._main.delta(self._since)
        self._since = delta.seq
        if self._over:
            self._update(delta)
        else:
            self._take(delta if self._computed() else None)

    def detail(self, id: int):
        """What the inspector shows of a node; the last known when it is no longer watched."""
        found = self._source.detail(id)
        return self.recorder.trace.details.get(id) if found is None else found

    def attempt(self, asked: dict) -> dict:
        """What a page asks to be run once more (docs/protocol.md, ``try``)."""
        return self._source.attempt(asked, self._live())

    def weigh(self, id: int) -> dict | None:
        """What a node and the graph behind it keep alive."""
        return self._source.weigh(id, self._live())

    def _live(self):
        return {id: thing for id, ref in self._refs.items() if (thing := ref()) is not None}

    def _computed(self):
        """The session shows operations that are younger than this view, so they are this cell's."""
        rows = self._main.trace.nodes.values()
        return any(row.kind == OPERATION and row.id > self._start for row in rows)

    def _swept(self):
        return any(sweep.serial > self._start for sweep in self._source.ledger.sweeps)

    def _take(self, delta):
        """Take over the rows of ``delta``, all of them when it begins anew; and how things are."""
        recorder = self.recorder
        with recorder.lock:
            if recorder.trace.nodes and (delta is None or delta.reset):
                recorder.clear()
            if delta is not None:
                recorder.remove(delta.removed)
                self._put(delta.nodes, delta.edges, delta.details)
            self._tell()

    def _update(self, delta):
        """News of what is shown; what other cells made is not."""
        nodes = self.recorder.trace.nodes
        edges = [e for e in delta.edges if e.source in nodes and e.target in nodes]
        details = {id: found for id, found in delta.details.items() if id in nodes}
        with self.recorder.lock:
            self._put([row for row in delta.nodes if row.id in nodes], edges, details)
        if delta.findings is not None:
            self.recorder.set_findings(self._own(delta.findings))

    def _put(self, nodes, edges, details):
        for row in nodes:
            self.recorder.put(row)
        for edge in edges:
            self.recorder.put_edge(edge)
        for found in details.values():
            self.recorder.put_detail(found)

    def _own(self, findings):
        """Findings about what is shown, or about the cell itself."""
        nodes, count = self.recorder.trace.nodes.keys(), self._cell.count if self._cell else None
        return [f for f in findings if f.cell == count or not nodes.isdisjoint(f.node_ids)]

    def _tell(self):
        """The state of things as it is in this cell."""
        trace, main = self.recorder.trace, self._main.trace
        trace.state, trace.cells, trace.overhead = main.state, list(main.cells), dict(main.overhead)
        trace.total, trace.note = (main.total, main.note) if trace.nodes else (0, "")
        findings = self._own(main.findings)
        if findings != trace.findings:
            self.recorder.set_findings(findings)
