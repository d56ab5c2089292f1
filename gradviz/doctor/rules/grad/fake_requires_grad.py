"""GV207: requires_grad was set on a loss that has no graph, so backward() trains nothing."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import subject
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, calls, keyword, receiver, targets, tokens

FACTORIES = frozenset(
    "tensor zeros ones full rand randn arange linspace Parameter eye empty as_tensor "
    "from_numpy".split()
)


def look(case):
    """backward() started at a leaf that the program computed and then declared to require grad."""
    told = set()
    for sweep in case.ledger.sweeps:
        if not sweep.root_ops or any(
            op.endswith(("Backward0", "Backward1", "Backward")) for op in sweep.root_ops
        ):
            continue
        asked = subject(case, case.place(sweep.note), "backward")
        made = _returned(case, asked) if asked else None
        if made is not None and (made.cell, made.line) not in told:
            told.add((made.cell, made.line))
            yield RULE.found(case, [asked], place_of(case, made), None, sweep.roots, name=asked)
            continue
        for name in (asked, *_returned_as(case, asked)):
            statement = _declared(case, name) if name and name not in told else None
            if statement is not None and _computed(case, name):
                told.add(name)
                place = place_of(case, statement)
                yield RULE.found(case, [name], place, None, sweep.roots, name=name)
                break


def _returned_as(case, name):
    """What the functions that gave ``name`` its value call it themselves."""
    for inner in _returns(case, name):
        if isinstance(inner.node.value, ast.Name | ast.Attribute):
            yield ast.unparse(inner.node.value)


def _returned(case, name):
    """``return torch.tensor(value, requires_grad=True)`` of a value that the function computed, in
    what gave ``name`` its value.
    """
    for inner in _returns(case, name):
        value = inner.node.value
        if _remade(value) or (_asks(value) and any(_is_result(case, inner, a) for a in value.args)):
            return inner
    return None


def _returns(case, name):
    for statement in case.cells.assignments(name) if name.isidentifier() else ():
        value = getattr(statement.node, "value", None)
        made = (
            case.cells.definition(value, statement.owner) if isinstance(value, ast.Call) else None
        )
        for inner in case.cells.within([made.cell]) if made is not None else ():
            if inner.function is made.node and isinstance(inner.node, ast.Return):
                yield inner


def _is_result(case, statement, name):
    """A local variable that was given the result of a call or a sum."""
    found = case.cells.assignments(name.id) if isinstance(name, ast.Name) else ()
    values = [s.node.value for s in found if s.function is statement.function]
    return any(isinstance(value, ast.Call | ast.BinOp) for value in values)


def _declared(case, name):
    """The statement name.requires_grad_(), name.requires_grad = True, or the one that makes it of
    numbers with requires_grad=True.
    """
    for statement in case.cells.assignments(name) if name.isidentifier() else ():
        if _remade(statement.node.value):
            return statement
    for statement in case.cells.mentioning("requires_grad", "requires_grad_"):
        for call in calls(statement.node, "requires_grad_"):
            if receiver(call) is not None and ast.unparse(receiver(call)) == name:
                return statement
        for target in targets(statement.node):
            if (
                isinstance(target, ast.Attribute)
                and target.attr == "requires_grad"
                and ast.unparse(target.value) == name
            ):
                return statement
    return None


def _remade(value):
    """``torch.tensor(f(x), requires_grad=True)``."""
    return _asks(value) and _calls_inside(value)


def _asks(value):
    if not isinstance(value, ast.Call) or called(value) not in ("tensor", "as_tensor", "Tensor"):
        return False
    asks = keyword(value, "requires_grad")
    return isinstance(asks, ast.Constant) and asks.value is True


def _calls_inside(value):
    return any(isinstance(p, ast.Call | ast.BinOp) for a in value.args for p in ast.walk(a))


def _computed(case, name):
    """The name is bound to the result of a computation, not to new data."""
    bound = list(case.cells.assignments(tokens(ast.parse(name, mode="eval").body)[-1]))
    values = [s.node.value for s in bound if isinstance(s.node, ast.Assign)]
    calls_ = [v for v in values if isinstance(v, ast.Call)]
    sums = any(isinstance(v, ast.BinOp) for v in values)
    return sums or any(_remade(v) or called(v) not in FACTORIES for v in calls_)


RULE = Rule("GV207", "grad.fake-requires-grad", "error", look)
