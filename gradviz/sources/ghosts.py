"""What is not in the graph but belongs into its picture: where values left it, and the operation
that failed.
"""

from __future__ import annotations

import ast
import inspect
import os

from gradviz.watch.model import OPERATION, UNTRACKED, Edge, Node

from . import reading
from .rows import tensor_id

FIRST = -(1 << 30) - 1  # ids below those of arrays
FAILED = -(1 << 31) + 1
MOST, OPERANDS = 20, 4
MODULES = os.path.join("nn", "modules", "")
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
    """(rows, edges) of the operation in whose line the program raised ``error``; its inputs are
    those of its ``operands`` that are in ``nodes``.
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


def _frames(error, place):
    """The innermost frame of the traceback that stands at ``place``, and those that it called."""
    traceback, found = error.__traceback__, []
    while traceback is not None:
        frame = traceback.tb_frame
        if traceback.tb_lineno == place.line and frame.f_code.co_name in (
            place.function,
            "<module>",
        ):
            found = [frame]
        elif found:
            found.append(frame)
        traceback = traceback.tb_next
    return found


def operands(error, place) -> list:
    """The tensors of the call which raised ``error``, a few at most: what the first function, but
    for those of modules, that got one with a gradient was given; else those that the line names:
    variables, and what modules and objects of that name have.
    """
    frames = _frames(error, place)
    for frame in frames[1:]:
        if MODULES in frame.f_code.co_filename:
            continue
        tensors = _tensors(_arguments(frame))
        if any(reading.edge(tensor) is not None for tensor in tensors):
            return tensors
    try:
        tree = ast.parse(place.code.strip().rstrip(":"))
    except SyntaxError:
        return []
    parts = [p for p in ast.walk(tree) if isinstance(p, ast.Name | ast.Attribute)]
    return _tensors([_value(frames[0], part) for part in parts]) if frames else []


def _arguments(frame):
    """What a function was called with, and what lists among that have."""
    code = frame.f_code
    count = code.co_argcount + bool(code.co_flags & inspect.CO_VARARGS)
    for name in code.co_varnames[:count]:
        given = frame.f_locals.get(name)
        yield from given if isinstance(given, list | tuple) else (given,)


def _tensors(found):
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
