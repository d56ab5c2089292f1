"""GV308: a penalty on a gradient that was computed without create_graph is only a constant."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import tainted_backward
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, keyword, receiver, targets

SHAPING = frozenset("norm pow square abs sum mean sqrt exp dot".split())


def look(case):
    """The result of autograd.grad is shaped (norm, square …) and flows into something that is
    backpropagated.
    """
    for statement in case.cells.statements:
        value = getattr(statement.node, "value", None)
        call = (
            next((c for c in ast.walk(value) if _is_grad(c)), None) if value is not None else None
        )
        if call is None or not isinstance(statement.node, ast.Assign):
            continue
        names = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
        if names and tainted_backward(case, statement, names, SHAPING):
            holders = sorted(names)
            yield RULE.found(case, holders, place_of(case, statement), name=holders[0])


def _is_grad(node):
    """autograd.grad(…) that does not ask for a graph."""
    if (
        not isinstance(node, ast.Call)
        or called(node) != "grad"
        or not (len(node.args) > 1 or keyword(node, "inputs"))
    ):
        return False
    owner = receiver(node)
    if owner is not None and "autograd" not in ast.unparse(owner):
        return False
    asks = keyword(node, "create_graph")
    return asks is None or (isinstance(asks, ast.Constant) and not asks.value)


RULE = Rule("GV308", "grad.first-order-only", "warning", look)
