"""The observer at the engine's door. What runs for each operation is at the top and does next to
nothing.

Nothing here raises into the program: an error of ours is counted, and after a few watching stops.
Nothing here keeps a tensor or a node: code objects, serial numbers and weak references only.
"""

from __future__ import annotations

import functools
import gc
import itertools
import sys
import types
import weakref
from collections import deque

from gradviz.backend import ndarray
from gradviz.engine import events
from gradviz.engine.modes import is_recording
from gradviz.engine.node import LEAF, serial
from gradviz.watch.ledger import Ledger
from gradviz.watch.places import Files, outer_chain, user_chain

from . import reading, torch_tensors
from .births import Births
from .flow import Flow
from .past import Past
from .reading import memory
from .strays import GradLoop, HookCycle, hook_cycle
from .updates import Updates
from .values import length

INPUTS = 5_000
RING = 65_536
ERRORS_KEPT = 50
SITES = 50_000
CUTS = 5_000
HOOKS = 2_000
RESULTS = 50
SHIFT = 24
BELOW = 4
FAR, LOOKS = 200, 3
EDITED, EDITS = 5_000, 20
FED, FED_NOTES = 500, 10
MOVES = 500
MASK = (1 << SHIFT) - 1
LOOKED_THROUGH = 100_000
CYCLIC = ("tensor", "pre", "post")

_frame = sys._getframe
_ref = weakref.ref
_site_numbers = itertools.count(1)  # never twice in a process: nodes outlive their watcher


def make_room(table, most):
    """Half of a full ``table`` goes at once, oldest first: to find the oldest one takes long."""
    if len(table) >= most:
        for key in list(itertools.islice(table, most // 2)):
            del table[key]


def quiet(method):
    """``method`` that counts its own failure instead of raising it into the program."""

    @functools.wraps(method)
    def call(self, *arguments):
        try:
            return method(self, *arguments)
        except Exception as error:
            if len(self.errors) < ERRORS_KEPT:
                self.errors.append(f"{method.__name__}: {type(error).__name__}: {error}")
            return None

    return call


class Watcher(events.Observer):
    """Notes where each operation was written; keeps the ledger of everything rarer."""

    def __init__(self):
        self.files = Files()
        self._sites: dict[int, tuple] = {}
        self._numbers: dict[tuple, int] = {}
        self._site: tuple = (None, 0, 0, 0)
        self.ring: deque = deque(maxlen=RING)
        self._append = self.ring.append
        self.ledger = Ledger()
        self.errors: list[str] = []
        self.cuts: dict[tuple, Cut] = {}
        self.hooks: deque[HookRecord] = deque(maxlen=HOOKS)
        self._by_number: dict[int, HookRecord] = {}
        self.cycles: deque[HookCycle] = deque(maxlen=500)
        self.unsettled: deque[HookRecord] = deque(maxlen=200)
        self.loops: deque[GradLoop] = deque(maxlen=200)
        self.collecting = False
        self.flow = Flow()
        self.inputs: dict[int, tuple] = {}
        self.written: dict[int, tuple] = {}
        self.hooked: dict[int, list] = {}
        self.contexts: deque[tuple[int, str]] = deque(maxlen=500)
        self.edits: deque = deque(maxlen=EDITS)
        self.moves: dict[tuple, Move] = {}
        self.fed: dict[tuple[str, str], deque[int]] = {}
        self.past = Past()
        self.births = Births()
        self.updates = Updates()
        self.on_sweep = None
        self._grads: dict[int, int] = {}

    # -- every operation -------------------------------------------------------
    def operation(self, output, inputs):
        """Leave the person's line on the node and a weak reference to it in the ring.

        The note is one integer (objects that the collector must visit would cost more than all the
        rest): the number of the call site in ``_sites`` and the instruction.
        """
        node = output._edge if output.__class__ is not tuple else self._node_of_many(output)
        frame = _frame(2)
        code, outside, at, base = self._site
        try:
            if frame.f_code is not code:
                frame = self._person(frame)
            if frame.f_code is code and (
                outside is None or (id(frame.f_back) == outside and frame.f_back.f_lasti == at)
            ):
                node.note = base + frame.f_lasti
            else:
                node.note = self._enter(frame, frame.f_back) + frame.f_lasti
        except AttributeError:
            if frame is not None and frame.f_back is None and node is not None:
                node.note = self._enter(frame, None) + frame.f_lasti  # a plain script's own lines
        self._append(_ref(node))
        for x in node.e:
            if x is None:
                self._note_inputs(node, inputs)
                break

    def _node_of_many(self, outputs):
        """The node of several outputs, of which some may be untracked."""
        node = _node_of_many(outputs)
        if node.op is None:
            self.note_context(node, outputs)
        return node

    @quiet
    def note_context(self, node, outputs):
        """Remember the attributes of a ctx that are outputs of its own function: a cycle, which
        a collection may free before anybody looks.
        """
        for name, value in reading.context_items(node):
            if any(value is output for output in outputs):
                self.contexts.append((node.seq, name))

    def _note_inputs(self, node, inputs):
        """Remember, weakly, what came into ``node`` without a gradient to flow back."""
        found = None
        for slot, x in enumerate(node.e):
            if x is None:
                tensor = inputs[slot]
                if tensor is None:
                    continue
                array = tensor._a
                if array.ndim or array.flags.writeable:
                    seen = (slot, _ref(tensor), array.shape, array.dtype)
                    found = (seen,) if found is None else (*found, seen)
        if found is not None:
            make_room(self.inputs, INPUTS)
            self.inputs[node.seq] = found

    def _person(self, frame):
        """The innermost frame of the person's, from ``frame`` outwards; None when there is none."""
        mine, foreign = self.files.mine, self.files.foreign
        while frame is not None:
            name = frame.f_code.co_filename
            if name not in foreign and (name in mine or self.files.is_mine(name)):
                return frame
            frame = frame.f_back
        return None

    def note_at(self, frame) -> int:
        """The note of the person's line that runs in ``frame`` or outside it; 0 for none."""
        frame = self._person(frame)
        if frame is None:
            return 0
        code, outside, at, base = self._site
        back = frame.f_back
        if frame.f_code is code and (
            outside is None or (id(back) == outside and back.f_lasti == at)
        ):
            return base + frame.f_lasti
        return self._enter(frame, back) + frame.f_lasti

    def _enter(self, frame, back):
        """The number of a call site, shifted for the instruction; a new one when it was not met
        before.
        """
        code = frame.f_code
        outer = () if code.co_name == "<module>" else outer_chain(back, self.files)
        key = id(code), tuple(id(x) if i % 2 == 0 else x for i, x in enumerate(outer))
        number = self._numbers.get(key)
        if number is None:
            if len(self._sites) >= SITES:
                return 0
            number = self._numbers[key] = next(_site_numbers)
            self._sites[number] = code, outer
        if code.co_name == "<module>":
            self._site = code, None, 0, number << SHIFT
        elif back is not None:
            self._site = code, id(back), back.f_lasti, number << SHIFT
        return number << SHIFT

    def note(self, node) -> tuple:
        """``(code, instruction, outer)`` of a node, ``()`` when it is not known where
        it was made, as of nodes that an earlier watcher saw. That of a view's base gets its serial
        just after the change in place.
        """
        note = getattr(node, "note", None)
        if note is None and reading.class_name(node) == "CopySlices":
            return self.written.get(node.seq, ())
        return self.site(note or 0)

    def site(self, note: int) -> tuple:
        """The same of a node's ``note``."""
        site = self._sites.get(note >> SHIFT) if note else None
        return (site[0], note & MASK, site[1]) if site is not None else ()

    def codes(self) -> list:
        """Every code object in which an operation was recorded, once."""
        return list({id(code): code for code, _ in self._sites.values()}.values())

    # -- paths that end ----------------------------------------------------------
    @quiet
    def cut(self, source, result, how):
        """Count where values leave the graph, and which of the leaves and nodes they came from."""
        self.cut_at(*user_chain(_frame(2), self.files), source, result, how)

    def cut_at(self, note, entry, source, result, how):
        """The same, for a place that is known."""
        key = note[:2], how, entry
        found = self.cuts.get(key)
        if found is None:
            if len(self.cuts) >= CUTS:
                del self.cuts[next(iter(self.cuts))]
            found = self.cuts[key] = Cut(how, note, entry)
        found.seen(source, result, self.ledger.tick())
        if how == "data" and found.count <= EDITS:
            self.edits.append((found, serial(), reading.storage_id(source)))

    def look_back(self, roots):
        """What has happened to weights and values since the last backward pass."""
        self.updates.compare()
        for root in roots:
            self._look_below(root)
            self.past.note(root)
        if self.edits:
            self._look_for_edits(roots)

    def _look_below(self, root):
        """Which operation feeds which in a loss: by (class, class of its input) the newest notes.
        The nodes may be gone when anybody asks.
        """
        node = root if hasattr(root, "seq") else None
        for _ in range(BELOW):
            inputs = reading.inputs(node) if node is not None else ()
            below = next((x[0] for x in inputs if x.__class__ is tuple), None)
            note = getattr(node, "note", None)
            if below is not None and note and len(self.fed) < FED:
                pair = reading.class_name(node), reading.class_name(below)
                notes = self.fed.setdefault(pair, deque(maxlen=FED_NOTES))
                if note not in notes:
                    notes.append(note)
            node = below

    def _look_for_edits(self, roots):
        """Which of the values that were taken by ``.data`` a node had saved before: what is changed
        there changes the gradient, and autograd cannot notice.
        """
        nodes, _, _ = reading.walk([root for root in roots if hasattr(root, "seq")], EDITED)
        saved: dict[int, int] = {}
        for seq, node in nodes.items():
            for name, array, *_ in reading.saved(node):
                if array is not None and not _is_idle(node, name):
                    place = memory(array)[0]
                    saved[place] = min(seq, saved.get(place, seq))
        for found, edited, place in self.edits:
            found.stale |= saved.get(place, edited + 1) <= edited
        self.edits.clear()

    @quiet
    def moved(self, source, result):
        """Count what goes from device to device, by line."""
        note, _ = user_chain(_frame(2), self.files)
        key = note[:2], str(source.device), str(result.device)
        found = self.moves.get(key)
        if found is None:
            if len(self.moves) >= MOVES:
                del self.moves[next(iter(self.moves))]
            found = self.moves[key] = Move(note, *key[1:])
        found.count += 1
        found.bytes += result._a.nbytes

    # -- sweeps --------------------------------------------------------------------
    @quiet
    def backward_started(self, sweep):
        """Open a sweep in the ledger."""
        self.settle_hooks()
        note, entry = user_chain(_frame(2), self.files)
        roots = [_owner(edge) for edge in sweep.roots]
        self.look_back(roots)
        ids = tuple(node_id(root) for root in roots)
        refs = tuple(_ref(root) for root in roots)
        ops = tuple(type(root).__name__ for root in roots)
        made = sweep.captured is None
        self.ledger.begin_sweep(
            serial(),
            note,
            entry,
            bool(sweep.keep_graph),
            bool(sweep.create_graph),
            ids,
            ops,
            refs,
            made,
        )
        self.steps = self.flow.begin()
        if self.on_sweep is not None:
            self.on_sweep(roots)

    def node_entered(self, sweep, node, grads):
        """What is recorded from here on is the backward of ``node``."""
        if sweep.create_graph:
            self.births.entered(sweep, serial())

    @quiet
    def node_left(self, sweep, node, grads):
        """``node`` has sent its gradients on, in a sweep that is measured."""
        if sweep.create_graph:
            self.births.left(sweep, node.seq, serial())
        self.flow.left(node, grads)

    @quiet
    def accumulated(self, sweep, leaf, grad):
        """Enter the gradient in the account of the leaf."""
        held = leaf._grad
        if held is None:
            return
        key = events.leaf_id(held)
        fresh = key not in self._grads and not _continues(held, sweep)
        if sweep.create_graph and held._g is not None:
            self.note_loop(leaf)
        id = node_id(leaf._g) if not _is_leaf(leaf) else events.leaf_id(leaf)
        if len(self._grads) > 50_000:
            self._grads.clear()
        self._grads[key] = id
        self.ledger.accumulated(id, fresh)
        if self.steps and _is_leaf(leaf):
            self.updates.sample(leaf)

    def note_loop(self, leaf):
        """A gradient with a graph closes a loop through its leaf; the collector's work is watched
        from now on.
        """
        if not any(loop.leaf() is leaf for loop in self.loops):
            current = self.ledger.current
            self.loops.append(GradLoop(leaf, current.note if current is not None else (), self))
        if self._on_collection not in gc.callbacks:
            gc.callbacks.append(self._on_collection)

    def _on_collection(self, phase, info):
        self.collecting = phase == "start"

    def rest(self):
        """Leave nothing of ours behind in the collector."""
        if self._on_collection in gc.callbacks:
            gc.callbacks.remove(self._on_collection)

    @quiet
    def backward_finished(self, sweep):
        """Close the sweep."""
        self.ledger.end_sweep()
        self.past.measured(self.flow.norms)

    @quiet
    def backward_failed(self, sweep, error):
        """Close the sweep with its error."""
        self.ledger.end_sweep(error)

    # -- changes in place --------------------------------------------------------------
    @quiet
    def version_bumped(self, tensor):
        """A value changed in place: a leaf's, a gradient's, a buffer's."""
        note, entry = user_chain(_frame(2), self.files)
        recorded = entry != "setitem" and is_recording()
        before = getattr(events.node_of(tensor), "seq", 0) if recorded else 0
        owner = self._grads.get(events.leaf_id(tensor))
        event = self.changed_at(note, entry, tensor, before, owner)
        if is_recording():
            make_room(self.written, INPUTS)
            self.written[event.serial + 1] = note

    def changed_at(self, note, entry, tensor, before=0, owner=None):
        """The same, for a place that is known. ``before``: the serial of the node that made
        ``tensor``, when another is recorded for the change; ``owner``: the leaf whose gradient it
        is. Gives the event.
        """
        id, memory = reading.leaf_id(tensor), reading.storage_id(tensor)
        event = self.ledger.add("bump", id, note, entry, serial(), _ref(tensor), memory, before)
        if owner is not None:
            self.ledger.grad_changed(owner, event, _is_zero(reading.value(tensor)))
        elif reading.is_leaf(tensor):
            self.ledger.changed(event)
        return event

    def stepped(self, note, entry, leaves):
        """A step of an optimizer of PyTorch changed ``leaves``."""
        for leaf in leaves:
            memory = torch_tensors.storage_id(leaf)
            id, ref = torch_tensors.leaf_id(leaf), _ref(leaf)
            event = self.ledger.add("bump", id, note, entry, serial(), ref, memory)
            self.ledger.changed(event)

    # -- requests ------------------------------------------------------------------
    @quiet
    def retain_grad(self, tensor):
        """Somebody wants the gradient of an intermediate result."""
        note, entry = user_chain(_frame(2), self.files)
        self.ledger.add("retain", node_id(tensor._g), note, entry)

    @quiet
    def hook_added(self, target, kind, hook, number):
        """A hook was put on a tensor, a node or a module."""
        note, _ = user_chain(_frame(2), self.files)
        self.hooked_at(note, target, kind, hook, number)

    def hooked_at(self, note, target, kind, hook, number, handle=None):
        """The same, for a place that is known. ``handle``: what PyTorch gave for taking it off."""
        found = HookRecord(
            kind,
            note,
            weak(target),
            weak(hook),
            hook_name(hook),
            self.ledger.tick(),
            number,
            handle,
        )
        if len(self.hooks) == HOOKS:
            self._by_number.pop(self.hooks[0].number, None)
        self.hooks.append(found)
        self._by_number[number] = found
        if kind in CYCLIC:
            self._look_for_cycle(found, target, hook)

    @quiet
    def hook_called(self, number, given, told):
        """It was called; where it gave another gradient, the norms of both are kept."""
        record = self._by_number.get(number)
        if record is None:
            return
        record.calls += 1
        if told is not None:
            record.norms = length(given[0]), length(told)

    @quiet
    def module_called(self, module, result):
        """Remember which node is what a module with hooks gave."""
        for one in result if isinstance(result, (tuple, list)) else (result,):
            node = reading.node_of(one) if reading.is_tensor(one) else None
            if node is not None:
                make_room(self.hooked, HOOKS)
                self.hooked.setdefault(node.seq, []).append(weak(module))

    def hook(self, number, hook) -> HookRecord | None:
        """What is known of a hook whose handle has this id (PyTorch counts its own handles)."""
        record = self._by_number.get(number)
        return record if record is not None and record.hook() == hook else None

    def _look_for_cycle(self, record, target, hook):
        cycle = hook_cycle(record, target, hook)
        if cycle is not None:
            self.cycles.append(cycle)
        elif getattr(hook, "__closure__", None):
            self.unsettled.append(record)

    def settle_hooks(self):
        """Look again at hooks whose closure was filled after they were registered."""
        if not self.unsettled:
            return
        waiting = list(self.unsettled)
        self.unsettled.clear()
        for record in waiting:
            target, hook = record.target(), record.hook()
            if target is not None and hook is not None and not record.removed:
                cycle = hook_cycle(record, target, hook)
                if cycle is not None:
                    self.cycles.append(cycle)

    @quiet
    def hook_removed(self, target, kind, hook):
        """It was taken away again."""
        for found in self.hooks:
            if found.kind == kind and found.hook() is hook:
                found.removed = True
                return


class Cut:
    """One line where values leave the graph. ``sources``: serials of the leaves and nodes they came
    from; ``below``: of the nodes that these were computed from alone; ``far``: of the leaves behind
    them, seen the first few times. ``stale``: by ``.data``, of what a graph had saved that a later
    backward went through.
    """

    __slots__ = (
        "below",
        "count",
        "entry",
        "far",
        "first",
        "how",
        "last",
        "leaves",
        "note",
        "results",
        "serial",
        "sources",
        "stale",
    )

    def __init__(self, how, note, entry):
        self.how, self.note, self.entry = how, note, entry
        self.sources: set[int] = set()
        self.below: set[int] = set()
        self.leaves: set[int] = set()
        self.far: set[int] = set()
        self.stale = False
        self.results: list[weakref.ref] = []  # an empty deque takes ten times the room
        self.count, self.first, self.last, self.serial = 0, 0, 0, 0

    def seen(self, source, result, order):
        """Once more, at ``order``."""
        self.count += 1
        self.first = self.first or order
        self.last, self.serial = order, serial()
        for tensor in source if isinstance(source, tuple | list) else (source,):
            if not reading.is_tensor(tensor) or len(self.sources) > 2_000:
                continue
            serials = reading.serials(tensor, BELOW)
            if serials:
                self.sources.add(serials[0])
                self.below.update(serials[1:])
                if self.count <= LOOKS:
                    self.far.update(reading.walk([reading.node_of(tensor)], FAR)[1])
            elif reading.is_leaf(tensor) and len(self.leaves) < 2_000:
                self.leaves.add(reading.leaf_id(tensor))
        if reading.is_tensor(result):
            del self.results[: 1 - RESULTS]
            self.results.append(_ref(result))


class Move:
    """One line that copies from one device to another: how often, how many bytes."""

    __slots__ = ("bytes", "count", "note", "source", "target")

    def __init__(self, note, source, target):
        self.note, self.source, self.target = note, source, target
        self.count = self.bytes = 0


class HookRecord:
    """A hook that was registered: ``target`` and ``hook`` weakly. ``norms``: of the gradient that
    it last replaced, before and after.
    """

    __slots__ = (
        "_handle", "_removed", "calls", "hook", "kind", "name", "norms", "note", "number", "order",
        "target",
    )  # fmt: skip

    def __init__(self, kind, note, target, hook, name, order, number, handle=None):
        self.kind, self.note, self.target, self.hook = kind, note, target, hook
        self.name, self.order, self._removed, self.number = name, order, False, number
        self.calls, self.norms, self._handle = 0, (None, None), handle

    @property
    def counted(self) -> bool:
        """Whether its calls are: PyTorch does not tell of them."""
        return self._handle is None

    @property
    def removed(self) -> bool:
        """Whether it was taken off again."""
        if self._handle is not None:
            table = self._handle.hooks_dict_ref()
            self._removed = table is None or self._handle.id not in table
        return self._removed

    @removed.setter
    def removed(self, value):
        self._removed = value


def hook_name(hook) -> str:
    """How a person would call the hook."""
    inner = getattr(hook, "func", hook)
    return getattr(inner, "__qualname__", None) or type(inner).__name__


def weak(thing):
    """A weak reference, to a bound method too; a function that says None where none can be had."""
    try:
        return (weakref.WeakMethod if isinstance(thing, types.MethodType) else reading.weak)(thing)
    except TypeError:
        return _nothing


def _nothing():
    return None


def _node_of_many(outputs):
    for output in outputs:
        edge = output._g
        if edge is not None:
            return _owner(edge)
    return None


def _owner(edge):
    """The node (or leaf) of an edge."""
    return edge.node if edge._kind == 1 else edge


def node_id(edge) -> int:
    """The serial of the node or leaf that ``edge`` leads to."""
    edge = _owner(edge)
    return edge.seq if edge._kind == 0 else events.leaf_id(edge)


def _is_zero(array):
    """A small array of zeros; large ones, and those on a GPU, are not looked through."""
    return isinstance(array, ndarray) and array.size <= LOOKED_THROUGH and not array.any()


def _is_leaf(tensor):
    return events.edge(tensor) is LEAF


def _continues(grad, sweep):
    """With create_graph a gradient grows out of place: true when ``grad`` is a sum with an older
    gradient.
    """
    edge = grad._g
    return bool(sweep.create_graph and edge is not None and type(edge).__name__ == "AddBackward0")


def _is_idle(node, name):
    """What was saved and is no part of its own gradient: a bias (its gradient is a plain sum), and
    a weight when the input, whose gradient alone needs it, wants none.
    """
    return name == "bias" or (name == "weight" and reading.inputs(node)[0] is None)
