"""GV307: values were changed through .data between forward and backward; autograd cannot notice."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, changed_in_place, own_expressions, targets


def look(case):
    """x.data was changed in place after a graph with x was built and before the backward through
    it.
    """
    told = set()
    for cut in case.cuts:
        place = case.place(cut.note) if cut.how == "data" and cut.stale else None
        here = case.cells.on(*case.cells.line(place))
        changes = [(_changed(s), s) for s in here] + [_changed_later(case, s) for s in here]
        name, statement = next((change for change in changes if change[0]), ("", None))
        if name and case.cells.line(place) not in told:
            told.add(case.cells.line(place))
            yield RULE.found(case, [name], place_of(case, statement), name=name)


def _changed_later(case, statement):
    """(x, the statement that changes d in place) of ``d = x.data``; ("", statement) without one."""
    value = getattr(statement.node, "value", None)
    names = {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}
    if names and isinstance(value, ast.Attribute) and value.attr == "data":
        for other in case.cells.within([statement.cell]):
            same = other.function is statement.function and _start(other) > _start(statement)
            if same and changed_in_place(other.node) & names:
                return ast.unparse(value.value), other
    return "", statement


def _start(statement):
    return statement.line, statement.node.col_offset


def _changed(statement):
    """The x of x.data[…] = …, x.data += … or x.data.method_(…)."""
    node = statement.node
    if isinstance(node, ast.Assign | ast.AugAssign):
        target = node.target if isinstance(node, ast.AugAssign) else node.targets[0]
        inner = target.value if isinstance(target, ast.Subscript) else target
        inside = isinstance(target, ast.Subscript) or isinstance(node, ast.AugAssign)
        if inside and isinstance(inner, ast.Attribute) and inner.attr == "data":
            return ast.unparse(inner.value)
    for part in own_expressions(node):
        if (
            isinstance(part, ast.Call)
            and called(part).endswith("_")
            and isinstance(part.func, ast.Attribute)
        ):
            owner = part.func.value
            if isinstance(owner, ast.Attribute) and owner.attr == "data":
                return ast.unparse(owner.value)
    return ""


RULE = Rule("GV307", "alias.data-silent", "warning", look)
