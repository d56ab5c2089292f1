"""GV651: gradients are clipped while they are still multiplied by the scale."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, receiver


def look(case):
    """In one function or cell: scaler.scale(loss).backward(), then clipping, without
    scaler.unscale_ between.
    """
    scalers = {h.path: h.thing for h in case.objects if "_growth_factor" in h.thing.__dict__}
    if scalers and not any(_enabled(thing) for thing in scalers.values()):
        return
    scopes = {}
    for statement in case.cells.statements:
        scopes.setdefault((statement.cell, id(statement.function)), []).append(statement)
    for statements in scopes.values():
        scaled = ""
        for statement in sorted(statements, key=lambda s: (s.line, s.index)):
            for call in calls(statement.node, "scale"):
                if any(True for _ in calls(statement.node, "backward")):
                    scaled = _name(call) if _enabled(scalers.get(_name(call))) else ""
            if any(_name(c) == scaled for c in calls(statement.node, "unscale_", "step", "update")):
                scaled = ""
            if scaled and any(True for _ in calls(statement.node, *CLIPS)):
                yield RULE.found(case, [scaled], place_of(case, statement), name=scaled)


CLIPS = ("clip_grad_norm_", "clip_grad_value_")


def _name(call):
    return ast.unparse(receiver(call)) if receiver(call) is not None else ""


def _enabled(scaler):
    return scaler is None or bool(scaler.__dict__.get("_enabled", True))


RULE = Rule("GV651", "amp.clip-before-unscale", "warning", look)
