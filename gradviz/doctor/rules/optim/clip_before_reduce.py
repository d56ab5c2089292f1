"""GV312: gradients are clipped before they are summed over the processes."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import ran
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")


def look(case):
    """In one function or cell, and one iteration: a clip, then all_reduce of .grad, then a step."""
    for clip in case.cells.calling(*CLIPS):
        later = [s for s in case.cells.within([clip.cell]) if _follows(s, clip)]
        reduced = next((s for s in later if _reduces(s)), None)
        if (
            reduced is not None
            and ran(case, clip)
            and any(_is_after(s, reduced) for s in later if _steps(s))
        ):
            yield RULE.found(case, [], place_of(case, clip), line=reduced.line)


def _follows(statement, clip):
    same = (statement.cell, statement.function) == (clip.cell, clip.function)
    return same and statement.line > clip.line and set(clip.loops) <= set(statement.loops)


def _is_after(statement, other):
    return statement.line > other.line


def _steps(statement):
    return any(True for _ in calls(statement.node, "step"))


def _reduces(statement):
    for call in calls(statement.node, "all_reduce", "all_reduce_coalesced", "reduce"):
        if any(isinstance(p, ast.Attribute) and p.attr == "grad" for p in ast.walk(call)):
            return True
    return False


RULE = Rule("GV312", "optim.clip-before-reduce", "warning", look)
