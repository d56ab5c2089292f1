"""GV314: the optimiser steps by itself on gradients that are still multiplied by the scale."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import ran
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, receiver

from .clip_before_unscale import is_enabled, scopes


def look(case):
    """In one function or cell: scaler.scale(loss).backward(), then a step that is not the
    scaler's, without scaler.unscale_ between.
    """
    optimizers = {o.path.rpartition(".")[2] for o in case.optimizers}
    for statements in scopes(case):
        scaled = ""
        for statement in statements:
            for call in calls(statement.node, "scale"):
                if any(True for _ in calls(statement.node, "backward")):
                    scaled = ast.unparse(receiver(call)) if is_enabled(case, call) else ""
            if any(True for _ in calls(statement.node, "unscale_")):
                scaled = ""
            for call in calls(statement.node, "step") if scaled else ():
                name = ast.unparse(receiver(call)) if receiver(call) is not None else ""
                if name == scaled:
                    scaled = ""
                elif name.rpartition(".")[2] in optimizers and ran(case, statement):
                    yield RULE.found(case, [name], place_of(case, statement), name=name)
                    scaled = ""


RULE = Rule("GV314", "amp.raw-step", "warning", look)
