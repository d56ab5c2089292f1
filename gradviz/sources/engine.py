"""The source: events and live graphs, of our engine and of PyTorch, become rows of the recorder."""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from heapq import nlargest
from operator import itemgetter

import numpy as np

from gradviz.engine import events
from gradviz.engine.node import serial
from gradviz.watch import names
from gradviz.watch.case import ErrorFacts
from gradviz.watch.cells import Cells
from gradviz.watch.holders import Found, Roots, walk
from gradviz.watch.model import Added, Change, Detail
from gradviz.watch.places import Places

from . import details, evidence, ghosts, reading, replay, strays
from .failure import failure
from .flow import SHARE, SHARE_SEEN
from .graph import newest, reach, saved_bytes
from .interest import Interest
from .observer import Watcher
from .peak import Peak
from .picture import SHOWN, Picture
from .reading import is_node, node_of
from .rows import Rows, tensor_id
from .torch_watch import TorchWatcher
from .weight import brief

LIVE = 800  # rows while a cell runs: more would slow the collector, and so the cell
BORN = 5_000
WEIGHED = 20_000
HELD, TOPS = 5_000, 400
FAILURES = 50
NAMED = 50
CHANGES = 20
SHARES = 12
DETAIL_SECONDS = 0.08
CUT_SHORT = "notebook.cut_short"


class EngineSource:
    """Feeds ``recorder``. ``cell_of(filename)``: the execution count of a cell's code, or None.

    ``attach`` and ``detach`` begin and end watching. ``drain`` may be called from another thread
    while the program runs; ``settle`` and ``enter`` belong on the main thread. ``want_norms``:
    measure the gradient on every edge of the next sweeps (it costs a pass over each gradient).
    ``patience``: for how many seconds a cell's end may search the heap for cycles.
    """

    def __init__(self, recorder, cell_of):
        self.recorder = recorder
        self.watcher = Watcher()
        self.torch = TorchWatcher(self.watcher)
        self.places = Places(cell_of, self._text_of, lambda: recorder.trace.cell)
        self.rows = Rows(self.places, self.watcher)
        self.picture = Picture(recorder, self.rows)
        self._peak = Peak()
        self.cells = Cells()
        self.failures: list[ErrorFacts] = []
        self.born: deque = deque(maxlen=BORN)
        self.customs: deque = deque(maxlen=BORN)
        self.object_cycles: dict = {}
        self.patience = strays.SLOW
        self.lost: set[int] = set()
        self.spent = 0.0
        self._tensors: dict[int, weakref.ref] = {}
        self._names = names.Names()
        self.leaves: dict[int, tuple] = {}
        self._through: dict[int, str] = {}
        self._memories: dict[int, list[int]] = {}
        self._cell_start = 0
        self._fresh_cell = None
        self.origins: dict[int, tuple] = {}
        self.alone: dict[int, weakref.ref] = {}
        self._norms = False
        self._lock = threading.RLock()

    # -- watching ----------------------------------------------------------------
    def attach(self):
        """Begin to watch. RuntimeError when somebody else watches the engine."""
        events.attach(self.watcher)
        self.watcher.on_sweep = self._sweep_begins

    def _sweep_begins(self, roots):
        self.picture.glance(roots)
        self.ledger.current.bytes = self._peak.weigh(roots)

    def makers(self) -> list[tuple]:
        """(place or None, class, bytes): what had saved most when memory peaked."""
        found = []
        for note, name, size in self._peak.makers:
            site = self.watcher.site(note or 0)
            found.append((self.places.place(*site[:2]) if site else None, name, size))
        return found

    def detach(self):
        """Stop watching and forget."""
        self.torch.end()
        events.detach(self.watcher)
        self.watcher.rest()
        self.want_norms = False
        self.watcher.ring.clear()

    def begin(self):
        """The program runs from now on: what PyTorch does is watched too, until ``end``."""
        self.torch.begin()

    def end(self):
        """The program rests."""
        self.torch.end()

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
        self.watcher.flow.share = SHARE_SEEN if value else SHARE

    def _text_of(self, count):
        """Source of the newest cell with this execution count."""
        cells = self.recorder.trace.cells
        if count in self.cells.texts and not (cells and cells[-1].count == count):
            return self.cells.texts[count]
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
            until = started + budget_seconds
            while ring and (not shows or time.perf_counter() <= until):
                self._take(ring, shows)
            if shows:
                self.picture.grey_the_dead()
            self.spent += time.perf_counter() - started
        return not ring

    def _take(self, ring, shows):
        """The oldest node of the ring, if it is still alive."""
        try:
            ref = ring.popleft()
        except IndexError:
            return
        node = ref()
        if node is None:
            return
        self.born.append(ref)
        if reading.is_custom(node):
            self.customs.append(ref)
        if shows:
            self._notice_cell()
            if len(self.picture.live) < LIVE:
                self.picture.add(node, LIVE)

    def _notice_cell(self):
        """With the first live operation of a new cell the picture starts afresh."""
        cell = self.recorder.trace.cells[-1] if self.recorder.trace.cells else None
        if cell is not self._fresh_cell:
            self._fresh_cell = cell
            self.picture.clear()

    # -- when a cell has ended --------------------------------------------------------
    def settle(self, roots: Roots, error: BaseException | None = None) -> Found | None:
        """Names, values, gradients, saved states and liveness of the cell's final graph. What the
        walk from ``roots`` found, for ``case`` and to be dropped then.
        """
        started = time.perf_counter()
        with self._lock, self.recorder.lock:
            try:
                found = self.look(roots)
                self._through = self._held_through()
                self._show_final(found)
                self._describe()
                self._weigh(found)
                self._account(started)
                if error is not None:
                    fresh = failure(self, error, self.recorder.trace.cell)
                    self.failures = [*self.failures[-FAILURES:], fresh]
                    self._show_failed(error, fresh)
                return found
            finally:
                self.release()

    def case(self, roots: Roots, found: Found | None = None):
        """The evidence after a cell, for one call of the doctor; ``found``: what a walk from
        ``roots`` has just found.
        """
        return evidence.case(self, found or walk(roots, Interest()), roots)

    def modules(self) -> list[str]:
        """The files of the person's whose code took part, cells not counted."""
        names = sorted(name for name in self.watcher.files.mine if name.endswith(".py"))
        return [name for name in names if self.places.is_file(name)]

    def release(self):
        """Let go of everything of the person's that ``look`` found."""
        self.rows.forget()
        self._names.rest(self.recorder.trace.nodes)

    def look(self, roots: Roots) -> Found:
        """Walk the namespace and give what is found its names; to be followed by ``release``."""
        found = walk(roots, Interest())
        rows, known = self.rows, names.Names()
        rows.forget()
        kinds = reading.kinds()
        for holding in found.holdings:
            thing = holding.thing
            if isinstance(thing, kinds):
                serial_number = tensor_id(thing)
                known.add(serial_number, holding.link)
                rows.arrays.setdefault(reading.array_id(reading.array(thing)), thing)
                rows.tensors.setdefault(serial_number, thing)
        rows.names = self._names = known
        self.cells.follow(self.recorder.trace.cells)
        rows.bindings = self.cells.bindings
        bumps = [event for event in self.ledger.events if event.kind == "bump"]
        rows.bumps = {event.serial: event for event in bumps}
        return found

    def _held_through(self):
        """The name through whose graph each operation is alive."""
        found = ((key, node_of(tensor)) for key, tensor in self.rows.tensors.items())
        tops = nlargest(
            TOPS, ((key, node) for key, node in found if node is not None), itemgetter(0)
        )
        starts = []
        for key, node in tops:
            ranked = [(names.rank(*one), one[1], node) for one in self._names.of(key)]
            starts.append(min(ranked, key=itemgetter(0)))
        starts.sort(key=itemgetter(0))
        return details.held_through([item[1:] for item in starts], HELD)

    def _show_final(self, found: Found):
        """Choose the final graph of the cell and make the trace show it."""
        trace, picture = self.recorder.trace, self.picture
        start, self._cell_start = self._cell_start, serial()
        tops = self._tops(found, start)
        swept = any(sweep.serial > start for sweep in self.ledger.sweeps)
        if tops:
            nodes, leaves = newest(tops, SHOWN)
            picture.show(nodes, leaves)
            trace.total = max(_size(tops, nodes, leaves), len(trace.nodes))
        elif swept and picture.glanced_since(start):
            alive = picture.show_glimpse()
            trace.total = len(trace.nodes) + _beyond(alive, trace.nodes)
        else:
            picture.refresh()
            if self._fresh_cell is (trace.cells[-1] if trace.cells else None):
                trace.total = len(trace.nodes)  # those of this cell, not of an earlier picture
        self._show(*ghosts.cuts(self.watcher, self.places, trace.nodes))
        picture.rest()
        trace.note = CUT_SHORT if len(trace.nodes) < trace.total else ""

    def _show_failed(self, error, facts):
        """The operation that raised, beside the graph that the cell left; not of a failed sweep."""
        if not facts.chain or facts.sweep:
            return
        for tensor in ghosts.operands(error, facts.chain[0]):
            if tensor_id(tensor) not in self.recorder.trace.nodes:
                self.enter(tensor)
        rows, edges = ghosts.failed(error, facts.chain[0], self.recorder.trace.nodes)
        self._show(rows, edges)
        facts.nodes += [row.id for row in rows]

    def _show(self, rows, edges):
        for row in rows:
            self.picture.put(row)
        for edge in edges:
            if self.recorder.trace.edges.get((edge.target, edge.slot)) != edge:
                self.recorder.put_edge(edge)

    def _tops(self, found, start):
        """The newest live result that the cell made or swept, the results it gave a name, and
        gradients with a graph of their own: behind them lies its final graph.
        """
        made, named, second, kinds = [], [], [], reading.kinds()
        for holding in found.holdings:
            if not isinstance(holding.thing, kinds):
                continue
            node = node_of(holding.thing)
            if node is None or node.seq <= start:
                continue
            if holding.link.kind == "grad":
                second.append(node)
            else:
                made.append(node)
                if holding.path.isidentifier() and not holding.path.startswith("_"):
                    named.append(node)
        sweeps = [sweep for sweep in self.ledger.sweeps if sweep.serial > start]
        swept = [ref() for sweep in sweeps for ref in sweep.root_refs]
        alive = [node for node in swept if node is not None and not reading.is_tensor(node)]
        last = sorted([*made, *alive[-1:]], key=lambda node: node.seq)[-1:]
        return [*second[-NAMED:], *named[-NAMED:], *last]

    def _describe(self):
        """Details of what is in view, newest first, as far as the time allows; the others are made
        when somebody asks.
        """
        self._tensors = {key: weakref.ref(tensor) for key, tensor in self.rows.tensors.items()}
        self._memories = {}
        in_view = self.recorder.trace.nodes
        for key, tensor in self.rows.tensors.items() if in_view else ():
            if key not in in_view:
                continue
            self._memories.setdefault(reading.storage_id(tensor), []).append(key)
        if self.watcher.flow is not None:
            self.picture.put_norms(self.watcher.flow.norms)
        until = time.perf_counter() + DETAIL_SECONDS
        old = dict(self.recorder.trace.details)
        for key in sorted(self.recorder.trace.nodes, reverse=True):
            if time.perf_counter() > until:
                break
            detail = self._detail(key)
            if detail is not None and old.pop(key, None) != detail:
                self.recorder.put_detail(detail)
        self.recorder.drop_details(key for key in old if self._is_alive(key))

    def _is_alive(self, key):
        ref = self.picture.live.get(key)
        return ref is not None and ref() is not None

    def _detail(self, key) -> Detail | None:
        live, tensor = self.picture.live.get(key), self._tensors.get(key)
        thing, made = live() if live else None, tensor() if tensor else None
        paths, result = self._names.of(key), self.rows.results.get(key)
        found = details.detail(key, thing, made, paths, result)
        if found is None:
            return None
        if not found.holders and key in self._through:
            found.holders = [self._through[key]]
        found.shares = self._sharing(key, made if made is not None else thing)
        found.changes = self._changes(made if made is not None else thing)
        found.added = self._added(key) if found.grad is not None else []
        return found

    def _sharing(self, key, tensor):
        """What in view lies in the memory of ``tensor``."""
        if not reading.is_tensor(tensor):
            return []
        others = self._memories.get(reading.storage_id(tensor), ())
        return [id for id in others if id != key and id in self.recorder.trace.nodes][:SHARES]

    def _changes(self, tensor):
        """The lines that changed the memory of ``tensor`` in place."""
        version = reading.version(tensor) if reading.is_tensor(tensor) else 0
        memory = reading.storage_id(tensor) if version else 0
        bumps = [e for e in self.ledger.events if e.kind == "bump" and e.memory == memory]
        bumps, found = bumps[-min(version, CHANGES) :] if version else [], []
        for number, event in enumerate(bumps, version - len(bumps) + 1):
            chain = self.places.chain(event.note)
            found.append(Change(number, chain[0] if chain else None))
        return found

    def _added(self, id):
        """The lines whose sweeps added to the gradient of a leaf since it was last cleared."""
        leaf = self.ledger.leaves.get(id)
        known = leaf is not None and not leaf.zeroed
        numbers = {sweep for sweep, _ in leaf.run} if known else ()
        counts: dict = {}
        for sweep in self.ledger.sweeps if numbers else ():
            if sweep.number in numbers:
                counts[sweep.note] = counts.get(sweep.note, 0) + 1
        chains = ((self.places.chain(note), count) for note, count in counts.items())
        return [Added(count, chain[0]) for chain, count in chains if chain]

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

    def attempt(self, asked: dict, more=()) -> dict:
        """Run a node, or the graph of a leaf, once more on copies: what a page asks for with
        ``try``. ``more``: nodes and leaves by id beside those in view.
        """
        if self.recorder.trace.state == "running":
            return {"what": asked.get("what"), "id": int(asked["id"]), "why": "busy"}
        things = {
            id: thing for id, ref in self.picture.live.items() if (thing := ref()) is not None
        }
        things.update(more)
        return replay.tried(asked, things, replay.Copies(self._array_of, self.watcher.inputs))

    def weigh(self, id: int, more=()) -> dict | None:
        """``nodes`` and ``bytes`` of saved tensors that node ``id`` keeps alive; None of what is no
        node, and while a cell is running. ``more``: nodes by id beside those in view.
        """
        ref = self.picture.live.get(id)
        node = dict(more).get(id, ref() if ref else None)
        if self.recorder.trace.state == "running" or not is_node(node):
            return None
        nodes = reach([node]).nodes
        return {"nodes": len(nodes), "bytes": saved_bytes(nodes.values())}

    def creators(self, nodes) -> list:
        """The nodes that live and whose backward recorded some of ``nodes`` (by serial)."""
        births = self.watcher.births
        ids = {id for seq in nodes if (id := births.creator(seq)) is not None}
        found = (ref() for id in ids if (ref := self.picture.live.get(id)) is not None)
        return [node for node in found if is_node(node)]

    def _array_of(self, id):
        """The array of the result of node ``id`` where its tensor lives as it was made."""
        tensor = ref() if (ref := self._tensors.get(id)) is not None else None
        node = None if tensor is None else reading.node_of(tensor)
        return reading.array(tensor) if node is not None and node.seq == id else None

    def arrays(self):
        """(id, value, gradient) of the tensors in view that still live, newest first; host arrays,
        None for what is not there.
        """
        for id in sorted(self.recorder.trace.nodes, reverse=True):
            tensor = ref() if (ref := self._tensors.get(id)) is not None else None
            if tensor is not None:
                grad = reading.grad(tensor)
                both = (None if t is None else reading.value(t) for t in (tensor, grad))
                yield id, *(a if isinstance(a, np.ndarray) else None for a in both)

    def enter(self, tensor) -> int:
        """Put the graph of ``tensor`` beside what is in view; the id of its node."""
        with self._lock, self.recorder.lock:
            node = node_of(tensor)
            if node is None:
                key = self.picture.add_leaf(tensor)
            else:
                key = node.seq
                self.picture.show_beside(*newest([node], SHOWN))
            self._tensors[key] = weakref.ref(tensor)
            return key

    # -- accounts --------------------------------------------------------------------
    def _weigh(self, found: Found):
        """Bytes by kind after the cell."""
        cells = self.recorder.trace.cells
        if cells:
            cells[-1].bytes = brief(found, self.ledger.kept_roots(), WEIGHED) | {"kept": 0}

    def _account(self, started):
        """The observer's own time and (estimated) memory."""
        ledger, weak = self.ledger, len(self.watcher.ring) + len(self.picture.live) + len(self.born)
        records = len(ledger.events) + len(ledger.sweeps) + len(ledger.leaves)
        self.spent += time.perf_counter() - started
        overhead = {"ms": round(self.spent * 1e3, 3), "bytes": 120 * weak + 600 * records}
        self.recorder.trace.overhead = overhead


def _size(tops, nodes, leaves):
    """How many nodes and leaves the whole graph has."""
    if len(nodes) < SHOWN:
        return len(nodes) + len(leaves)
    everything = reach(tops)
    return len(everything.nodes) + len(everything.leaves)


def _beyond(tops, shown):
    """How many nodes and leaves that ``tops`` hold are not shown."""
    everything = reach(tops)
    return sum(id not in shown for found in (everything.nodes, everything.leaves) for id in found)
