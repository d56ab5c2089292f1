"""GV302: torch.tensor([...]) of tensors copies their numbers and cuts the gradient."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, keyword, names_in, targets


def look(case):
    """Leaves that got no gradient, or results never swept, are copied into a new tensor that itself
    gets a gradient.
    """
    waiting = {
        h.path: h for h in case.held if h.facts.leaf and not h.facts.grad and h.category == "name"
    }
    for held in case.held:
        if (
            held.facts.attached
            and held.category in ("name", "container")
            and not case.graph.swept(held.facts.id)
        ):
            waiting.setdefault(held.root, held)
    trained = {h.path for h in case.held if h.facts.leaf and h.facts.grad}
    for statement in case.cells.statements:
        for call in calls(statement.node, "tensor", "as_tensor", "Tensor"):
            used = names_in(call.args[0], plain=True) if call.args else set()
            lost = [waiting[name] for name in sorted(used) if name in waiting]
            if not lost:
                continue
            bound = {ast.unparse(target) for target in targets(statement.node)}
            asks = keyword(call, "requires_grad")
            sure = isinstance(asks, ast.Constant) and asks.value is True and bound & trained
            if not sure and not isinstance(call.args[0], ast.List | ast.Tuple):
                continue
            holders = [held.path for held in lost]
            severity = "warning" if sure else "info"
            yield RULE.found(
                case, holders, place_of(case, statement), None, [h.facts.id for h in lost], severity
            )


RULE = Rule("GV302", "grad.none-detached", "warning", look)
