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
                kept = keyword(call, "set_to_none")
                if swept is not None and not (
                    isinstance(kept, ast.Constant) and kept.value is False
                ):
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
