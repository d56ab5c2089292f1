"""Walks over the engine's nodes. Iterative, bounded, without side effects; results are for one call
only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gradviz.engine import events
from gradviz.engine.node import Node
from gradviz.engine.tensor import Tensor

LIMIT = 200_000
FEW = 100


@dataclass(slots=True)
class Reach:
    """What hangs on some nodes: ``nodes`` and ``leaves`` by serial. ``complete`` is False at the
    bound.
    """

    nodes: dict = field(default_factory=dict)
    leaves: dict = field(default_factory=dict)
    complete: bool = True


node_of = events.node_of


def node_behind(thing):
    """The node that made a tensor, a node itself, None of anything else."""
    if isinstance(thing, Tensor):
        return node_of(thing)
    return thing if isinstance(thing, Node) else None


def reach(starts, limit: int = LIMIT, stop=()) -> Reach:
    """Every node and leaf that ``starts`` (nodes) hold, themselves included. Nodes in ``stop`` are
    not entered.
    """
    return Reach(*events.walk(starts, limit, stop))


def newest(starts, limit: int):
    """The ``limit`` newest nodes that ``starts`` hold, newest first, and the leaves they use."""
    from heapq import heappop, heappush

    heap, nodes, leaves = [], {}, {}
    for node in starts:
        heappush(heap, (-node.seq, id(node), node))
    while heap and len(nodes) < limit:
        _, _, node = heappop(heap)
        if node.seq in nodes:
            continue
        nodes[node.seq] = node
        for source in events.inputs(node):
            if source is None:
                continue
            if source.__class__ is tuple:
                if source[0].seq not in nodes:
                    heappush(heap, (-source[0].seq, id(source[0]), source[0]))
            else:
                leaves[events.leaf_id(source)] = source
    return nodes, leaves


def is_node(source) -> bool:
    """True for a node; false for a leaf tensor and for the array of an untracked input."""
    return hasattr(type(source), "seq")


def owner_of(array):
    """The array that owns the memory of ``array``."""
    while array.base is not None and hasattr(array.base, "nbytes") and hasattr(array.base, "dtype"):
        array = array.base
    return array


def address_of(array) -> int:
    """Where the first element lies; 0 for arrays of other devices."""
    described = getattr(array, "__array_interface__", None)
    return described["data"][0] if described else 0


def saved_bytes(nodes, besides=()) -> int:
    """Bytes of the saved tensors of ``nodes`` that are still there, each storage once, those in
    ``besides`` not.
    """
    counted, total, met = set(besides), 0, set()
    for node in nodes:
        for array in events.saved_arrays(node) or ():
            if id(array) in met:
                continue
            met.add(id(array))
            whole = owner_of(array)
            if id(whole) not in counted:
                counted.add(id(whole))
                total += whole.nbytes
    return total


def is_freed(node) -> bool:
    """True when ``node`` had saved tensors and they are gone."""
    return events.keeps_saved(node) is False


def keeps_saved(node) -> bool:
    """True when ``node`` still has saved tensors."""
    return events.keeps_saved(node) is True


def context_items(node):
    """Attributes that a person put on the ``ctx`` of a custom function: (name, value)."""
    for name, value in vars(node).items() if type(node).__dictoffset__ else ():
        if not name.startswith("_"):
            yield name, value


def tensors_in(value):
    """``value`` if it is a tensor, or the tensors of a short list, tuple or dict."""
    if isinstance(value, Tensor):
        return [value]
    items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return [item for item in items if isinstance(item, Tensor)] if len(items) <= FEW else []
