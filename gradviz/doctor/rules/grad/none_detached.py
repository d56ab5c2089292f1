"""GV302: torch.tensor([...]) of tensors copies their numbers and cuts the gradient."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, keyword, names_in


def look(case):
    """Leaves that got no gradient are copied into a new tensor that itself asks for one."""
    waiting = {h.path: h for h in case.held if h.facts.leaf and not h.facts.grad and h.category == "name"}
    for statement in case.cells.statements:
        for call in calls(statement.node, "tensor", "as_tensor", "Tensor"):
            used = names_in(call.args[0]) if call.args else set()
            lost = [waiting[name] for name in sorted(used) if name in waiting]
            if not lost or not isinstance(call.args[0], ast.List | ast.Tuple | ast.Name):
                continue
            asks = keyword(call, "requires_grad")
            sure = isinstance(asks, ast.Constant) and asks.value is True
            holders = [held.path for held in lost]
            severity = "warning" if sure and case.ledger.sweeps else "info"
            yield RULE.found(case, holders, place_of(case, statement), None, [h.facts.id for h in lost], severity)


RULE = Rule("GV302", "grad.none-detached", "warning", look)
