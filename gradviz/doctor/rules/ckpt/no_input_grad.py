"""GV211: a reentrant checkpoint whose inputs need no gradient gives its parameters none."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, keyword, targets


def look(case):
    """checkpoint(…, use_reentrant=True) gave a result that is not attached, though parameters took
    part.
    """
    ran = {case.cells.line(case.place(cut.note)) for cut in case.cuts if cut.leaves}
    tracked = {h.path for h in case.held if h.facts.attached}
    for statement in case.cells.calling("checkpoint", "checkpoint_sequential"):
        for call in calls(statement.node, "checkpoint", "checkpoint_sequential"):
            asks = keyword(call, "use_reentrant")
            names = [ast.unparse(target) for target in targets(statement.node)]
            here = any(
                statement.cell == unit and statement.line <= line <= statement.node.end_lineno
                for unit, line in ran
            )
            if (
                isinstance(asks, ast.Constant)
                and asks.value is True
                and here
                and not tracked & set(names)
            ):
                name = ast.unparse(call.args[0]) if call.args else ""
                yield RULE.found(case, [name], place_of(case, statement), name=name)


RULE = Rule("GV211", "ckpt.no-input-grad", "warning", look)
