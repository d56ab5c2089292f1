"""GV210: the optimiser still has the parameters of a model that was replaced, or lacks some."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import bound, place_of
from gradviz.watch.program import calls, receiver, targets, tokens


def look(case):
    """Nothing but an optimiser holds some of its parameters, and a model's own of the same shape,
    or one that a line put in their place, is trained in vain.
    """
    known = {leaf for optimizer in case.optimizers for leaf in optimizer.leaves}
    for optimizer in case.optimizers:
        stale = _only_here(case, optimizer)
        for module in case.modules if stale else ():
            lost = [
                name
                for name, leaf in module.parameters.items()
                if leaf not in known and _trained(case, leaf)
            ]
            shapes = {_shape(case, module.parameters[name]) for name in lost}
            whole = len(stale) == len(optimizer.leaves)
            made = _rebound(case, module, lost[0], whole) if lost else None
            alike = {shape for _, shape in stale} <= shapes
            if lost and (alike or (made is not None and _replaces(made, module, lost[0]))):
                place = place_of(case, made)
                holders = [
                    f"{optimizer.path}.param_groups[0]['params']",
                    optimizer.path,
                    module.path,
                ]
                yield RULE.found(
                    case, holders, place, name=optimizer.path, model=module.path, count=len(stale)
                )
                break
    yield from _of_another(case, known)
    yield from _left_out(case, known)


def _of_another(case, known):
    """Nothing of an optimiser ever gets a gradient, and beside its step a backward gives one to a
    model that no optimiser knows and nobody changes.
    """
    accounts = case.ledger.leaves
    for optimizer in case.optimizers:
        if any(_trained(case, leaf) for leaf in optimizer.leaves):
            continue
        sweeps = _beside_step(case, optimizer)
        swept = set().union(*(sweep.leaves for sweep in sweeps), ()) if len(sweeps) > 1 else set()
        for module in sorted(case.modules if swept else (), key=lambda m: len(m.steps)):
            own = set(module.parameters.values())
            used = own & swept
            changes = [accounts[leaf].changed for leaf in used]
            still = not any(change and change.order > sweeps[0].order for change in changes)
            if used and still and not own & known:
                made = bound(case, optimizer.path.rpartition(".")[2], "." in optimizer.path)
                place = place_of(case, made) or case.place(sweeps[0].note)
                fields = {"model": module.path}
                holders = [optimizer.path, module.path]
                name = optimizer.path
                yield RULE.found(case, holders, place, variant="other", name=name, **fields)
                break


def _left_out(case, known):
    """Beside what an optimiser steps, each backward gives a gradient to a module or parameter that
    no optimiser has and nothing changes, though it is no model of its own before that (GV602). It
    may be meant so.
    """
    for optimizer in case.optimizers:
        accounts = [case.ledger.leaves.get(leaf) for leaf in optimizer.leaves]
        stepped = {a.id for a in accounts if a is not None and a.changes > 1}
        told: set[int] = set()
        names = []
        for path, leaves in _wholes(case) if stepped else ():
            if not leaves & (known | told) and _idle(case, leaves, stepped):
                told |= leaves
                names.append(path)
        if names:
            made = bound(case, optimizer.path.rpartition(".")[2], "." in optimizer.path)
            place = place_of(case, made)
            fields = {"variant": "left", "severity": "info", "model": ", ".join(names)}
            holders = [*names, optimizer.path]
            yield RULE.found(case, holders, place, None, told, name=optimizer.path, **fields)


def _wholes(case):
    """(path, leaves) of modules, the outer ones first, and of parameters with a name."""
    for module in sorted(case.modules, key=lambda m: len(m.steps)):
        if module.parameters:
            yield module.path, set(module.parameters.values())
    for held in case.held:
        if held.facts.parameter and held.category == "name":
            yield held.path, {held.facts.own}


def _idle(case, leaves, stepped):
    """Several backward passes gave all of them a gradient, the newest also what is stepped; they
    have not changed since the first.
    """
    accounts = [case.ledger.leaves.get(leaf) for leaf in leaves]
    if any(a is None or a.total < 2 or not a.run for a in accounts):
        return False
    sweep = case.ledger.sweep(accounts[0].run[-1][0])
    if sweep is None or not sweep.leaves & stepped or leaves in case.past.leaves_of_nodes():
        return False
    return not any(a.changed and a.changed.order > a.longest[0][1] for a in accounts)


def _beside_step(case, optimizer):
    """The backward passes from a line in whose block the optimiser's step is taken."""
    name, steps = optimizer.path.rpartition(".")[2], []
    for statement in case.cells.calling("step"):
        owners = [receiver(call) for call in calls(statement.node, "step")]
        if any(owner is not None and tokens(owner)[-1:] == [name] for owner in owners):
            steps.append(statement)
    blocks = {(step.cell, id(step.block)) for step in steps if not hasattr(step.node, "body")}
    out = []
    for sweep in case.ledger.sweeps if blocks else ():
        here = case.cells.on(*case.cells.line(case.place(sweep.note)))
        if any((s.cell, id(s.block)) in blocks for s in here) and not sweep.error:
            out.append(sweep)
    return out


def _only_here(case, optimizer):
    """(serial, shape) of the optimiser's parameters that no path reaches but through an
    optimiser.
    """
    outside = set()
    for held in case.held:
        if not any(str(step.name) in ("param_groups", "state", "_params") for step in held.steps):
            outside.add(held.facts.own)
    return [(leaf, _shape(case, leaf)) for leaf in optimizer.leaves if leaf not in outside]


def _shape(case, leaf):
    return next((held.facts.shape for held in case.paths_to(leaf)), None)


def _trained(case, leaf):
    account = case.ledger.leaves.get(leaf)
    return account is not None and account.total > 0


def _rebound(case, module, name, whole):
    """The line that made the model again, or that replaced one part or parameter of it."""
    again = bound(case, str(module.steps[0].name))
    words = {*name.split("."), str(module.steps[0].name)}
    near = {s.cell for s in case.cells.mentioning(*words)}
    parts = [s for s in case.cells.within(near) if not whole and _replaces(s, module, name)]
    return parts[-1] if parts else again


def _replaces(statement, module, name):
    """``model.fc = …``, ``model[2] = …``, ``setattr(model, "fc", …)`` outside its own class."""
    if statement.owner == module.name:
        return False
    words = set(name.split("."))
    for target in targets(statement.node):
        if isinstance(target, ast.Attribute) and target.attr in words:
            return True
        if isinstance(target, ast.Subscript):
            at = ast.unparse(target.slice).strip("'\"")
            if at in words or (at.startswith("-") and isinstance(target.value, ast.Name)):
                return str(module.steps[0].name) in tokens(target.value)
    for call in calls(statement.node, "setattr", "register_parameter", "add_module"):
        if any(isinstance(a, ast.Constant) and a.value in words for a in call.args):
            return True
    return False


RULE = Rule("GV210", "optim.stale-param", "warning", look)
