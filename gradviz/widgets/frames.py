"""Frames: changes of the graph as a small header and four binary buffers (docs/protocol.md)."""

from __future__ import annotations

import math
from array import array

from gradviz.watch.model import LEAF, OPERATION, PARAMETER, UNTRACKED
from gradviz.watch.plain import clean

VERSION = 2
STRINGS = 20_000
KINDS = {LEAF: 0, PARAMETER: 1, OPERATION: 2, UNTRACKED: 3}
NAN = math.nan


class Encoder:
    """Encodes frames for one stream of them; keeps the string table that the page has."""

    def __init__(self):
        self.restart()

    def restart(self):
        """Forget the table: the next frame is for a page that knows nothing."""
        self._index = {"": 0}
        self._fresh = [""]

    @property
    def full(self) -> bool:
        """The table has grown so long that it is time to begin anew."""
        return len(self._index) > STRINGS

    def encode(self, nodes, edges) -> tuple[list[str], list[bytes]]:
        """The strings to append; the buffers ``nodes``, ``numbers``, ``edges``, ``edge_norms``."""
        rows, numbers = array("i"), array("d")
        for node in nodes:
            rows.extend(self._row(node))
            numbers.append(float(node.bytes))
            numbers.append(NAN if node.grad_norm is None else node.grad_norm)
        links, norms = array("i"), array("f")
        for edge in edges:
            links.extend(
                (edge.source, edge.target, edge.slot, edge.output, self._string(edge.cut), 0)
            )
            norms.append(edge_norm(edge.grad_norm))
        fresh, self._fresh = self._fresh, []
        return fresh, [part.tobytes() for part in (rows, numbers, links, norms)]

    def _string(self, text):
        index = self._index.get(text)
        if index is None:
            index = self._index[text] = len(self._index)
            self._fresh.append(clean(text))
        return index

    def _row(self, node):
        string, place = self._string, node.place
        cell = line = -1
        code = ""
        if place is not None:
            cell = -1 if place.cell is None else place.cell
            line, code = place.line, place.code
        return (
            node.id,
            KINDS[node.kind],
            string(node.op or node.cut),
            string(node.label),
            string(shape_text(node.shape)),
            string(node.dtype),
            string(node.device),
            node.version,
            cell,
            line,
            string(code),
            string(node.module),
            flags(node),
            len(node.saved),
            sum(saved.state != "freed" for saved in node.saved),
            len(node.hooks),
            -1 if node.creator is None else node.creator,
        )


def shape_text(shape) -> str:
    """``64×256``, or ``()`` for a scalar."""
    return "×".join(map(str, shape)) if shape else "()"


def edge_norm(norm) -> float:
    """The norm as a frame says it: NaN is none there, so a gradient that is NaN says infinity."""
    return NAN if norm is None else math.inf if math.isnan(norm) else norm


def flags(node) -> int:
    """The bits of docs/protocol.md."""
    norm = node.grad_norm
    return (
        node.requires_grad
        | node.is_leaf << 1
        | node.retains_grad << 2
        | node.root << 3
        | node.alive << 4
        | node.freed << 5
        | (norm is not None) << 6
        | bool(node.findings) << 7
        | (node.failed or (norm is not None and not math.isfinite(norm))) << 8
        | bool(node.cut) << 9
        | node.inplace << 10
        | node.clashes << 11
    )
