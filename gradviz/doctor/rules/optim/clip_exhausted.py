"""GV311: clip_grad_… was given an iterator of parameters that was used up before."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import called, calls, tokens

CLIPS = ("clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_")
ONCE = frozenset("parameters named_parameters filter map chain zip islice iter".split())


def look(case):
    """A name bound to model.parameters() itself, or to a filter, a chain or a generator of them,
    was handed to an earlier call, and the clipping that takes it changes no gradient.
    """
    for clip in case.cells.calling(*CLIPS):
        for call in calls(clip.node, *CLIPS):
            asked = call.args[0] if call.args else None
            name = tokens(asked)[-1] if isinstance(asked, ast.Name | ast.Attribute) else ""
            if name and _is_used_up(case, clip, asked, name):
                said = _path(case, asked, name)
                yield RULE.found(case, [said], place_of(case, clip), name=ast.unparse(asked))


def _is_used_up(case, clip, asked, name):
    """The name is bound to something that can be gone through once, and another call took it, or
    the clipping itself when it ran before.
    """
    inside = isinstance(asked, ast.Attribute)
    bound = [s for s in case.cells.assignments(name, inside) if _seen_from(clip, s, inside)]
    if not bound or not _can_be_used_once(bound[-1].node.value):
        return False
    near = case.cells.mentioning(name)
    if any(_takes(s, name) for s in near if s is not clip and _seen_from(clip, s, inside)):
        return _idle(case, clip)
    repeats = set(clip.loops) - set(bound[-1].loops) or clip.function is not bound[-1].function
    return bool(repeats) and _idle(case, clip, 1)


def _seen_from(clip, statement, inside):
    if inside:
        return (statement.cell, statement.owner) == (clip.cell, clip.owner)
    return statement.function in (None, clip.function)


def _can_be_used_once(value):
    if isinstance(value, ast.GeneratorExp):
        return True
    if not isinstance(value, ast.Call) or called(value) not in ONCE:
        return False
    methods = ("parameters", "named_parameters")
    return called(value) in methods or any(
        isinstance(p, ast.Call) and called(p) in methods for p in ast.walk(value)
    )


def _takes(statement, name):
    """A call in the statement has the name among its arguments, or a loop goes through it."""
    if isinstance(statement.node, ast.For) and tokens(statement.node.iter)[-1:] == [name]:
        return True
    for part in ast.walk(statement.node):
        if isinstance(part, ast.comprehension) and tokens(part.iter)[-1:] == [name]:
            return True
        if isinstance(part, ast.Call) and any(tokens(a)[-1:] == [name] for a in part.args):
            return True
    return False


def _idle(case, clip, first=0):
    """Gradients came in, and the clipping changed none of them; but in the ``first`` passes."""
    events, sweeps = case.ledger.events, [s for s in case.ledger.sweeps if s.leaves][first:]
    if len(sweeps) <= first or (events and events[0].order > sweeps[-1].order):
        return False
    late = [e for e in events if e.entry in CLIPS and e.order > sweeps[0].order]
    lines = {case.cells.line(case.place(e.note)) for e in late}
    end = clip.node.end_lineno or clip.line
    return not any(unit == clip.cell and clip.line <= line <= end for unit, line in lines if line)


def _path(case, asked, name):
    """How a person reaches it: ``trainer.params`` of ``self.params``."""
    if isinstance(asked, ast.Attribute):
        for holding in case.objects:
            if name in holding.thing.__dict__:
                return f"{holding.path}.{name}"
    return ast.unparse(asked)


RULE = Rule("GV311", "optim.clip-exhausted", "warning", look)
