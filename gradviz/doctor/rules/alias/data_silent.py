"""GV307: values were changed through .data between forward and backward; autograd cannot notice."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, own_expressions


def look(case):
    """x.data was changed in place after a graph with x was built and before the backward through
    it.
    """
    told = set()
    for cut in case.cuts:
        place = case.place(cut.note) if cut.how == "data" else None
        statement = case.cells.at(*case.cells.line(place))
        name = _changed(statement) if statement is not None else ""
        if not name or case.cells.line(place) in told:
            continue
        for sweep in case.ledger.sweeps:
            between = sweep.roots and max(sweep.roots) < cut.serial < sweep.serial
            if between and not sweep.error and (cut.leaves & sweep.leaves or cut.sources):
                told.add(case.cells.line(place))
                yield RULE.found(case, [name], place_of(case, statement), name=name)
                break


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
