"""GV513: a detached tensor was changed in place, and the graph still needed the values."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import with_message
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, calls, own_expressions, tokens

CALLS = 3


def look(case):
    """The change that backward stumbled over went through detach()."""
    for error in with_message(case, "modified by an inplace operation"):
        statement = case.cells.at(*case.cells.line(error.bump))
        name = _detached(case, statement) if statement is not None else ""
        if name:
            yield RULE.found(case, [name], place_of(case, statement), name=name)


def _detached(case, statement):
    """The detached expression that a statement changes, or ''."""
    if any(True for _ in calls(statement.node, "detach")):
        return ast.unparse(statement.node)[:60]
    node = statement.node
    changed = node.target if isinstance(node, ast.AugAssign) else getattr(node, "value", None)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
        changed = node.targets[0]
    for name in tokens(changed)[:1] if changed is not None else ():
        if _comes_detached(case, statement, name):
            return name
    return ""


def _comes_detached(case, statement, name, left=CALLS):
    """A line binds the name to something detached, or a caller hands that over as an argument."""
    for other in case.cells.assignments(name):
        if other.function in (None, statement.function):
            if _gives_detached(case, other, own_expressions(other.node), left):
                return True
    return left > 0 and _handed_over(case, statement.function, name, left - 1)


def _gives_detached(case, statement, parts, left):
    """One of the expressions ``parts`` detaches, or calls a function of the person's that returns
    something detached.
    """
    asked = [part for part in parts if isinstance(part, ast.Call)]
    if any(called(call) == "detach" for call in asked):
        return True
    made = [case.cells.definition(call, statement.owner) for call in asked if left]
    return any(_returns_detached(case, one, left - 1) for one in made if one is not None)


def _returns_detached(case, made, left):
    for inner in case.cells.within([made.cell]):
        if inner.function is not made.node or not isinstance(inner.node, ast.Return):
            continue
        if _gives_detached(case, inner, own_expressions(inner.node), left):
            return True
        if any(_comes_detached(case, inner, name, left) for name in tokens(inner.node.value)[:1]):
            return True
    return False


def _handed_over(case, function, name, left):
    """A call of the function gives something detached for the parameter with that name."""
    given = [a.arg for a in function.args.args] if function is not None else []
    if name not in given:
        return False
    at = given.index(name) - (given[0] == "self")
    for statement in case.cells.calling(function.name):
        for call in calls(statement.node, function.name):
            values = [k.value for k in call.keywords if k.arg == name] + call.args[at : at + 1]
            for value in values:
                if _gives_detached(case, statement, ast.walk(value), left):
                    return True
                if any(_comes_detached(case, statement, n, left) for n in tokens(value)[:1]):
                    return True
    return False


RULE = Rule("GV513", "alias.detach-storage", "warning", look)
