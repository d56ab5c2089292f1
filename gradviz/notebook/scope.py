"""Which nodes belong to the picture of one tensor."""

from __future__ import annotations

from gradviz.watch.model import OPERATION


class Scope:
    """The graph of ``target`` (a node's id): what it was computed from, and what grows out of it.

    ``absorb`` takes new rows and returns those that belong. A node that appears later joins when it
    is computed from an operation inside (not merely a shared leaf); it brings its inputs. At most
    ``limit`` nodes join. What has joined stays, even when it is no longer recorded.
    """

    def __init__(self, target: int, limit: int = 5_000):
        self.target, self.limit = target, limit
        self.ids = {target}
        self._nodes = {}
        self._edges = {}
        self._parents = {}
        self._passed = set()

    def absorb(self, nodes, edges):
        """The ``(nodes, edges)`` to show: new ones inside, and all of what has just joined."""
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
        self._forget_others()
        return rows, lines

    def _continues(self, source):
        node = self._nodes.get(source)
        return source in self.ids and (source == self.target or (node and node.kind == OPERATION))

    def _ancestors(self, start):
        """Take ``start`` and everything above it in; the ids that are new."""
        joined, pending = set(), [start]
        while pending and len(self.ids) < self.limit:
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
        return [edge for edge in chosen.values() if edge.source in self.ids]

    def _forget_others(self):
        """Rows outside are kept only while they are few: they may join with what comes next."""
        if len(self._nodes) - len(self.ids) > self.limit:
            for i in [i for i in self._nodes if i not in self.ids]:
                del self._nodes[i]
                for slot in self._parents.pop(i, ()):
                    self._edges.pop((i, slot), None)
