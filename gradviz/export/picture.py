"""A still picture of a trace: which nodes, and where each one stands. No recursion over depth."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

from gradviz.texts import text
from gradviz.watch.model import OPERATION, Edge, Node

from .layers import arrange
from .words import figure

LIMIT = 48
FEW = 24
REACH = 3


@dataclass(slots=True)
class Box:
    """One drawn node; a leaf used far apart is drawn once per use.

    ``x``, ``y``: its centre; ``value``: of a scalar, when it is known.
    """

    key: tuple
    node: Node
    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    value: float | None = None

    @property
    def weight(self) -> float:
        """How much it wants to stand straight: the spine of operations more than what joins it."""
        return 6.0 if self.node.kind == OPERATION else 1.0


@dataclass(slots=True)
class Line:
    """One drawn edge through ``points`` (x, y), from the source's foot to the target's head."""

    edge: Edge
    points: list[tuple[float, float]] = field(default_factory=list)


@dataclass(slots=True)
class Picture:
    """``shown`` of ``total`` nodes, laid out from the top (inputs) down (results)."""

    boxes: list[Box]
    lines: list[Line]
    roots: list[Node]
    shown: int
    total: int
    width: float = 0.0
    height: float = 0.0

    @classmethod
    def of(
        cls, trace, target: int | None = None, limit: int = LIMIT, measure=None, beside=()
    ) -> Picture:
        """The graph of node ``target``, or of the newest result; at most ``limit`` nodes of it, and
        of those ``beside`` it.
        """
        starts, chosen, total = choose(trace, target, limit, beside)
        edges = [e for e in trace.edges.values() if e.source in chosen and e.target in chosen]
        boxes, links = _boxes(chosen, edges, trace, measure or _measure)
        for box in boxes.values():
            box.value = _scalar(trace.details.get(box.node.id))
        lines, width, height = arrange(boxes, links, Line)
        roots = [trace.nodes[i] for i in starts if i in chosen]
        return cls(list(boxes.values()), lines, roots, len(chosen), total, width, height)


def fault(trace, ids) -> Picture | None:
    """The graph in which something is at fault: ``ids`` begin with that, and end with what was
    asked for. Of a tensor that is cut off, also what it was cut off from. None when there is none.
    """
    known = [i for i in ids if i in trace.nodes]
    if not known:
        return None
    asked = known[-1]
    near = choose(trace, asked, FEW)[1]
    target = asked if known[0] in near else known[0]
    tracked = any(trace.nodes[i].requires_grad for i in near)
    beside = () if tracked else [i for i in _results(trace) if i not in near][:2]
    return Picture.of(trace, target, FEW, beside=beside)


def choose(trace, target: int | None = None, limit: int = LIMIT, beside=()):
    """Where to start, the nodes to show (at most ``limit``, nearest first), how many there are."""
    starts = [target, *beside] if target is not None else _results(trace)
    chosen, total = _nearest(starts, _inputs(trace), trace, limit)
    if target is None or total == len(trace.nodes):
        total = max(total, len(trace.nodes), trace.total)
    return starts, chosen, total


def _inputs(trace):
    inputs = {}
    for edge in trace.edges.values():
        inputs.setdefault(edge.target, []).append(edge.source)
    return inputs


def _results(trace):
    """Nodes that nothing was computed from, newest first."""
    used = {edge.source for edge in trace.edges.values()}
    return sorted((i for i in trace.nodes if i not in used), reverse=True)


def _nearest(starts, inputs, trace, limit):
    """Up to ``limit`` nodes, breadth first from each start in turn; and how many there are."""
    chosen, seen = set(), set()
    for start in starts:
        pending = deque([start])
        while pending:
            i = pending.popleft()
            if i in seen or i not in trace.nodes:
                continue
            seen.add(i)
            if len(chosen) < limit:
                chosen.add(i)
            pending.extend(inputs.get(i, ()))
    return chosen, len(seen)


def _boxes(chosen, edges, trace, measure):
    """The boxes by key, and (edge, source key, target key); a leaf has a box per far-off use."""
    depth = _depths(chosen, edges)
    boxes, links = {}, []
    for i in sorted(chosen):
        if trace.nodes[i].kind == OPERATION or not any(e.source == i for e in edges):
            boxes[i, 0] = Box((i, 0), trace.nodes[i], *measure(trace.nodes[i]))
    for edge in sorted(edges, key=lambda e: (e.target, e.slot)):
        key = (edge.source, 0)
        if trace.nodes[edge.source].kind != OPERATION:
            key = (edge.source, 1 + depth[edge.target] // REACH)
        if key not in boxes:
            node = trace.nodes[edge.source]
            boxes[key] = Box(key, node, *measure(node))
        links.append((edge, key, (edge.target, 0)))
    return boxes, links


def _depths(chosen, edges):
    """How many edges lie between a node and its farthest input."""
    waiting = dict.fromkeys(chosen, 0)
    after = {}
    for edge in edges:
        waiting[edge.target] += 1
        after.setdefault(edge.source, []).append(edge.target)
    depth = dict.fromkeys(chosen, 0)
    ready = deque(sorted(i for i, count in waiting.items() if not count))
    while ready:
        i = ready.popleft()
        for target in after.get(i, ()):
            depth[target] = max(depth[target], depth[i] + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    return depth


def title(node: Node) -> tuple[str, str]:
    """The person's name and the engine's, ``("h", "ReluBackward0")``; either may be empty."""
    op = text(f"ui.cut.{node.cut}") if is_place(node) and node.cut else node.op
    return shorten(node.label), shorten(op)


def is_place(node: Node) -> bool:
    """No tensor: a place where a value left the graph, or where an operation failed."""
    return node.id < 0 and not node.dtype


def shorten(said: str, most: int = 28) -> str:
    """``said`` in one line of at most ``most`` characters."""
    line = " ".join(said.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def columns(text: str) -> int:
    """How many columns of a fixed font ``text`` takes; Chinese letters take two."""
    return sum(2 if ord(letter) > 0x2E7F else 1 for letter in text)


def second_line(node: Node, value: float | None = None) -> str:
    """Shape and dtype: ``64×256 float32``; of a scalar its value: ``= 0.412 float32``; then the
    version and what was changed in place.
    """
    shape = "×".join(map(str, node.shape)) if node.shape else "()"
    said = f"{shape if value is None else f'= {figure(value)}'} {node.dtype}".strip()
    version = f" · v{node.version}" if node.version else ""
    word = "clash" if node.clashes else "in_place" if node.inplace else ""
    return said + version + (f" · {text(f'ui.graph.{word}')}" if word else "")


def with_norm(node: Node, value: float | None = None) -> str:
    """The second line, and the norm of the gradient when there is one, as in the live view."""
    if is_place(node):
        return ""
    said, norm = second_line(node, value), node.grad_norm
    if norm is None:
        return said
    key = "ui.graph.grad_norm" if math.isfinite(norm) else "ui.graph.grad_bad"
    return f"{said} · {text(key, norm=figure(norm))}"


def _measure(node):
    first = columns(" ".join(part for part in title(node) if part))
    return max(96.0, 7.4 * first + 34, 6.6 * columns(with_norm(node)) + 34), 46.0


def _scalar(detail):
    """The number of a 0-d tensor, when it is known and is one."""
    value = detail.value.values if detail is not None and detail.value is not None else None
    return value if isinstance(value, int | float) else None
