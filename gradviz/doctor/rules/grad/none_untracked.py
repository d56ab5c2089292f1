"""GV205: .grad was read of a tensor that does not require grad."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of

from .none_nonleaf import read_gradients


def look(case):
    """A line outside functions reads x.grad after a backward, and x was never tracked."""
    known = {}
    for held in case.held:
        if held.category == "name":
            known[held.path] = held.facts
    last = [s for s in case.ledger.sweeps if s.accumulates and not s.error]
    place = case.place(last[-1].note) if last else None
    told = set()
    for statement in case.cells.mentioning("grad") if place is not None else ():
        for name in read_gradients(statement):
            facts = known.get(name)
            if facts is None or facts.attached or facts.leaf or facts.grad or name in told:
                continue
            if _is_float(facts) and _after(statement, place) and not _is_set(case, name):
                told.add(name)
                yield RULE.found(case, [name], place_of(case, statement), name=name)


def _is_float(facts):
    return facts.dtype.startswith(("float", "complex", "bfloat"))


def _after(statement, place):
    return place.cell is not None and (statement.cell, statement.line) >= (place.cell, place.line)


def _is_set(case, name):
    """The program gives it a gradient by hand."""
    for statement in case.cells.assignments("grad", attribute=True):
        if isinstance(statement.node, ast.Assign):
            if any(ast.unparse(target) == f"{name}.grad" for target in statement.node.targets):
                return True
    return False


RULE = Rule("GV205", "grad.none-untracked", "warning", look)
