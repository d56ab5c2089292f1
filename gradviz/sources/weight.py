"""Bytes by kind: every storage that the program can reach, counted once, as what it is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gradviz.watch.holders import Found

from . import reading
from .graph import reach
from .reading import node_behind, node_of
from .rows import is_parameter

KINDS = ("parameters", "gradients", "retained", "optimizer", "saved", "kept_buffers", "others")
NODES = 200_000


@dataclass(slots=True)
class Weights:
    """``kinds``: bytes of each of ``KINDS``; ``modules``: path -> kind -> bytes, for modules that a
    name leads to, submodules included; what is saved belongs to the module whose parameter the
    operation uses, or else to that of what it was computed from; ``nodes``: how many operations
    saved something; ``complete``: nothing left out.
    """

    kinds: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    modules: dict[str, dict[str, int]] = field(default_factory=dict)
    nodes: int = 0
    complete: bool = True

    @property
    def total(self) -> int:
        """All of it."""
        return sum(self.kinds.values())


class Counter:
    """Counts storages, each under the first kind that claims it. ``saved``: serial of a leaf ->
    bytes that are saved for its operations and those after them.
    """

    def __init__(self):
        self.weights = Weights()
        self.saved: dict[int, int] = {}
        self._counted: dict[int, str] = {}

    def add(self, array, kind: str) -> int:
        """Bytes that ``array`` adds: those of its storage, if nobody claimed it before."""
        whole, size = reading.memory(array)
        if whole in self._counted:
            return 0
        self._counted[whole] = kind
        self.weights.kinds[kind] += size
        return size


def weigh(found: Found, swept: Iterable[int] = ()) -> Weights:
    """What a walk found, by kind. ``swept``: serials of roots whose graph a backward retained."""
    counter = Counter()
    tensors: dict[int, Any] = {id(h.thing): h for h in found.holdings if reading.is_tensor(h.thing)}
    _count_leaves(counter, tensors)
    _count_gradients(counter, [h.thing for h in tensors.values()])
    for holding in tensors.values():
        if _of_optimizer(holding.steps):
            counter.add(reading.array(holding.thing), "optimizer")
    _count_saved(counter, [h.thing for h in found.holdings], swept)
    for holding in found.holdings:
        thing = holding.thing
        if reading.is_tensor(thing):
            counter.add(reading.array(thing), "others")
        elif isinstance(thing, np.ndarray):
            counter.add(thing, "others")
    counter.weights.complete &= found.complete
    counter.weights.modules = _by_module(found.modules, counter.saved)
    return counter.weights


def brief(found: Found, swept: Iterable[int] = (), limit: int = NODES) -> dict[str, int]:
    """Bytes by kind after a cell, in what a look has time for: ``gradients`` with those that were
    ``retained``, ``saved`` with the ``kept_buffers`` of graphs that a backward kept.
    """
    counter, kinds = Counter(), reading.kinds()
    tops: list[Any] = []
    leaves, states, rest, arrays = [], [], [], []
    for holding in {id(h.thing): h for h in found.holdings}.values():
        thing = holding.thing
        node = None if isinstance(thing, np.ndarray) else node_behind(thing)
        if node is not None:
            tops.append(node)
        elif isinstance(thing, kinds):
            (leaves if reading.is_leaf(thing) else states).append(holding)
        if isinstance(thing, kinds):
            rest.append(thing)
        elif node is None:
            arrays.append(thing)
    for holding in leaves:
        counter.add(reading.array(holding.thing), "parameters")
    _count_gradients(counter, rest)
    for holding in states:
        if _in_state(holding.link):
            counter.add(reading.array(holding.thing), "optimizer")
    nodes = reach(tops, limit).nodes
    retained = reach([nodes[seq] for seq in swept if seq in nodes], limit).nodes
    for seq, node in nodes.items():
        for array in reading.saved_arrays(node) or ():
            counter.add(array, "kept_buffers" if seq in retained else "saved")
    for array in (*map(reading.array, rest), *arrays):
        counter.add(array, "others")
    told = counter.weights.kinds
    told["gradients"] += told["retained"]
    told["saved"] += told["kept_buffers"]
    return told


def _in_state(link):
    """The path goes through an optimiser's state."""
    while link is not None:
        if link.kind == "attribute" and link.name == "state":
            return True
        link = link.parent
    return False


def _count_leaves(counter, tensors):
    for leaf in [holding.thing for holding in tensors.values()]:
        if is_parameter(leaf) or reading.is_leaf(leaf):
            counter.add(reading.array(leaf), "parameters")


def _count_gradients(counter, tensors):
    for tensor in tensors:
        grad = reading.grad(tensor)
        if grad is not None:
            counter.add(reading.array(grad), "gradients" if node_of(tensor) is None else "retained")


def _of_optimizer(steps):
    return any(step.kind == "attribute" and step.name == "state" for step in steps[1:])


def _count_saved(counter, things, swept):
    """Saved tensors; those of graphs that a backward has passed and kept are kept buffers."""
    tops = [node for thing in things if (node := node_behind(thing)) is not None]
    whole = reach(tops, NODES)
    counter.weights.complete = whole.complete
    retained = reach([whole.nodes[seq] for seq in swept if seq in whole.nodes], NODES).nodes
    leaf_of: dict[int, int] = {}
    for seq, node in sorted(whole.nodes.items()):
        leaf_of[seq] = leaf = _leaf_behind(node, leaf_of)
        arrays = [array for _, array, _, _, gone in reading.saved(node) if not gone]
        counter.weights.nodes += bool(arrays)
        for array in arrays:
            if array is not None:
                size = counter.add(array, "kept_buffers" if seq in retained else "saved")
                counter.saved[leaf] = counter.saved.get(leaf, 0) + size


def _leaf_behind(node, known):
    """The parameter that an operation uses, else that of the newest of its inputs; 0 for none."""
    inputs = [x for x in reading.inputs(node) if x is not None]
    leaves = [x for x in inputs if x.__class__ is not tuple and is_parameter(x)]
    if leaves:
        return reading.leaf_id(leaves[0])
    return known.get(max((x[0].seq for x in inputs if x.__class__ is tuple), default=0), 0)


def _by_module(modules, saved):
    """Parameters, gradients, buffers and saved tensors of each module, submodules included."""
    out: dict[str, dict[str, int]] = {}
    for holding in modules:
        counter, pending = Counter(), [holding.thing]
        while pending:
            own = pending.pop().__dict__
            for parameter in own["_parameters"].values():
                if parameter is not None:
                    counter.add(reading.array(parameter), "parameters")
                    counter.weights.kinds["saved"] += saved.get(reading.leaf_id(parameter), 0)
                    grad = reading.grad(parameter)
                    if grad is not None:
                        counter.add(reading.array(grad), "gradients")
            for buffer in own["_buffers"].values():
                if reading.is_tensor(buffer):
                    counter.add(reading.array(buffer), "others")
            pending += [m for m in own["_modules"].values() if m is not None]
        out.setdefault(holding.path, counter.weights.kinds)
    return out
