"""GV209: w = w - lr * w.grad makes w a result, so it is not trained any more."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import gradient_owners
from gradviz.doctor.where import place_of
from gradviz.watch.program import names_in, own_expressions, targets


def look(case):
    """A name that was bound to an expression with its own gradient, outside no_grad, is a result
    now.
    """
    yield from _stepped(case)
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


def _stepped(case):
    """``w = w.clamp(0, 1)``: a name was bound to a result of the leaf that it was before, which
    only an optimiser has now.
    """
    known = {leaf for optimizer in case.optimizers for leaf in optimizer.leaves}
    outside = {h.facts.own for h in case.held if not _of_optimizer(h)} if known else known
    lost = known - outside
    for held in case.held if lost else ():
        if not held.facts.attached or held.category not in ("name", "attribute"):
            continue
        made = case.cells.at(*case.cells.line(held.facts.place))
        bound = [ast.unparse(target) for target in targets(made.node)] if made is not None else []
        value = getattr(made.node, "value", None) if bound else None
        itself = value is not None and bound[0] in {ast.unparse(p) for p in ast.walk(value)}
        if itself and bound[0].split(".")[-1] == str(held.steps[-1].name):
            if case.graph.weigh([held.facts.id]).leaves & lost and not _changes(value, bound[0]):
                ids = [held.facts.id]
                yield RULE.found(case, [held.path], held.facts.place, None, ids, name=held.path)


def _of_optimizer(held):
    return any(str(step.name) in ("param_groups", "state", "_params") for step in held.steps)


def _changes(value, name):
    """The expression uses the gradient of the name, which is looked at elsewhere."""
    parts = [p for p in ast.walk(value) if isinstance(p, ast.Attribute) and p.attr == "grad"]
    return any(ast.unparse(part.value) == name for part in parts)


def _of_loop(statement, target):
    """Names that stand for an item of the container in a loop over it: p of ``params[i] = …``, and
    of ``params = [… for p in params]``.
    """
    if isinstance(target, ast.Name):
        parts = [g for p in own_expressions(statement.node) for g in getattr(p, "generators", ())]
        over = [g.target for g in parts if target.id in names_in(g.iter)]
        return {p.id for each in over for p in ast.walk(each) if isinstance(p, ast.Name)}
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
    if isinstance(target, ast.Name):
        return [h for h in made if h.root == target.id and h.steps[-1].kind == "item"]
    if isinstance(target, ast.Attribute):
        return [h for h in made if str(h.steps[-1].name) == target.attr]
    return []


RULE = Rule("GV209", "optim.rebound-param", "error", look)
