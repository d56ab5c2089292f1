"""Where a value goes, by the text: from the names that a statement binds to a later backward()."""

from __future__ import annotations

import ast

from gradviz.watch.case import Case
from gradviz.watch.program import (
    Statement,
    called,
    calls,
    names_in,
    own_expressions,
    receiver,
    targets,
)

CALLS = 3
CALLERS = 2


def tainted_backward(
    case: Case, start: Statement, names: set[str], shaped_by=None, calls_left=CALLS
) -> bool:
    """Whether a value of ``names`` (bound by ``start``) flows on into something that ``backward()``
    is called on.

    Statements of the same function (or the cells' top level) after ``start`` count, and where the
    function returns the value, those after its calls. With ``shaped_by`` the value must, before it
    meets anything that has a graph, pass through a call of one of these names or a power.
    """
    carrying, shaped = set(names), set()
    tracked = {h.path for h in case.held if h.facts.attached or h.facts.leaf} - names
    for statement in _after(case, start):
        for call in calls(statement.node, "backward"):
            owner = receiver(call)
            if owner is not None and names_in(owner) & (carrying if shaped_by is None else shaped):
                return True
        value = getattr(statement.node, "value", None)
        if isinstance(statement.node, ast.Return) and value is not None and calls_left:
            used = names_in(value)
            shaping = shaped_by is not None and _shapes(statement, carrying, shaped_by)
            if used & (carrying if shaped_by is None else shaped) or shaping:
                return returns_to_training(case, start, calls_left - 1)
        if value is None or not isinstance(statement.node, ast.Assign | ast.AugAssign):
            continue
        bound = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
        used = names_in(value)
        update = shaped_by is not None and used & (tracked | bound) - shaped
        shapes = used & shaped or (
            shaped_by is not None and used & carrying and _shapes(statement, carrying, shaped_by)
        )
        if shapes:
            shaped |= bound
        if used & carrying and not update:
            carrying |= bound
        elif isinstance(statement.node, ast.Assign) and not shapes:
            carrying -= bound
            shaped -= bound
    return False


def comes_from(case: Case, later: Statement, first: Statement) -> bool:
    """Whether what ``later`` uses was computed, in the same loop, from what ``first`` binds."""
    if later.function is not first.function or not set(later.loops) & set(first.loops):
        return False
    beside = [s for s in case.cells.within([later.cell]) if s.function is later.function]
    wanted, seen = names_in(later.node, plain=True), set()
    while wanted - seen:
        name = (wanted - seen).pop()
        seen.add(name)
        for statement in beside:
            bound = {t.id for t in targets(statement.node) if isinstance(t, ast.Name)}
            if name in bound and statement is not later:
                if statement is first:
                    return True
                if statement.loops:
                    wanted |= names_in(statement.node, plain=True)
    return later is first


def nearby(case: Case, *names: str) -> list[Statement]:
    """The statements of cells and modules that call one of ``names``, or a function that does."""
    found = case.cells.calling(*names)
    units = {s.cell for s in found}
    for _ in range(CALLERS):
        functions = {s.function.name for s in found if s.function is not None}
        found = [s for s in case.cells.calling(*functions) if s.cell not in units]
        units |= {s.cell for s in found}
    return case.cells.within(units)


def ran(case: Case, statement: Statement) -> bool:
    """Whether a statement has changed anything. Of cells it is taken for granted; a module may have
    functions that nobody called.
    """
    if statement.cell > 0:
        return True
    notes = [event.note for event in case.ledger.events]
    notes += [sweep.note for sweep in case.ledger.sweeps]
    places = [place for note in notes if note for place in case.places.chain(note)]
    return any(case.cells.at(*case.cells.line(place)) is statement for place in places)


def returns_to_training(case: Case, start: Statement, calls_left=CALLS) -> bool:
    """What the function of ``start`` returned flows on into a backward, where it is called."""
    name = start.function.name if start.function is not None else ""
    if name in ("forward", "__call__"):
        return any(sweep.accumulates and not sweep.error for sweep in case.ledger.sweeps)
    for statement in case.cells.calling(name):
        if statement.function is start.function or not any(calls(statement.node, name)):
            continue
        if any(True for _ in calls(statement.node, "backward")):
            return True
        bound = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
        returns = isinstance(statement.node, ast.Return)
        if returns and calls_left and returns_to_training(case, statement, calls_left - 1):
            return True
        if bound and tainted_backward(case, statement, bound, None, calls_left):
            return True
    return False


def _after(case, start):
    cells = case.cells
    inside = start.function is not None or start.cell < 0
    beside = cells.within([start.cell]) if inside else cells.top_level()
    same = [s for s in beside if s.function is start.function]
    return same[same.index(start) + 1 :]


def _shapes(statement, carrying, names):
    """A call such as ``x.norm()`` or a power in which a carried name takes part."""
    for part in own_expressions(statement.node):
        if isinstance(part, ast.Call) and called(part) in names and names_in(part) & carrying:
            return True
        if (
            isinstance(part, ast.BinOp)
            and isinstance(part.op, ast.Pow)
            and names_in(part) & carrying
        ):
            return True
    return False
