"""GV201: .grad was read of a tensor that is the result of an operation."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.texts import both
from gradviz.watch.program import mentions, own_expressions


def look(case):
    """A line outside functions reads x.grad, and x is a result that keeps no gradient, after a
    backward; said mildly where x.grad is only compared with None.
    """
    results = {
        h.path: h
        for h in case.held
        if h.facts.attached and h.category in ("name", "attribute", "container")
    }
    told = set()
    for statement in case.cells.mentioning("grad"):
        read = read_gradients(statement)
        for name in (*read, *gradients_compared(statement)):
            held = results.get(name)
            if held is None or name in told or held.facts.grad or not _came_back(case, held):
                continue
            place = held.facts.place
            if held.facts.retains:
                place = _too_late(case, held)
            if place is not None and place.cell is not None and _after(statement, place):
                told.add(name)
                fields = {"name": name, "read": _read_at(statement, place)}
                severity = "warning" if name in read else "info"
                yield RULE.found(case, [name], place, None, [held.facts.id], severity, **fields)


def _read_at(statement, place):
    """Where a statement stands, for somebody who looks at ``place``."""
    if statement.cell == place.cell:
        return both("notebook.place.line", line=statement.line)
    return both("notebook.place.cell", cell=statement.cell, line=statement.line)


def read_gradients(statement):
    """The x of every x.grad that a statement reads for its value (not to compare it with
    None).
    """
    return _gradients(statement)[0]


def gradients_compared(statement):
    """The x of every x.grad that a statement only compares."""
    return _gradients(statement)[1]


def _gradients(statement):
    """(read, compared); remembered on the statement."""
    if statement.function is not None or not mentions(statement.node, "grad"):
        return (), ()
    known = getattr(statement.node, "_gradients", None)
    if known is None:
        known = statement.node._gradients = _read(statement)
    return known


def _read(statement):
    parts, inside, read, compared = own_expressions(statement.node), set(), [], []
    for part in parts:
        if isinstance(part, ast.Compare):
            inside.update(id(inner) for inner in ast.walk(part))
    for part in parts:
        asked = isinstance(part, ast.Attribute) and part.attr == "grad"
        if asked and isinstance(part.ctx, ast.Load):
            (compared if id(part) in inside else read).append(ast.unparse(part.value))
    return tuple(read), tuple(compared)


def _after(statement, place):
    """The read is not in the statement that made the result, and not in an earlier cell."""
    here = statement.line <= place.line <= (statement.node.end_lineno or statement.line)
    return statement.cell > place.cell or (statement.cell == place.cell and not here)


def _too_late(case, held):
    """The line that called retain_grad() after the last backward."""
    asked = [e for e in case.ledger.events if e.kind == "retain" and e.subject == held.facts.id]
    swept = max((s.order for s in case.ledger.sweeps if s.serial > held.facts.id), default=0)
    return case.place(asked[-1].note) if asked and asked[-1].order > swept else None


def _came_back(case, held):
    """A backward went through the graph behind it."""
    leaves = case.graph.weigh([held.facts.id]).leaves
    return any(
        s.serial > held.facts.id and s.leaves & leaves for s in case.ledger.sweeps if not s.error
    )


RULE = Rule("GV201", "grad.none-nonleaf", "warning", look)
