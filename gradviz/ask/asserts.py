"""Assertions for notebooks and tests; they fail with the words of the answers."""

from __future__ import annotations

from gradviz.sources import reading
from gradviz.sources.graph import reach
from gradviz.sources.reading import node_of
from gradviz.texts import text

from .explain import explain
from .leaks import leaks_at
from .moment import asking, now


def assert_no_leak():
    """Fail with AssertionError when something keeps a graph that nobody needs.

    RuntimeError where nobody watches: load the extension, or use ``with gradviz.watching():``.
    """
    moment = now(asking())
    if not moment.watched:
        raise RuntimeError(text("ask.leaks.unwatched"))
    found = leaks_at(moment)
    if found:
        raise AssertionError("\n" + found.text)


def assert_grad_flows(source, target):
    """Fail with AssertionError unless a backward from ``target`` would reach ``source``.

    Both are tensors; ``source`` may be a leaf or a result. TypeError for anything else.
    """
    for tensor in (source, target):
        if not reading.is_tensor(tensor):
            raise TypeError(text("ask.needs_tensor", type=type(tensor).__name__))
    if source is target or _reaches(source, target):
        return
    if reading.edge(source) is None:
        raise AssertionError(text("ask.flows.source_untracked"))
    if node_of(target) is None:
        raise AssertionError(text("ask.flows.target_without_graph") + "\n" + explain(target).text)
    raise AssertionError(text("ask.flows.no_way"))


def _reaches(source, target):
    top, wanted = node_of(target), node_of(source)
    if top is None:
        return False
    found = reach([top])
    if wanted is not None:
        return wanted.seq in found.nodes
    return reading.edge(source) is not None and reading.leaf_id(source) in found.leaves


def assert_graph_size_below(limit: int, tensor=None):
    """Fail with AssertionError when a graph has ``limit`` operations or more.

    ``tensor``: whose graph; default: everything that the asking code can reach. TypeError for
    anything but a tensor.
    """
    if tensor is not None and not reading.is_tensor(tensor):
        raise TypeError(text("ask.needs_tensor", type=type(tensor).__name__))
    size = _size(tensor, limit) if tensor is not None else _size_of_all(limit)
    if size >= limit:
        raise AssertionError(text("ask.size", size=size, limit=limit))


def _size(tensor, limit):
    node = node_of(tensor)
    return len(reach([node], max(limit + 1, 200_000)).nodes) if node is not None else 0


def _size_of_all(limit):
    moment = now(asking())
    case = moment.source.case(moment.roots)
    tops = {held.facts.id for held in case.held if held.facts.attached}
    return len(case.graph.weigh(tops, max(limit + 1, 200_000)).nodes) if tops else 0
