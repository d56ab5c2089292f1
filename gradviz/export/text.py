"""The graph as plain text, for terminals and for where nothing else is shown."""

from __future__ import annotations

from gradviz.texts import text
from gradviz.watch.model import OPERATION

from .picture import Picture, second_line, shorten
from .words import figure, padded, width

SHOWN_INPUTS = 4


def summary(picture: Picture) -> str:
    """One line a node in the order of creation: ``loss = MeanBackward0(%3)  () float32``."""
    if not picture.total:
        return text("notebook.picture.empty")
    nodes = {box.node.id: box.node for box in picture.boxes}
    values = {box.node.id: box.value for box in picture.boxes}
    leaves = sum(node.kind != OPERATION for node in nodes.values())
    lines = [text("notebook.text.head", nodes=picture.total, leaves=leaves)]
    if picture.shown < picture.total:
        said = text("notebook.picture.left_out", shown=picture.shown, total=picture.total)
        lines.append(f"  {said}")
    names = _names(nodes)
    inputs = _inputs(picture)
    ordered = sorted(nodes.values(), key=lambda node: (node.kind == OPERATION, node.id))
    rows = [(_left(node, names, inputs), _right(node, values[node.id])) for node in ordered]
    columns = min(48, max(width(left) for left, _ in rows))
    lines += [f"  {padded(left, columns)}  {right}" for left, right in rows]
    return "\n".join(lines)


def _names(nodes):
    """The person's name of each node; ``%1``, ``%2`` … for those without one."""
    names, number = {}, 0
    for i in sorted(nodes):
        number += not nodes[i].label
        names[i] = _printable(nodes[i].label) or f"%{number}"
    return names


def _printable(said):
    return shorten("".join(letter if letter.isprintable() else "\ufffd" for letter in said))


def _inputs(picture):
    inputs = {}
    for line in picture.lines:
        inputs.setdefault(line.edge.target, []).append((line.edge.slot, line.edge.source))
    return {target: [source for _, source in sorted(found)] for target, found in inputs.items()}


def _left(node, names, inputs):
    if node.kind != OPERATION:
        return f"{names[node.id]}: {text(f'notebook.text.{node.kind}')}"
    called = [names[i] for i in inputs.get(node.id, ())[:SHOWN_INPUTS]]
    more = ["…"] if len(inputs.get(node.id, ())) > SHOWN_INPUTS else []
    return f"{names[node.id]} = {_printable(node.op)}({', '.join(called + more)})"


def _right(node, value):
    norm = node.grad_norm
    grad = "" if norm is None else "  " + text("notebook.text.grad", norm=figure(norm))
    return second_line(node, value) + grad
