"""GV304: a penalty on a gradient that was computed without create_graph is only a constant."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import ran, tainted_backward
from gradviz.doctor.mistakes import raised, with_message
from gradviz.doctor.where import bound, place_of
from gradviz.watch.program import called, calls, keyword, mentions, names_in, receiver, targets

NO_GRAPH = "does not require grad and does not have a grad_fn"
SHAPING = frozenset("norm pow square abs sum mean sqrt exp dot".split())


def look(case):
    """The result of autograd.grad is shaped (norm, square …) and flows into something that is
    backpropagated.
    """
    for statement in case.cells.mentioning("grad"):
        value = getattr(statement.node, "value", None)
        assigns = isinstance(statement.node, ast.Assign) and mentions(statement.node, "grad")
        if value is None or not assigns:
            continue
        asked, shapes = _gradients(statement.node)
        if not (asked or shapes):
            continue
        names = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
        if (
            names
            and ran(case, statement)
            and tainted_backward(case, statement, names, SHAPING if asked else None)
        ):
            holders = sorted(names)
            yield RULE.found(case, holders, place_of(case, statement), name=holders[0])
    yield from _differentiated(case)


def _differentiated(case):
    """A gradient that was asked for without its graph was to be differentiated again."""
    for error in with_message(case, NO_GRAPH):
        asked = case.cells.calling_at(raised(error), "grad")
        for call in calls(asked.node, "grad", "backward") if asked is not None else ():
            outputs = keyword(call, "outputs") or (call.args[0] if call.args else receiver(call))
            for name in sorted(names_in(outputs)) if outputs is not None else ():
                made = bound(case, name, before=asked.cell)
                if made is not None and getattr(made.node, "value", None) is not None:
                    if _gradients(made.node)[0]:
                        yield RULE.found(case, [name], place_of(case, made), name=name)


def _gradients(node):
    """Whether an assignment asks for gradients, and whether it shapes a .grad; remembered."""
    known = getattr(node, "_asks", None)
    if known is None:
        asked = any(_is_grad(part) for part in ast.walk(node.value))
        known = node._asks = asked, _shapes_grad(node.value)
    return known


def _shapes_grad(value):
    """x.grad.norm(), (x.grad ** 2) and the like, as part of an expression."""
    for part in ast.walk(value):
        if isinstance(part, ast.Call) and called(part) in SHAPING:
            inner = receiver(part) or (part.args[0] if part.args else None)
        else:
            inner = (
                part.left if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Pow) else None
            )
        if inner is not None and any(
            isinstance(p, ast.Attribute) and p.attr == "grad" for p in ast.walk(inner)
        ):
            return True
    return False


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


RULE = Rule("GV304", "grad.first-order-only", "warning", look)
