"""Cycles through the graph: hooks and contexts that hold what holds them, objects that hold
themselves.
"""

from __future__ import annotations

import gc
import time
import types
import weakref
from dataclasses import dataclass, field

from gradviz.watch.places import is_persons

from . import reading
from .graph import reach, saved_bytes
from .reading import context_items, node_of

NEAR = 3_000
MANY = 60
SLOW = 0.2


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
    """An object nobody reaches, held by a function that it holds. ``name``: its attribute with a
    graph; ``via``: the one with the function.
    """

    owner: str
    name: str
    via: str
    code: types.CodeType
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


def object_cycles(born, reached) -> list[ObjectCycle]:
    """Objects of the person's classes that hold live nodes outside ``reached`` and are in a cycle
    with a function.
    """
    lost = [node for ref in born if (node := ref()) is not None and node.seq not in reached]
    if not lost:
        return []
    started = time.perf_counter()
    tensors = [t for t in gc.get_referrers(*lost[-MANY:]) if reading.is_tensor(t)]
    if not tensors or time.perf_counter() - started > SLOW:
        return []
    holders = gc.get_referrers(*tensors[:MANY])  # an object itself, until its dict is asked for
    tables = [d for d in holders if type(d) is dict]
    if tables and time.perf_counter() - started < SLOW:
        holders += gc.get_referrers(*tables[:MANY])
    owners = {id(o): o for o in holders if is_persons(type(o))}.values()
    return [found for owner in owners if (found := _object_cycle(owner)) is not None]


def _object_cycle(owner):
    own = getattr(owner, "__dict__", {})
    found = [(via, _holds(value, owner)) for via, value in own.items()]
    codes = [(via, code) for via, code in found if code is not None]
    results = [
        (name, value)
        for name, value in own.items()
        if reading.is_tensor(value) and node_of(value) is not None
    ]
    if not codes or not results:
        return None
    name, tensor = results[0]
    return ObjectCycle(type(owner).__name__, name, *codes[0], [node_of(tensor).seq])


def _holds(value, owner):
    """The code of a function that closes over ``owner``, or of a bound method of it."""
    if isinstance(value, types.MethodType) and value.__self__ is owner:
        return value.__func__.__code__
    for cell in getattr(value, "__closure__", None) or ():
        try:
            if cell.cell_contents is owner:
                return value.__code__
        except ValueError:
            continue
    return None
