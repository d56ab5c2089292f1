"""GV313: gradients are clipped while they are still multiplied by the scale."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import nearby, ran
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, receiver, tokens


def look(case):
    """In one function or cell, with the functions it calls: scaler.scale(loss).backward(), then
    clipping, without scaler.unscale_ between.
    """
    for statements in scopes(case):
        scaled = ""
        for statement in statements:
            for call in calls(statement.node, "scale"):
                if any(True for _ in calls(statement.node, "backward")):
                    scaled = _name(call) if is_enabled(case, call) else ""
            stepped = any(_name(c) == scaled for c in calls(statement.node, "step"))
            if stepped or any(True for _ in calls(statement.node, "unscale_", "update")):
                scaled = ""
            if scaled and _clips(statement.node):
                if ran(case, statement):
                    yield RULE.found(case, [scaled], place_of(case, statement), name=scaled)


CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")
CLAMPS = ("clamp_", "clip_", "clamp_min_", "clamp_max_")


def _clips(node):
    """A function of ours that clips, or ``p.grad.clamp_(…)``."""
    owners = [receiver(call) for call in calls(node, *CLAMPS)]
    by_hand = any(o is not None and "grad" in tokens(o)[-2:] for o in owners)
    return by_hand or any(True for _ in calls(node, *CLIPS))


def _name(call):
    return ast.unparse(receiver(call)) if receiver(call) is not None else ""


def scopes(case):
    """The statements of each function, and of each cell outside functions, in order, with those of
    the functions that they call.
    """
    out = {}
    for statement in nearby(case, "scale"):
        out.setdefault((statement.cell, id(statement.function)), []).append(statement)
    for found in out.values():
        found.sort(key=lambda s: (s.line, s.index))
        yield [inner for each in found for inner in case.cells.performed(each)]


def is_enabled(case, call):
    """Whether the scaler that is called scales; one that is gone is taken to."""
    scalers = {h.path: h.thing for h in case.objects if "_growth_factor" in h.thing.__dict__}
    mine = scalers.get(_name(call))
    asked = [mine] if mine is not None else list(scalers.values())
    return not asked or any(bool(one.__dict__.get("_enabled", True)) for one in asked)


RULE = Rule("GV313", "amp.clip-before-unscale", "warning", look)
