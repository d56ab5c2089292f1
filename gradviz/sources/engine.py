"""The engine as a source: its events and its live graph become rows of the recorder."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from dataclasses import dataclass, field

import numpy as np

from gradviz.engine import events
from gradviz.engine.node import LEAF, serial
from gradviz.engine.tensor import Tensor
from gradviz.watch import names
from gradviz.watch.case import ErrorFacts
from gradviz.watch.holders import Found, Roots, walk
from gradviz.watch.model import Detail
from gradviz.watch.places import Places
from gradviz.watch.program import bindings

from . import details, evidence
from .failure import failure
from .flow import Flow
from .graph import newest, node_of, reach, saved_bytes
from .observer import Watcher
from .rows import Rows, tensor_id

SHOWN = 5_000
BORN = 5_000
WEIGHED = 50_000
FAILURES = 50
DEAD_SHOWN = 300
GLIMPSE = 300
GLIMPSE_EVERY = 0.5
DETAIL_SECONDS = 0.08


class Interest:
    """What a walk over the namespace looks for, and what a tensor holds by itself."""

    def kind(self, type_):
        """``tensor``, ``array`` or None."""
        if issubclass(type_, Tensor):
            return "tensor"
        return "array" if issubclass(type_, np.ndarray) else None

    def children(self, thing):
        """The gradient, hooks and attributes of a tensor; nothing of an array."""
        if not isinstance(thing, Tensor):
            return
        grad = events.grad(thing)
        if grad is not None:
            yield "grad", "grad", grad
        for index, (_, hook) in enumerate(events.hooks(thing)):
            if hook is not None:
                yield "hooktable", f"_backward_hooks[{index}]", hook
        for name, value in list(getattr(thing, "__dict__", {}).items()):
            yield "attribute", name, value
        node = node_of(thing)
        if node is not None:
            for name, value in list(getattr(node, "__dict__", {}).items()):
                yield "ctx", f"grad_fn.{name}", value


@dataclass
class Glimpse:
    """A graph as it was when a sweep began. ``serial``: when that was."""

    rows: list = field(default_factory=list)
    edges: list = field(default_factory=list)
    leaves: dict = field(default_factory=dict)
    serial: int = 0


class EngineSource:
    """Feeds ``recorder``. ``cell_of(filename)`` gives the execution count of a cell's code, or
    None.

    ``attach`` and ``detach`` begin and end watching. ``drain`` may be called from another thread
    while the program runs; ``settle`` and ``enter`` belong on the main thread. ``want_norms``:
    measure the gradient on every edge of the next sweeps (it costs a pass over each gradient).
    """

    def __init__(self, recorder, cell_of):
        self.recorder = recorder
        self.watcher = Watcher()
        self.places = Places(cell_of, self._text_of)
        self.rows = Rows(self.places, self.watcher.note)
        self.found: Found | None = None
        self.error: BaseException | None = None
        self.failures: list[ErrorFacts] = []
        self.born: deque = deque(maxlen=BORN)
        self.customs: deque = deque(maxlen=BORN)
        self.object_cycles: dict = {}
        self.spent = 0.0
        self._live: dict[int, weakref.ref] = {}
        self._dead: list[int] = []
        self._tensors: dict[int, weakref.ref] = {}
        self._cell_start = 0
        self._fresh_cell = None
        self._glimpse = Glimpse()
        self._glimpsed = 0.0
        self._norms = False
        self._paths: dict[int, list] = {}
        self._lock = threading.RLock()

    # -- watching ----------------------------------------------------------------
    def attach(self):
        """Begin to watch. RuntimeError when somebody else watches the engine."""
        events.attach(self.watcher)
        self.watcher.on_sweep = self._on_sweep

    def detach(self):
        """Stop watching and forget."""
        events.detach(self.watcher)
        self.watcher.rest()
        self.want_norms = False
        self.watcher.ring.clear()

    @property
    def ledger(self):
        """The account of sweeps, gradients and changes in place."""
        return self.watcher.ledger

    @property
    def want_norms(self) -> bool:
        """Whether gradients are measured as they flow."""
        return self._norms

    @want_norms.setter
    def want_norms(self, value: bool):
        self._norms = bool(value)
        self.watcher.measure(Flow() if value else None)

    def _text_of(self, count):
        """Source of the newest cell with this execution count."""
        cells = self.recorder.trace.cells
        return next((cell.text for cell in reversed(cells) if cell.count == count), None)

    # -- while a cell runs -----------------------------------------------------------
    def drain(self, budget_seconds: float) -> bool:
        """Turn new nodes into rows for at most ``budget_seconds``; True when none is left.

        With an infinite budget nothing is shown yet: that is the call before ``settle``, which
        shows all.
        """
        started, ring = time.perf_counter(), self.watcher.ring
        shows = budget_seconds != float("inf")
        with self._lock:
            if shows:
                self._notice_cell(bool(ring))
            until = started + budget_seconds
            while ring:
                try:
                    ref = ring.popleft()
                except IndexError:
                    break
                node = ref()
                if node is not None:
                    self.born.append(ref)
                    if type(node).__dictoffset__:
                        self.customs.append(ref)
                    if shows and len(self._live) < SHOWN:
                        self._show_with_inputs(node)
                if shows and time.perf_counter() > until:
                    break
            if shows:
                self._grey_the_dead()
            self.spent += time.perf_counter() - started
        return not ring

    def _notice_cell(self, something):
        """With the first operation of a new cell the picture starts afresh."""
        cell = self.recorder.trace.cells[-1] if self.recorder.trace.cells else None
        if something and cell is not self._fresh_cell:
            self._fresh_cell = cell
            self.recorder.clear()
            self._live.clear()
            self._dead.clear()

    def _grey_the_dead(self):
        """Rows of nodes that died meanwhile turn grey; all but the newest of them give way."""
        for id in [id for id, ref in self._live.items() if ref() is None]:
            del self._live[id]
            self._dead.append(id)
            row = self.recorder.trace.nodes.get(id)
            if row is not None and row.alive:
                self.recorder.put(details.dead(row))
        if len(self._dead) > DEAD_SHOWN:
            self.recorder.remove(self._dead[:-DEAD_SHOWN])
            del self._dead[:-DEAD_SHOWN]

    def _show_with_inputs(self, node):
        """Rows for ``node`` and for everything it needs that has no row yet."""
        pending = [node]
        while pending and len(self._live) < SHOWN:
            node = pending.pop()
            if node.seq in self._live:
                continue
            self._live[node.seq] = weakref.ref(node)
            self.recorder.put(self.rows.operation(node))
            pending += self._put_inputs(node)

    def _put_inputs(self, node):
        later = []
        for slot, output, source in self.rows.inputs(node):
            self.recorder.put_edge(self.rows.edge(node, slot, output, source))
            if isinstance(source, Tensor):
                if self._new(source, events.leaf_id(source)):
                    self.recorder.put(self.rows.leaf(source))
            elif isinstance(source, np.ndarray):
                row = self.rows.untracked(source)
                if row.id not in self.recorder.trace.nodes:
                    self.recorder.put(row)
            else:
                later.append(source)
        return later

    def _new(self, thing, id):
        known = id in self._live
        self._live.setdefault(id, weakref.ref(thing))
        return not known

    def _on_sweep(self, roots):
        """A glimpse of the graph before a sweep frees it, in case nothing of it is left
        at the end.
        """
        now = time.monotonic()
        if now - self._glimpsed < GLIMPSE_EVERY:
            return
        self._glimpsed = now
        nodes, leaves = newest([root for root in roots if not isinstance(root, Tensor)], GLIMPSE)
        rows, edges = details.picture(self.rows, nodes, leaves)
        refs = {id: weakref.ref(leaf) for id, leaf in leaves.items()}
        self._glimpse = Glimpse(rows, edges, refs, serial())

    # -- when a cell has ended --------------------------------------------------------
    def settle(self, roots: Roots, error: BaseException | None = None):
        """Names, values, gradients, saved states and liveness of the cell's final graph."""
        started = time.perf_counter()
        with self._lock, self.recorder.lock:
            self.error = error
            self.look(roots)
            self._show_final()
            self._describe(roots)
            self._weigh()
            self._account(started)
            if error is not None:
                self.failures = [
                    *self.failures[-FAILURES:],
                    failure(self, error, self.recorder.trace.cell),
                ]
            self.release()

    def case(self, roots: Roots):
        """The evidence after a cell, for one call of the doctor."""
        return evidence.case(self, walk(roots, Interest()), roots)

    def release(self):
        """Drop everything of the person's that a settle needed."""
        self.found = self.error = None
        self.rows.arrays, self.rows.tensors, self.rows.results = {}, {}, {}

    def look(self, roots: Roots):
        """Walk the namespace and name what was found."""
        self.found = walk(roots, Interest())
        paths: dict[int, list] = {}
        rows = self.rows
        rows.arrays, rows.tensors = {}, {}
        for holding in self.found.holdings:
            thing = holding.thing
            if not isinstance(thing, Tensor):
                continue
            id = tensor_id(thing)
            paths.setdefault(id, []).append((holding.steps, holding.path))
            rows.arrays.setdefault(id_of(thing._a), thing)
            rows.tensors.setdefault(id, thing)
        rows.names = {id: names.best(found) for id, found in paths.items()}
        rows.bindings = bindings(self.recorder.trace.cells)
        rows.hook_notes = {
            id_of(h.hook()): h.note for h in self.watcher.hooks if h.note and h.hook() is not None
        }
        self._paths = paths

    def _show_final(self):
        """Choose the final graph of the cell and make the trace show it."""
        start, self._cell_start, self._glimpsed = self._cell_start, serial(), 0.0
        nodes, leaves, total = self._final(start)
        if nodes:
            rows, edges = details.picture(self.rows, nodes, leaves)
            self._mark_roots(rows, edges)
            self._replace(rows, edges)
            self._live = {id: weakref.ref(thing) for id, thing in (*nodes.items(), *leaves.items())}
            self.recorder.trace.total = max(total, len(rows))
        elif not self._refresh(start):
            self._show_glimpse()
        full = len(self.recorder.trace.nodes) < self.recorder.trace.total
        self.recorder.trace.note = "notebook.cut_short" if full else ""

    def _final(self, start):
        """Nodes and leaves of the graph behind the newest live result of this cell, and their full
        number.
        """
        made = {}
        for holding in self.found.holdings:
            if isinstance(holding.thing, Tensor) and holding.link.kind != "grad":
                node = node_of(holding.thing)
                if node is not None and node.seq > start:
                    made[node.seq] = node
        used = [
            ref() for sweep in self.ledger.sweeps if sweep.serial > start for ref in sweep.root_refs
        ]
        alive = [node for node in used if node is not None and not isinstance(node, Tensor)]
        tops = [made[max(made)]] if made else []
        if alive and (not tops or alive[-1].seq > tops[0].seq):
            tops = alive[-1:]
        if not tops:
            return {}, {}, 0
        nodes, leaves = newest(tops, SHOWN)
        return nodes, leaves, self._whole(tops, nodes, leaves)

    def _whole(self, tops, nodes, leaves):
        if len(nodes) < SHOWN:
            return len(nodes) + len(leaves)
        everything = reach(tops)
        return len(everything.nodes) + len(everything.leaves)

    def _refresh(self, start):
        """No new graph: bring the rows in view up to date. False when the cell made graphs and none
        is alive.
        """
        alive = {id: ref() for id, ref in self._live.items()}
        alive = {id: thing for id, thing in alive.items() if thing is not None}
        if self._glimpse.serial > start and any(
            sweep.serial > start for sweep in self.ledger.sweeps
        ):
            return False
        for id, row in list(self.recorder.trace.nodes.items()):
            thing = alive.get(id)
            if thing is not None:
                fresh = (
                    self.rows.leaf(thing)
                    if isinstance(thing, Tensor)
                    else self.rows.operation(thing)
                )
                fresh.root = row.root
            elif row.kind == "untracked":
                continue
            else:
                fresh = details.dead(row)
            self._put(fresh)
        return True

    def _show_glimpse(self):
        """The graph as it was before its sweep; its leaves as they are now."""
        glimpse = self._glimpse
        leaves = {id: leaf for id, ref in glimpse.leaves.items() if (leaf := ref()) is not None}
        rows = [
            self.rows.leaf(leaves[row.id]) if row.id in leaves else details.dead(row)
            for row in glimpse.rows
        ]
        details.name_modules(rows, glimpse.edges)
        self._mark_roots(rows, glimpse.edges)
        self._replace(rows, glimpse.edges)
        self._live = dict(glimpse.leaves)
        self.recorder.trace.total = len(rows)

    def _mark_roots(self, rows, edges):
        """A root is an operation in view that nothing in view uses."""
        used = {edge.source for edge in edges}
        for row in rows:
            row.root = row.kind == "operation" and row.id not in used

    def _replace(self, rows, edges):
        """Make the trace hold exactly these rows and edges, touching only what changed."""
        trace = self.recorder.trace
        wanted = {row.id for row in rows}
        wanted |= self._untracked_inputs(wanted, {(edge.target, edge.slot) for edge in edges})
        self.recorder.remove([id for id in trace.nodes if id not in wanted])
        for row in rows:
            self._put(row)
        for edge in edges:
            before = trace.edges.get((edge.target, edge.slot))
            if before is not None and before.source == edge.source and edge.grad_norm is None:
                edge.grad_norm = before.grad_norm
            if before != edge:
                self.recorder.put_edge(edge)

    def _untracked_inputs(self, wanted, slots):
        """Untracked inputs of nodes that stay, known from before their saved tensors went."""
        trace = self.recorder.trace
        kept = [
            e.source for key, e in trace.edges.items() if e.target in wanted and key not in slots
        ]
        return {id for id in kept if id in trace.nodes and trace.nodes[id].kind == "untracked"}

    def _put(self, row):
        before = self.recorder.trace.nodes.get(row.id)
        if before is not None:
            row.findings = before.findings
        if before != row:
            self.recorder.put(row)

    def _describe(self, roots):
        """Details of what is in view, newest first, as far as the time allows."""
        self._tensors = {id: weakref.ref(tensor) for id, tensor in self.rows.tensors.items()}
        self._flow_norms()
        until = time.perf_counter() + DETAIL_SECONDS
        for id in sorted(self.recorder.trace.nodes, reverse=True):
            if time.perf_counter() > until:
                break
            detail = self._detail(id)
            if detail is not None and self.recorder.trace.details.get(id) != detail:
                self.recorder.put_detail(detail)

    def _flow_norms(self):
        if self.watcher.flow is None:
            return
        for (target, slot), norm in self.watcher.flow.norms.items():
            edge = self.recorder.trace.edges.get((target, slot))
            if edge is not None and edge.grad_norm != norm:
                edge.grad_norm = norm
                self.recorder.put_edge(edge)

    def _detail(self, id) -> Detail | None:
        ref = self._live.get(id)
        thing, result = ref() if ref else None, self.rows.results.get(id)
        return details.detail(id, thing, self._tensor(id), self._paths.get(id, ()), result)

    def _tensor(self, id):
        ref = self._tensors.get(id)
        return ref() if ref else None

    def detail(self, id: int) -> Detail | None:
        """What the inspector shows of a node; never touches an array while a cell is running."""
        with self.recorder.lock:
            known = self.recorder.trace.details.get(id)
            if known is not None or self.recorder.trace.state == "running":
                return known
            try:
                found = self._detail(id)
            except Exception as error:
                self.watcher.errors.append(f"detail: {type(error).__name__}: {error}")
                return None
            if found is not None and id in self.recorder.trace.nodes:
                self.recorder.put_detail(found)
            return found

    def enter(self, tensor) -> int:
        """Put the graph of ``tensor`` into the recorder beside what is there; the id of
        its node.
        """
        with self._lock, self.recorder.lock:
            node = node_of(tensor)
            if node is None:
                id = events.leaf_id(tensor)
                if self._new(tensor, id) or id not in self.recorder.trace.nodes:
                    self._put(self.rows.leaf(tensor))
                self._tensors[id] = weakref.ref(tensor)
                return id
            nodes, leaves = newest([node], SHOWN)
            rows, edges = details.picture(self.rows, nodes, leaves)
            self._mark_roots(rows, edges)
            for row in rows:
                self._put(row)
            for edge in edges:
                self.recorder.put_edge(edge)
            for id, thing in (*nodes.items(), *leaves.items()):
                self._live[id] = weakref.ref(thing)
            self._tensors[node.seq] = weakref.ref(tensor)
            return node.seq

    # -- accounts --------------------------------------------------------------------
    def _weigh(self):
        """Bytes of parameters, gradients and saved tensors after the cell."""
        cells = self.recorder.trace.cells
        if not cells:
            return
        tensors = {
            id_of(h.thing): h.thing for h in self.found.holdings if isinstance(h.thing, Tensor)
        }
        leaves = [t for t in tensors.values() if events.edge(t) is LEAF]
        grads = [events.grad(t) for t in tensors.values()]
        starts = [node for t in tensors.values() if (node := node_of(t)) is not None]
        graph = reach(starts, WEIGHED)
        own = [id_of(t._a) for t in leaves]
        cells[-1].bytes = {
            "parameters": sum(events.storage_bytes(t) for t in leaves),
            "gradients": sum(g._a.nbytes for g in grads if g is not None),
            "saved": saved_bytes(graph.nodes.values(), own),
            "kept": 0,
        }

    def _account(self, started):
        self.spent += time.perf_counter() - started
        held = 120 * (len(self.watcher.ring) + len(self._live)) + 400 * len(self.ledger.events)
        self.recorder.trace.overhead = {"ms": round(self.spent * 1e3, 3), "bytes": held}


id_of = id
