"""GV604: copies of values that nothing changes."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, own_expressions, receiver

MANY = 20


def look(case):
    """A line has made many clones, and each goes at once into an operation that changes nothing."""
    told = set()
    for node in case.graph.made_by("CloneBackward"):
        place = case.place(case.graph.note(node))
        line = case.cells.line(place)
        if line in told:
            continue
        told.add(line)
        statement = case.cells.at(*line)
        cloned = _used_up(statement.node) if statement is not None else ""
        count = len([i for i in case.graph.made_at(*line) if "Clone" in case.graph.op(i)])
        if cloned and count >= MANY:
            yield RULE.found(case, [cloned], place_of(case, statement), name=cloned, count=count)


def _used_up(node):
    """The x of an ``x.clone()`` that is an operand of ``+ - * / ** @`` or a comparison."""
    for part in own_expressions(node):
        operands = ()
        if isinstance(part, ast.BinOp):
            operands = part.left, part.right
        elif isinstance(part, ast.Compare):
            operands = part.left, *part.comparators
        for operand in operands:
            if isinstance(operand, ast.Call) and called(operand) == "clone":
                owner = receiver(operand)
                if owner is not None:
                    return ast.unparse(owner)
    return ""


RULE = Rule("GV604", "perf.needless-clone", "info", look)
