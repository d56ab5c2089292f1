"""Cycles through the graph: hooks and contexts that hold what holds them, objects that hold
themselves.
"""

from __future__ import annotations

import gc
import time
import types
import weakref
from collections import deque
from dataclasses import dataclass, field

from gradviz.watch.links import Step, path_of
from gradviz.watch.places import is_persons
from gradviz.watch.referents import children, is_plain

from . import reading
from .graph import reach, saved_bytes
from .reading import context_items, node_of

NEAR = 3_000
LEVELS, WITHIN = 4, 400
CONTAINERS = (dict, list, tuple, set, deque, types.CellType)
MANY = 60
SLOW = 0.5


@dataclass(slots=True)
class HookCycle:
    """A hook whose closure holds a tensor computed from what the hook is on. ``name``: the
    closure's variable.
    """

    note: tuple
    name: str
    nodes: set[int] = field(default_factory=set)
    bytes: int = 0
    record: object = None


class GradLoop:
    """A leaf whose gradient got a graph: leaf -> gradient -> graph -> leaf. ``collected``: the
    collector had to free it.
    """

    __slots__ = ("collected", "leaf", "note")

    def __init__(self, leaf, note, watcher):
        self.note = note
        self.collected = False
        self.leaf = weakref.ref(leaf, lambda _: self._died(watcher))

    def _died(self, watcher):
        self.collected = watcher.collecting

    def closed(self, reached) -> bool:
        """True when the loop was left behind: collected as garbage, or alive and reached by no
        path.
        """
        leaf = self.leaf()
        if leaf is None:
            return self.collected
        grad = reading.grad(leaf)
        return (
            reading.leaf_id(leaf) not in reached and grad is not None and node_of(grad) is not None
        )


@dataclass(slots=True)
class ObjectCycle:
    """An object or function that nobody reaches and that holds itself. ``name``: how it holds a
    graph; ``via``: the attribute or captured name that leads back to it; ``code``: of the function
    on the way, if there is one.
    """

    owner: str
    name: str
    via: str
    code: types.CodeType | None
    nodes: list[int]


def hook_cycle(record, target, hook) -> HookCycle | None:
    """Whether ``hook``, put on ``target``, closes over a tensor of the graph above it."""
    node = target if hasattr(target, "seq") else node_of(target)
    code = getattr(hook, "__code__", None)
    if node is None or code is None:
        return None
    for name, cell in zip(code.co_freevars, hook.__closure__ or (), strict=False):
        for tensor in _tensors(cell):
            top = node_of(tensor)
            if top is None:
                continue
            found = reach([top], NEAR)
            if node.seq in found.nodes:
                return HookCycle(
                    record.note, name, set(found.nodes), saved_bytes(found.nodes.values()), record
                )
    return None


def _tensors(cell):
    try:
        value = cell.cell_contents
    except ValueError:
        return ()
    items = value if type(value) in (list, tuple) and len(value) <= MANY else (value,)
    return [item for item in items if reading.is_tensor(item)]


def context_cycles(nodes):
    """(node, attribute) of contexts that hold their own output, or something computed from it."""
    for node in nodes:
        for name, value in context_items(node):
            top = node_of(value) if reading.is_tensor(value) else None
            if top is not None and (top is node or node.seq in reach([top], NEAR).nodes):
                yield node, name


def object_cycles(born, reached, seconds, known) -> list[ObjectCycle]:
    """Objects of the person's classes, and functions, that hold live nodes outside ``reached`` and
    themselves; looked for at most so many ``seconds``. ``known``: serials of the nodes that were
    looked at before; grows.
    """
    lost = [node for ref in born if (node := ref()) is not None and node.seq not in reached]
    fresh = {node.seq for node in lost} - known
    if not fresh:
        return []
    known |= fresh
    until = time.perf_counter() + seconds
    tensors = reading.tensors_of(lost[-MANY:])
    found = (_object_cycle(owner) for owner in _owners(tensors[:MANY], until))
    return [cycle for cycle in found if cycle is not None]


def _owners(things, until):
    """The person's objects and functions that hold ``things``, also in containers."""
    owners: dict[int, object] = {}
    seen = {id(things)}
    for _ in range(LEVELS):
        if not things or time.perf_counter() > until:
            break
        holders = [h for h in gc.get_referrers(*things) if id(h) not in seen]
        seen.update(map(id, holders))
        seen.add(id(holders))
        owners |= {id(h): h for h in holders if is_function(h) or is_persons(type(h))}
        things = [h for h in holders if type(h) in CONTAINERS][:MANY]
    return list(owners.values())


def is_function(thing):
    """A function that captured something."""
    return isinstance(thing, types.FunctionType) and bool(thing.__closure__)


def _object_cycle(owner):
    """How ``owner`` holds itself, and a graph; None when it does not."""
    back = graph = None
    pending, seen = deque([(owner, (), None)]), {id(owner)}
    while pending and len(seen) < WITHIN and not (back and graph):
        thing, way, code = pending.popleft()
        if isinstance(thing, types.FunctionType):
            code = thing.__code__
        for kind, name, child in children(thing):
            path = (*way, Step(kind, name))
            if child is owner and kind != "class":
                back = back or (path, code)
            elif reading.is_tensor(child):
                graph = graph or (path, child) if node_of(child) is not None else graph
            elif id(child) not in seen and not is_plain(type(child)):
                seen.add(id(child))
                pending.append((child, path, code))
    if back is None or graph is None:
        return None
    (steps, code), (path, tensor) = back, graph
    name = owner.__name__ if is_function(owner) else type(owner).__name__
    whole = path_of((Step("name", name), *path))
    return ObjectCycle(name, whole, str(steps[0].name), code, [node_of(tensor).seq])
