"""What is not in the graph but belongs into its picture: where values left it, and the operation
that failed.
"""

from __future__ import annotations

import ast

from gradviz.watch.model import OPERATION, UNTRACKED, Edge, Node

from . import reading
from .rows import tensor_id

FIRST = -(1 << 30) - 1  # ids below those of arrays
FAILED = -(1 << 31) + 1
MOST, OPERANDS = 20, 4
TABLES = ("_parameters", "_buffers", "_modules")
SHOWN = ("detach", "item", "numpy", "data")
INSIDE = ("no_grad", "inference_mode")


def cuts(watcher, places, nodes):
    """(rows, edges) of the lines where values of ``nodes`` (rows by id) leave the graph and nothing
    in view shows it; the newest twenty.
    """
    seen = {(row.cut, _line(row.place)) for row in nodes.values() if row.cut}
    rows, edges = [], []
    for number, cut in enumerate(watcher.cuts.values()):
        sources = (cut.sources | (cut.leaves if cut.how in SHOWN else set())) & nodes.keys()
        chain = places.chain(cut.note) if sources and cut.how in SHOWN + INSIDE else ()
        place = chain[0] if chain else None
        if place is None or (cut.how, _line(place)) in seen:
            continue
        seen.add((cut.how, _line(place)))
        rows.append(Node(FIRST - number, UNTRACKED, place=place, cut=cut.how, is_leaf=True))
        edges.append(Edge(max(sources), FIRST - number, cut=cut.how))
    return rows[-MOST:], edges[-MOST:]


def failed(error, place, nodes):
    """(rows, edges) of the operation in whose line the program raised ``error``; its inputs are the
    tensors of ``nodes`` that the line names.
    """
    named = [tensor_id(tensor) for tensor in operands(error, place)]
    found = [id for id in dict.fromkeys(named) if id in nodes]
    if not found:
        return [], []
    row = Node(FAILED, OPERATION, type(error).__name__, place.code.strip(), place=place)
    row.failed = True
    return [row], [Edge(id, FAILED, slot) for slot, id in enumerate(found)]


def _line(place):
    return None if place is None else (place.cell, place.file, place.line)


def _frame_at(error, place):
    """The innermost frame of the traceback that stands at ``place``."""
    traceback, found = error.__traceback__, None
    while traceback is not None:
        if traceback.tb_lineno == place.line and traceback.tb_frame.f_code.co_name in (
            place.function,
            "<module>",
        ):
            found = traceback.tb_frame
        traceback = traceback.tb_next
    return found


def operands(error, place) -> list:
    """The tensors that the line which raised ``error`` names: variables, and what modules and
    objects of that name have; at most a few.
    """
    frame = _frame_at(error, place)
    try:
        tree = ast.parse(place.code.strip().rstrip(":"))
    except SyntaxError:
        return []
    parts = [p for p in ast.walk(tree) if isinstance(p, ast.Name | ast.Attribute)]
    found = [_value(frame, part) for part in parts] if frame is not None else []
    tensors = {id(one): one for one in found if reading.is_tensor(one)}
    return list(tensors.values())[:OPERANDS]


def _value(frame, part):
    """What a name stands for, or the attribute of one; nothing is computed for it."""
    if isinstance(part, ast.Name):
        return frame.f_locals.get(part.id, frame.f_globals.get(part.id))
    owner = _value(frame, part.value) if isinstance(part.value, ast.Name | ast.Attribute) else None
    own = getattr(owner, "__dict__", {})
    for table in (own, *(own.get(name) for name in TABLES)):
        if isinstance(table, dict) and part.attr in table:
            return table[part.attr]
    return None
