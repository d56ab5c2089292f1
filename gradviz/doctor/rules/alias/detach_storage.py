"""GV202: a detached tensor was changed in place, and the graph still needed the values."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import with_message
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, tokens


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
        if any(True for s in case.cells.assignments(name) for _ in calls(s.node, "detach")):
            return name
    return ""


RULE = Rule("GV202", "alias.detach-storage", "warning", look)
