"""Which nodes belong to the picture of one tensor."""

from __future__ import annotations

from gradviz.watch.model import OPERATION


class Scope:
    """The graph of ``target`` (a node's id): what it was computed from, and what grows out of it.

    ``absorb`` takes the rows of a delta and returns those that belong. A node that appears later
    joins when it is computed from an operation inside (not merely a shared leaf); it brings its
    inputs.
    """

    def __init__(self, target: int):
        self.target = target
        self.clear()

    def clear(self):
        """Forget what was absorbed."""
        self.ids = {self.target}
        self._nodes = {}
        self._edges = {}
        self._parents = {}
        self._passed = set()

    def absorb(self, nodes, edges):
        """The ``(nodes, edges)`` to send: new ones inside, and all of what has just joined."""
        self._nodes.update((node.id, node) for node in nodes)
        for edge in edges:
            self._edges[edge.target, edge.slot] = edge
            self._parents.setdefault(edge.target, {})[edge.slot] = edge.source
        joined = self._ancestors(self.target)
        for edge in sorted(edges, key=lambda edge: edge.target):
            if edge.target in self.ids:
                joined |= self._ancestors(edge.source)
            elif self._continues(edge.source):
                joined |= self._ancestors(edge.target)
        changed = {node.id for node in nodes} | joined
        rows = [self._nodes[i] for i in sorted(changed & self.ids) if i in self._nodes]
        lines = self._lines(edges, joined)
        return rows, lines

    def drop(self, ids):
        """Forget removed nodes; returns those that were inside."""
        inside = [i for i in ids if i in self.ids]
        for i in ids:
            self._nodes.pop(i, None)
            for slot in self._parents.pop(i, ()):
                self._edges.pop((i, slot), None)
            self._passed.discard(i)
            if i != self.target:
                self.ids.discard(i)
        return inside

    def _continues(self, source):
        node = self._nodes.get(source)
        return source in self.ids and (source == self.target or (node and node.kind == OPERATION))

    def _ancestors(self, start):
        """Take ``start`` and everything above it in; the ids that are new."""
        joined, pending = set(), [start]
        while pending:
            i = pending.pop()
            if i in self._passed or i not in self._nodes:
                continue
            self._passed.add(i)
            self.ids.add(i)
            joined.add(i)
            pending.extend(self._parents.get(i, {}).values())
        return joined

    def _lines(self, edges, joined):
        chosen = {(e.target, e.slot): e for e in edges if e.target in self.ids}
        for target in joined:
            for slot in self._parents.get(target, ()):
                chosen[target, slot] = self._edges[target, slot]
        return list(chosen.values())
