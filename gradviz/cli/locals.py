"""What the main function of a script has when it returns: a leak in there is as real as one at the
top level, but gone when the script has ended. The function keeps its locals for one look.
"""

from __future__ import annotations

import ast
import sys

KEEPER = "__gradviz_keep__"
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class KeepLocals(ast.NodeTransformer):
    """Changes the functions that the last statement of a script calls (``main()``, also below
    ``if __name__ == "__main__":``): when they return, ``keep`` gets their locals. ``kept``: (name,
    locals) of each, until somebody clears it.
    """

    def __init__(self, names: dict):
        self.kept: list[tuple[str, dict]] = []
        names[KEEPER] = self._keep

    def _keep(self, name, found):
        if sys.exception() is None:  # else the traceback has the frame
            self.kept = [*((n, f) for n, f in self.kept if n != name), (name, dict(found))]

    def visit_Module(self, node):
        """Every function of the script that its end calls."""
        called = _called_last(node.body)
        for statement in node.body:
            if isinstance(statement, FUNCTIONS) and statement.name in called:
                _keeps_locals(statement)
        return ast.fix_missing_locations(node)


def _called_last(body):
    """The names that the last statement calls by themselves."""
    last = body[-1] if body else None
    statements = last.body if isinstance(last, ast.If) else [last] if last is not None else []
    calls = [one.value for one in statements if isinstance(one, ast.Expr | ast.Assign)]
    made = [call.func for call in calls if isinstance(call, ast.Call)]
    return {func.id for func in made if isinstance(func, ast.Name)}


def _keeps_locals(function):
    """``try: … finally: keep(name, locals())`` around the body, which stays where it is."""
    if any(isinstance(part, ast.Yield | ast.YieldFrom) for part in ast.walk(function)):
        return
    said = ast.parse(f"{KEEPER}({function.name!r}, locals())").body
    for part in ast.walk(said[0]):
        ast.copy_location(part, function.body[-1])
    said_first = function.body[: ast.get_docstring(function, clean=False) is not None]
    inside = function.body[len(said_first) :] or [ast.Pass()]
    around = ast.Try(body=inside, handlers=[], orelse=[], finalbody=said)
    function.body = [*said_first, ast.copy_location(around, function.body[-1])]
