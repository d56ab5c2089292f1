"""The recorder: owns the trace, numbers its changes and hands out deltas. Safe between threads."""

from __future__ import annotations

import threading
import time
from collections import deque

from .delta import Delta
from .model import Cell, Detail, Edge, Finding, Node
from .trace import Trace

REMOVALS_KEPT = 20_000


class Recorder:
    """Holds ``trace`` under ``lock``; ``seq`` rises with every change."""

    def __init__(self):
        self.lock = threading.RLock()
        self.trace = Trace()
        self.seq = 0
        self._changed: dict[int, int] = {}
        self._edge_changed: dict[tuple[int, int], int] = {}
        self._detail_changed: dict[int, int] = {}
        self._removed: deque[tuple[int, int]] = deque(maxlen=REMOVALS_KEPT)
        self._replaced = 0
        self._findings: list[Finding] = self.trace.findings
        self._findings_changed = 0

    # -- cells ---------------------------------------------------------------
    def begin_cell(self, count: int | None, cell_id: str | None, text: str):
        """A cell with execution ``count`` starts; ``text`` is its source."""
        with self.lock:
            self.trace.cells.append(Cell(count or 0, cell_id, text, time.time()))
            self.trace.state = "running"
            self._tick()

    def end_cell(self, error: str = ""):
        """The newest cell is over; ``error`` is ``Type: message`` when it raised."""
        with self.lock:
            if self.trace.cells:
                self.trace.cells[-1].ended = time.time()
                self.trace.cells[-1].error = error
            self.trace.state = _state(error)
            self._tick()

    # -- the graph -------------------------------------------------------------
    def put(self, node: Node):
        """Add or replace a node."""
        with self.lock:
            self.trace.nodes[node.id] = node
            self._changed[node.id] = self._tick()

    def put_edge(self, edge: Edge):
        """Add or replace the edge into ``edge.target`` at ``edge.slot``."""
        with self.lock:
            key = edge.target, edge.slot
            self.trace.edges[key] = edge
            self._edge_changed[key] = self._tick()

    def put_detail(self, detail: Detail):
        """Add or replace what the inspector shows of one node."""
        with self.lock:
            self.trace.details[detail.id] = detail
            self._detail_changed[detail.id] = self._tick()

    def drop_details(self, ids):
        """Forget details that may be out of date."""
        with self.lock:
            for id in list(ids):
                self.trace.details.pop(id, None)
                self._detail_changed.pop(id, None)

    def remove(self, ids):
        """Take nodes away, with their edges and details."""
        gone = set(ids)
        with self.lock:
            for id in gone & self.trace.nodes.keys():
                del self.trace.nodes[id]
                self._changed.pop(id, None)
                self.trace.details.pop(id, None)
                self._detail_changed.pop(id, None)
                self._removed.append((self._tick(), id))
            edges = self.trace.edges
            for key in [k for k, e in edges.items() if e.source in gone or e.target in gone]:
                del edges[key]
                self._edge_changed.pop(key, None)

    def clear(self):
        """Empty the graph; readers start again."""
        with self.lock:
            self.trace.nodes.clear()
            self.trace.edges.clear()
            self.trace.details.clear()
            for table in (self._changed, self._edge_changed, self._detail_changed, self._removed):
                table.clear()
            self._replaced = self._tick()

    def replace(self, trace: Trace):
        """Show another trace from now on; readers start again."""
        with self.lock:
            self.clear()
            self.trace = trace
            self._changed.update((key, self._tick()) for key in trace.nodes)
            self._edge_changed.update((key, self._tick()) for key in trace.edges)
            self._detail_changed.update((key, self._tick()) for key in trace.details)

    def set_findings(self, findings: list[Finding]):
        """Replace what the doctor says."""
        with self.lock:
            self.trace.findings = list(findings)
            self._note_findings()

    def _note_findings(self):
        now = self.trace.findings
        if now is not self._findings:
            if now or self._findings:
                self._findings_changed = self._tick()
            self._findings = now

    def _tick(self):
        self.seq += 1
        return self.seq

    # -- readers ---------------------------------------------------------------
    def delta(self, since: int) -> Delta:
        """Everything that changed after ``since`` (a ``seq``; below 0: everything)."""
        with self.lock:
            self._note_findings()
            trace, reset = self.trace, since < self._replaced or self._forgotten(since)
            start = -1 if reset else since
            return Delta(
                seq=self.seq,
                base=start,
                reset=reset,
                nodes=[trace.nodes[i] for i, at in self._changed.items() if at > start],
                edges=[trace.edges[k] for k, at in self._edge_changed.items() if at > start],
                removed=[]
                if reset
                else [id for at, id in self._removed if at > start and id not in trace.nodes],
                details={
                    i: trace.details[i] for i, at in self._detail_changed.items() if at > start
                },
                findings=list(trace.findings) if reset or self._findings_changed > start else None,
                status=trace.status(),
            )

    def to_json(self) -> dict:
        """The trace as JSON values."""
        with self.lock:
            return self.trace.to_json()

    def _forgotten(self, since):
        """True when removals after ``since`` were already dropped."""
        full = len(self._removed) == self._removed.maxlen
        return since < 0 or since > self.seq or (full and since < self._removed[0][0])


def _state(error):
    if not error:
        return "idle"
    return "interrupted" if error.startswith("KeyboardInterrupt") else "failed"
