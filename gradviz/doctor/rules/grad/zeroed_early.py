"""GV306: gradients are cleared between backward() and step()."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, keyword, receiver


def look(case):
    """In one block: backward, then zero_grad, then step of an optimiser, which found no gradient to
    use.
    """
    optimizers = {optimizer.path: optimizer for optimizer in case.optimizers}
    for block in _blocks(case):
        swept, cleared = None, None
        for statement in block:
            if any(True for _ in calls(statement.node, "backward")):
                swept, cleared = statement, None
            for call in calls(statement.node, "zero_grad"):
                if swept is not None and not _keeps(call):
                    cleared = statement
            for call in calls(statement.node, "step"):
                name = ast.unparse(receiver(call)) if receiver(call) is not None else ""
                if (
                    cleared is not None
                    and name in optimizers
                    and _idle(case, optimizers[name], statement)
                ):
                    yield RULE.found(case, [name], place_of(case, cleared), name=name)
                swept = cleared = None
    yield from _each_micro_batch(case, optimizers)


def _each_micro_batch(case, optimizers):
    """The only step of a loop is taken every few iterations, yet each iteration clears."""
    for step in case.cells.statements:
        names = [ast.unparse(receiver(c)) for c in calls(step.node, "step") if receiver(c)]
        chosen = next((s for s in case.cells.statements if _chooses(s, step)), None)
        if not step.loops or chosen is None or not optimizers.keys() & set(names):
            continue
        body = step.loops[-1].body
        inside = [s for s in case.cells.statements if step.loops[-1] in s.loops]
        steps = [s for s in inside if any(True for _ in calls(s.node, "step"))]
        always = [s for s in inside if s.block is body and s.index < _end(chosen, step)]
        cleared = [s for s in always if _clears(s)]
        swept = [s for s in always if any(calls(s.node, "backward"))]
        if len(steps) == len(cleared) == len(swept) == 1 and _ran(case, swept[0]) >= 2:
            name = next(name for name in names if name in optimizers)
            yield RULE.found(case, [name], place_of(case, cleared[0]), name=name)


def _chooses(statement, step):
    """``if i % n == 0:`` around the step, or ``if i % n: continue`` before it."""
    node = statement.node
    if not isinstance(node, ast.If) or not any(isinstance(p, ast.Mod) for p in ast.walk(node.test)):
        return False
    passes = isinstance(node.body[-1], ast.Continue) and statement.block is step.block
    return node.body is step.block or (passes and statement.index < step.index)


def _end(chosen, step):
    """Up to where a body runs in each iteration."""
    return chosen.index if chosen.block is step.block else len(chosen.block)


def _clears(statement):
    return any(not _keeps(call) for call in calls(statement.node, "zero_grad"))


def _keeps(call):
    kept = keyword(call, "set_to_none")
    return isinstance(kept, ast.Constant) and kept.value is False


def _ran(case, statement):
    """How many backward passes the statement began."""
    here = statement.cell, statement.line
    places = [case.place(sweep.note) for sweep in case.ledger.sweeps]
    return sum(place is not None and (place.cell, place.line) == here for place in places)


def _blocks(case):
    seen = {}
    for statement in case.cells.statements:
        seen.setdefault((statement.cell, id(statement.block)), []).append(statement)
    return [sorted(block, key=lambda s: s.index) for block in seen.values()]


def _idle(case, optimizer, step):
    """The optimiser's leaves did get gradients, but the step on that line never changed one."""
    leaves = set(optimizer.leaves)
    reached = any(sweep.leaves & leaves for sweep in case.ledger.sweeps)
    for event in case.ledger.events:
        if event.kind == "bump" and event.subject in leaves:
            place = case.place(event.note)
            if place is not None and (place.cell, place.line) == (step.cell, step.line):
                return False
    return reached


RULE = Rule("GV306", "grad.zeroed-early", "error", look)
