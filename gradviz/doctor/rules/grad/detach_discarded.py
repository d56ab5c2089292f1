"""GV305: x.detach() as a statement: its result is thrown away and x stays attached."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, receiver

ONWARD = ("cpu", "clone", "numpy", "contiguous", "squeeze", "float", "double")


def look(case):
    """A statement that is only a call of detach(), not the value shown at the end of a cell, and
    was executed.
    """
    ran = {case.cells.line(case.place(cut.note)) for cut in case.cuts if cut.how == "detach"}
    for statement in case.cells.calling("detach") if ran else ():
        call = statement.node.value if isinstance(statement.node, ast.Expr) else None
        while isinstance(call, ast.Call) and called(call) in ONWARD:
            call = receiver(call)
        if not isinstance(call, ast.Call) or called(call) != "detach" or receiver(call) is None:
            continue
        shown = statement is case.cells.last_expression(statement.cell)
        if not shown and (statement.cell, statement.line) in ran:
            name = ast.unparse(receiver(call))
            yield RULE.found(case, [name], place_of(case, statement), name=name)


RULE = Rule("GV305", "grad.detach-discarded", "warning", look)
