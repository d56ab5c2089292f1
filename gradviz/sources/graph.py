"""Walks over the nodes of a graph. Iterative, bounded, without side effects; results are for one
call only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from . import reading

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


def reach(starts, limit: int = LIMIT, stop=()) -> Reach:
    """Every node and leaf that ``starts`` (nodes) hold, themselves included. Nodes in ``stop`` are
    not entered.
    """
    return Reach(*reading.walk(starts, limit, stop))


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
        for source in reading.inputs(node):
            if source is None:
                continue
            if source.__class__ is tuple:
                if source[0].seq not in nodes:
                    heappush(heap, (-source[0].seq, id(source[0]), source[0]))
            else:
                leaves[reading.leaf_id(source)] = source
    return nodes, leaves


def saved_bytes(nodes, besides=()) -> int:
    """Bytes of the saved tensors of ``nodes`` that are still there, each storage once, those in
    ``besides`` not.
    """
    counted, total, met = set(besides), 0, set()
    for node in nodes:
        for array in reading.saved_arrays(node) or ():
            if id(array) in met:
                continue
            met.add(id(array))
            whole, size = reading.memory(array)
            if whole not in counted:
                counted.add(whole)
                total += size
    return total


def is_freed(node) -> bool:
    """True when ``node`` had saved tensors and they are gone."""
    return reading.keeps_saved(node) is False


def keeps_saved(node) -> bool:
    """True when ``node`` still has saved tensors."""
    return reading.keeps_saved(node) is True


def tensors_in(value):
    """``value`` if it is a tensor, or the tensors of a short list, tuple or dict."""
    if reading.is_tensor(value):
        return [value]
    items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return [item for item in items if reading.is_tensor(item)] if len(items) <= FEW else []
