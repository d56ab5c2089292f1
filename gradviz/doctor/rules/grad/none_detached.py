"""GV202: torch.tensor([...]) of tensors copies their numbers and cuts the gradient."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import tainted_backward
from gradviz.doctor.history import without_gradient
from gradviz.doctor.severed import severances, upstream
from gradviz.doctor.where import place_of
from gradviz.watch.program import (
    calls,
    keyword,
    mentions,
    names_in,
    own_expressions,
    receiver,
    targets,
)

CUTS = ("detach", "numpy", "data", "item")


def look(case):
    """Values that were copied out of the graph where a gradient was expected."""
    yield from _copied(case)
    yield from _stray_detach(case)
    yield from _asked_in_vain(case)


def _asked_in_vain(case):
    """Leaves without a gradient whose .grad is read, on the far side of a line that leaves the
    graph on the way to something that backward() was called on.
    """
    waiting = {h.path: h for h in case.held if h.category == "name" and _waits(case, h)}
    asked = {name for name in waiting if _is_read(case, name)}
    for sweep in case.ledger.sweeps if asked else ():
        place = case.place(sweep.note)
        start = case.cells.calling_at(place, "backward")
        names = _swept_names(start) if start is not None else set()
        for cut in severances(case, names, start) if names else ():
            lost = sorted(asked & upstream(case, cut))
            asked -= set(lost)
            if lost:
                ids = [waiting[name].facts.id for name in lost]
                yield RULE.found(case, lost, place_of(case, cut.statement), None, ids)


def _waits(case, held):
    account = case.ledger.leaves.get(held.facts.own)
    return held.facts.leaf and not held.facts.grad and (account is None or not account.total)


def _is_read(case, name):
    """Some statement reads name.grad."""
    for statement in case.cells.mentioning("grad"):
        for part in own_expressions(statement.node) if mentions(statement.node, "grad") else ():
            if isinstance(part, ast.Attribute) and ast.unparse(part) == f"{name}.grad":
                return True
    return False


def _swept_names(statement):
    owners = [receiver(call) for call in calls(statement.node, "backward")]
    return set().union(*(names_in(owner) for owner in owners if owner is not None), ())


def _copied(case):
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
    for statement in case.cells.calling("tensor", "as_tensor", "Tensor"):
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


def _stray_detach(case):
    """Modules in an optimiser that get no gradient and are called on a line with detach()."""
    missing = {leaf for optimizer in case.optimizers for leaf in without_gradient(case, optimizer)}
    lost = [m for m in case.modules if m.parameters and set(m.parameters.values()) <= missing]
    ran = {case.cells.line(case.place(cut.note)) for cut in case.cuts if cut.how in CUTS}
    for statement in case.cells.within({cell for cell, _ in ran if cell} if lost else ()):
        if (statement.cell, statement.line) not in ran:
            continue
        called = names_in(statement.node, plain=True)
        names = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
        for module in lost:
            if (
                str(module.steps[-1].name) in called
                and names
                and tainted_backward(case, statement, names)
            ):
                holders = [case.named(leaf) for leaf in module.parameters.values()]
                yield RULE.found(
                    case, [h for h in holders if h], place_of(case, statement), severity="warning"
                )
                break


RULE = Rule("GV202", "grad.none-detached", "warning", look)
