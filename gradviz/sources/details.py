"""What the inspector shows of one node, and pictures of a whole graph as rows."""

from __future__ import annotations

from dataclasses import replace

from gradviz.watch.model import Detail

from . import reading, values
from .reading import is_node

HOLDERS = 12


def picture(rows, nodes, leaves):
    """(rows, edges) of ``nodes`` and ``leaves`` (by serial); edges to nodes left out are left out
    too.
    """
    out, edges, extra = [], [], {}
    for node in nodes.values():
        out.append(rows.operation(node))
        rows.note_results(node)
        for slot, output, source in rows.inputs(node):
            if not reading.is_tensor(source) and not is_node(source):
                row = rows.untracked(source)
                extra[row.id] = row
            elif is_node(source) and source.seq not in nodes:
                continue
            edges.append(rows.edge(node, slot, output, source))
    out += [rows.leaf(leaf) for leaf in leaves.values()]
    taken = {row.id for row in out}
    out += [row for id, row in extra.items() if id not in taken]
    return out, edges


def name_modules(rows, edges):
    """Give operations that use a parameter the path of its module."""
    found = {row.id: row for row in rows}
    for edge in edges:
        source, target = found.get(edge.source), found.get(edge.target)
        if (
            source is not None
            and target is not None
            and source.kind == "parameter"
            and not target.module
        ):
            target.module = source.label.rpartition(".")[0]


def dead(row):
    """``row`` of a node that is gone."""
    if row.kind == "untracked":
        return row
    if row.kind != "operation":
        return replace(row, alive=False)
    saved = [replace(one, state="freed") for one in row.saved]
    return replace(row, alive=False, freed=True, saved=saved, hooks=[])


def detail(id, thing, tensor, paths, result=None) -> Detail | None:
    """Value, gradient and holders. ``thing``: the node or leaf if alive; ``tensor``: what it made,
    if known; ``result``: the array of what it made, as another node saved it."""
    if reading.is_tensor(thing):
        tensor = thing
    found = Detail(id, holders=[path for _, path in sorted(paths, key=_shortest)][:HOLDERS])
    if tensor is not None:
        found.value = values.of_tensor(tensor)
        grad = reading.grad(tensor)
        if grad is not None:
            found.grad = values.of_tensor(grad)
        found.grad_state = grad_state(tensor, found.grad)
    elif thing is not None:
        array = _result(thing) if result is None else result
        if array is not None:
            found.value = values.of_array(array)
        found.grad_state = "none_nonleaf"
    else:
        return None
    return found


def grad_state(tensor, grad) -> str:
    """Why ``.grad`` is what it is, as a key of the catalogue."""
    if grad is not None:
        return "zero" if grad.norm == 0 else "present"
    if reading.edge(tensor) is None:
        return "none_untracked"
    retained = any(kind == "retain_grad" for kind, _ in reading.hooks(tensor))
    return "none_yet" if reading.is_leaf(tensor) or retained else "none_nonleaf"


def held_through(starts, limit: int) -> dict[int, str]:
    """For each operation the first of the paths in ``starts`` ((path, node), best first) whose
    graph reaches it; at most ``limit`` operations.
    """
    out: dict[int, str] = {}
    for path, top in starts:
        pending = [top]
        while pending:
            node = pending.pop()
            if node.seq in out:
                continue
            if len(out) >= limit:
                return out
            out[node.seq] = path
            pending += [x[0] for x in reading.inputs(node) if x.__class__ is tuple]
    return out


def _shortest(item):
    return len(item[1]), item[1]


def _result(node):
    """The value a node made, when it saved that."""
    for name, array, _, _, freed in reading.saved(node):
        if name == "result" and not freed and array is not None:
            return array
    return None
