"""GV605: clip_grad_… was given a generator of parameters that was used up before."""

import ast
import types

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, calls, receiver


def look(case):
    """A name bound to model.parameters() itself, empty by now, is handed to a clipping function."""
    empty = {name for name, value in case.roots.user_ns.items() if _used_up(value)}
    for name in empty:
        values = [getattr(s.node, "value", None) for s in case.cells.assignments(name)]
        if not any(
            isinstance(v, ast.Call) and called(v) in ("parameters", "named_parameters")
            for v in values
        ):
            continue
        users = [s for s in case.cells.mentioning(name) if _takes(s, name)]
        for statement in users:
            if users[0] is not statement and any(True for _ in calls(statement.node, *CLIPS)):
                yield RULE.found(case, [name], place_of(case, statement), name=name)


CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")


def _used_up(value):
    return isinstance(value, types.GeneratorType) and value.gi_frame is None


def _takes(statement, name):
    """A call in the statement has the name among its arguments."""
    for part in ast.walk(statement.node):
        if isinstance(part, ast.Call) and receiver(part) is not None:
            if any(isinstance(a, ast.Name) and a.id == name for a in part.args):
                return True
    return False


RULE = Rule("GV605", "optim.clip-exhausted", "warning", look)
