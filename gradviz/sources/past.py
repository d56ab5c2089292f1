"""Graphs that are gone: of the newest losses what was computed from what, in plain numbers, so that
a question about a loss can still be answered when its graph has been freed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from . import reading

NODES, LOSSES, LOOKS = 1_500, 10, 2


@dataclass(slots=True)
class Loss:
    """One graph that a backward went through. ``nodes``: serial -> (class, note, inputs), each
    input a (slot, serial, whether it is a leaf); ``norms``: (serial, slot) -> norm of the gradient
    that was sent there; ``looks``: how often the line was looked at.
    """

    nodes: dict[int, tuple] = field(default_factory=dict)
    norms: dict[tuple[int, int], float] = field(default_factory=dict)
    looks: int = 0


class Past:
    """The newest losses by the line that made them; each is read the first times it is met, so that
    a long loop costs no more.
    """

    def __init__(self):
        self._losses: OrderedDict[int, Loss] = OrderedDict()
        self._begun: list[Loss] = []

    def note(self, root):
        """A backward begins at the node ``root``."""
        line = getattr(root, "note", None) if hasattr(root, "seq") else None
        if not line:
            return
        loss = self._losses.get(line)
        if loss is None:
            loss = self._losses[line] = Loss()
            if len(self._losses) > LOSSES:
                self._losses.popitem(last=False)
        if loss.looks < LOOKS:
            loss.looks += 1
            loss.nodes, loss.norms = _read(root), {}
            self._begun.append(loss)

    def measured(self, norms):
        """A backward has ended, in which these norms were measured."""
        for loss in self._begun:
            loss.norms = {edge: norm for edge, norm in norms.items() if edge[0] in loss.nodes}
        self._begun = []

    def view(self, site, grads) -> PastView:
        """The losses for one call of the doctor. ``site(note)``: where a node was made;
        ``grads(serial)``: the gradient of a leaf now.
        """
        return PastView(list(self._losses.values()), site, grads)


def _read(root):
    nodes, _, whole = reading.walk([root], NODES)
    if not whole:
        return {}
    return {seq: _plain(node) for seq, node in nodes.items()}


def _plain(node):
    inputs = tuple(
        (slot, x[0].seq, False) if x.__class__ is tuple else (slot, reading.leaf_id(x), True)
        for slot, x in enumerate(reading.inputs(node))
        if x is not None
    )
    return reading.class_name(node), getattr(node, "note", None) or 0, inputs


class PastView:
    """The questions about nodes that rules ask, of graphs that need not be there any more."""

    def __init__(self, losses, site, grads):
        self._losses = [loss.nodes for loss in losses]
        self._site, self.grad_values = site, grads
        self._nodes = {seq: node for nodes in self._losses for seq, node in nodes.items()}
        self.norms = {edge: norm for loss in losses for edge, norm in loss.norms.items()}
        self._reach: dict[int, tuple[set[int], set[int]]] = {}
        self._leaves: list[set[int]] | None = None

    def op(self, id) -> str:
        """The class name of a node."""
        return self._nodes[id][0] if id in self._nodes else ""

    def note(self, id) -> tuple:
        """Where a node was made."""
        return self._site(self._nodes[id][1]) if id in self._nodes else ()

    def inputs(self, id):
        """(slot, id, is a leaf) of a node's tracked inputs."""
        yield from self._nodes[id][2] if id in self._nodes else ()

    def values(self, id):
        """What a node computed is gone."""
        return None

    def made_by(self, *ops) -> list[int]:
        """Serials of nodes whose class name begins with one of ``ops``, newest first."""
        return sorted(
            (s for s, node in self._nodes.items() if node[0].startswith(ops)), reverse=True
        )

    def below(self, id) -> tuple[set[int], set[int]]:
        """(nodes, leaves) that a node was computed from, itself included."""
        known = self._reach.get(id)
        if known is None:
            nodes, leaves, pending = set(), set(), [id]
            while pending:
                node = pending.pop()
                if node in nodes:
                    continue
                nodes.add(node)
                for _, source, leaf in self.inputs(node):
                    if leaf:
                        leaves.add(source)
                    else:
                        pending.append(source)
            known = self._reach[id] = nodes, leaves
        return known

    def leaves_of_nodes(self) -> list[set[int]]:
        """What the results in these losses were computed from: the leaves of each, once."""
        if self._leaves is None:
            sets = {
                frozenset(leaves) for nodes in self._losses for leaves in _leaves(nodes).values()
            }
            self._leaves = [set(leaves) for leaves in sets]
        return self._leaves

    def repeated(self, least: int) -> list[int]:
        """Serials of the newest node of each line and class that made ``least`` in one loss."""
        out = []
        for nodes in self._losses:
            lines: dict[tuple, list[int]] = {}
            for seq, (kind, note, _) in nodes.items():
                lines.setdefault((note, kind), []).append(seq)
            out += [
                max(group) for (note, _), group in lines.items() if note and len(group) >= least
            ]
        return sorted(out)

    def chain(self, id, hops=6) -> list[int]:
        """Serials of the nodes of one line and class that feed the node one after another, newest
        first.
        """
        links = [id]
        while True:
            following = self._same_place_below(links[-1], hops)
            if following is None:
                return links
            links.append(following)

    def _same_place_below(self, id, hops):
        kind, note, _ = self._nodes[id]
        level, seen = [id], {id}
        for _ in range(hops):
            level = [
                i for x in level for _, i, leaf in self.inputs(x) if not leaf and i not in seen
            ]
            for i in level:
                if self._nodes.get(i, ())[:2] == (kind, note):
                    return i
            seen.update(level)
        return None


def _leaves(nodes):
    """Serial of each node of a loss -> the leaves that it was computed from."""
    out: dict[int, frozenset[int]] = {}
    for seq in sorted(nodes):  # inputs are older
        found: frozenset[int] = frozenset()
        for _, source, leaf in nodes[seq][2]:
            found |= {source} if leaf else out.get(source, frozenset())
        out[seq] = found
    return out
