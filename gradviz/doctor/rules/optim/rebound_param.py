"""GV209: w = w - lr * w.grad makes w a result, so it is not trained any more."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import gradient_owners
from gradviz.doctor.where import place_of
from gradviz.watch.program import names_in, targets


def look(case):
    """A name that was bound to an expression with its own gradient, outside no_grad, is a result
    now.
    """
    made_at = {}
    for held in case.held:
        if held.facts.attached and held.category in ("name", "container", "attribute"):
            made_at.setdefault(case.cells.line(held.facts.place), []).append(held)
    for statement in case.cells.mentioning("grad") if made_at else ():
        made = made_at.get((statement.cell, statement.line), ())
        if not made or not isinstance(statement.node, ast.Assign):
            continue
        if any("no_grad" in ast.unparse(block.items[0]) for block in statement.withs):
            continue
        place = place_of(case, statement)
        owners = gradient_owners(case, place)
        for target in targets(statement.node):
            name = ast.unparse(target)
            bound = [h for h in made if h.path == name] or _elsewhere(target, made)
            if bound and (name in owners or _of_loop(statement, target) & set(owners)):
                paths, ids = [h.path for h in bound], [h.facts.id for h in bound]
                yield RULE.found(case, paths, place, None, ids, name=name)


def _of_loop(statement, target):
    """Names that stand for an item of the container in a loop over it: p of ``params[i] = …``."""
    if not isinstance(target, ast.Subscript):
        return set()
    container, out = names_in(target.value), set()
    for loop in statement.loops:
        if isinstance(loop, ast.For | ast.AsyncFor) and container <= names_in(loop.iter):
            out |= {t.id for t in targets(loop) if isinstance(t, ast.Name)}
    return out


def _elsewhere(target, made):
    """What an item with a variable key, an attribute or a local variable of a function is now."""
    if isinstance(target, ast.Subscript):
        return [h for h in made if h.steps[-1].kind == "item"]
    if isinstance(target, ast.Attribute):
        return [h for h in made if str(h.steps[-1].name) == target.attr]
    return []


RULE = Rule("GV209", "optim.rebound-param", "error", look)
