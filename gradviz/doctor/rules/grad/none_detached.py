"""GV202: torch.tensor([...]) of tensors copies their numbers and cuts the gradient."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import returns_to_training, tainted_backward
from gradviz.doctor.history import without_gradient
from gradviz.doctor.severed import severances, upstream
from gradviz.doctor.where import place_of
from gradviz.watch.program import (
    calls,
    keyword,
    names_in,
    own_expressions,
    receiver,
    targets,
)

HELD = ("name", "container", "attribute")
CUTS = ("detach", "numpy", "data", "item", "tolist", "tensor", "integer")


def look(case):
    """Values that were copied out of the graph where a gradient was expected."""
    yield from _copied(case)
    yield from _taken_out(case)
    yield from _asked_in_vain(case)


def _taken_out(case):
    """Leaves without a gradient whose values a line takes out of the graph, on the way to a
    backward that gives others one. It is sure that one was expected of what an optimiser has and of
    what a line reads .grad of.
    """
    missing = {leaf for optimizer in case.optimizers for leaf in without_gradient(case, optimizer)}
    leaves = [h for h in case.held if h.category in HELD and _waits(case, h)]
    reads = _Reads(case) if leaves else None
    read = {h.facts.own for h in leaves if reads.has(h)}
    waiting = {h.facts.own for h in leaves if not h.facts.parameter} | read
    wanted = missing | read
    for cut in case.cuts if missing or waiting else ():
        lost = (cut.leaves | cut.far) & (missing | waiting) if cut.how in CUTS else ()
        statement = case.cells.at(*case.cells.line(case.place(cut.note))) if lost else None
        if statement is not None and _flows_on(case, statement):
            lost = lost & wanted or lost
            holders = [name for leaf in sorted(lost) if (name := case.named(leaf))]
            severity = "warning" if lost & wanted else "info"
            yield RULE.found(case, holders, place_of(case, statement), None, lost, severity)


def _flows_on(case, statement):
    if isinstance(statement.node, ast.Return):
        return returns_to_training(case, statement)
    names = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
    return bool(names) and tainted_backward(case, statement, names)


def _asked_in_vain(case):
    """Leaves without a gradient whose .grad is read, on the far side of a line that leaves the
    graph on the way to something that backward() was called on.
    """
    waiting = {h.path: h for h in case.held if h.category == "name" and _waits(case, h)}
    reads = _Reads(case) if waiting else None
    asked = {name for name, held in waiting.items() if reads.has(held)}
    for sweep in case.ledger.sweeps if asked else ():
        place = case.place(sweep.note)
        start = case.cells.calling_at(place, "backward")
        names = _swept_names(start) if start is not None else set()
        for cut in severances(case, names, start) if names else ():
            inside = (cut.caller or cut.statement).function is not None
            lost = [] if inside else sorted(asked & upstream(case, cut))
            asked -= set(lost)
            if lost:
                ids = [waiting[name].facts.id for name in lost]
                yield RULE.found(case, lost, place_of(case, cut.statement), None, ids)


def _waits(case, held):
    account = case.ledger.leaves.get(held.facts.own)
    return held.facts.leaf and not held.facts.grad and (account is None or not account.total)


class _Reads:
    """Whose .grad some statement reads; of an item of a container, that of its items."""

    def __init__(self, case):
        self._owners, self._near = set(), set()
        for statement in case.cells.mentioning("grad"):
            owners, names = _gradients(statement.node)
            self._owners |= owners
            self._near |= names

    def has(self, held):
        """Whether it is that of ``held``."""
        return held.path in self._owners or (len(held.steps) > 1 and held.root in self._near)


def _gradients(node):
    """(the x of each x.grad in a statement, all its names where there is one); remembered on it."""
    known = getattr(node, "_owners", None)
    if known is None:
        parts = [p for p in own_expressions(node) if isinstance(p, ast.Attribute)]
        owners = {ast.unparse(part.value) for part in parts if part.attr == "grad"}
        known = node._owners = owners, names_in(node, plain=True) if owners else set()
    return known


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


RULE = Rule("GV202", "grad.none-detached", "warning", look)
