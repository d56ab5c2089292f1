"""GV651: gradients are clipped while they are still multiplied by the scale."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, receiver


def look(case):
    """In one block: scaler.scale(loss).backward(), then clipping, without
    scaler.unscale_ between.
    """
    scalers = {
        h.path for h in case.objects if "_growth_factor" in h.thing.__dict__ and _enabled(h.thing)
    }
    blocks = {}
    for statement in case.cells.statements:
        blocks.setdefault((statement.cell, id(statement.block)), []).append(statement)
    for block in blocks.values():
        scaled = ""
        for statement in block:
            for call in calls(statement.node, "scale"):
                if _name(call) in scalers and any(True for _ in calls(statement.node, "backward")):
                    scaled = _name(call)
            if any(
                _name(call) == scaled
                for call in calls(statement.node, "unscale_", "step", "update")
            ):
                scaled = ""
            if scaled and any(
                True for _ in calls(statement.node, "clip_grad_norm_", "clip_grad_value_")
            ):
                yield RULE.found(case, [scaled], place_of(case, statement), name=scaled)


def _name(call):
    return ast.unparse(receiver(call)) if receiver(call) is not None else ""


def _enabled(scaler):
    return bool(scaler.__dict__.get("_enabled", True))


RULE = Rule("GV651", "amp.clip-before-unscale", "warning", look)
