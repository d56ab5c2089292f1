"""GV602: w = w - lr * w.grad makes w a result, so it is not trained any more."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import gradient_owners
from gradviz.doctor.where import place_of
from gradviz.watch.program import targets


def look(case):
    """A name that was bound to an expression with its own gradient, outside no_grad, is a result
    now.
    """
    results = {
        h.path: h
        for h in case.held
        if h.facts.attached and h.category in ("name", "container", "attribute")
    }
    told = set()
    made_at = {(p.cell, p.line) for h in results.values() if (p := h.facts.place) is not None}
    for statement in case.cells.mentioning("grad") if results else ():
        if (statement.cell, statement.line) not in made_at:
            continue
        if not isinstance(statement.node, ast.Assign) or any(
            "no_grad" in ast.unparse(w.items[0]) for w in statement.withs
        ):
            continue
        for target in targets(statement.node):
            name = ast.unparse(target)
            held = results.get(name)
            made = held.facts.place if held is not None else None
            if made is None or (made.cell, made.line) != (statement.cell, statement.line):
                continue
            place = place_of(case, statement)
            if name not in told and name in gradient_owners(case, place):
                told.add(name)
                yield RULE.found(case, [name], place, None, [held.facts.id], name=name)


RULE = Rule("GV602", "optim.rebound-param", "error", look)
