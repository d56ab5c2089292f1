"""GV302: gradients are cleared between backward() and step()."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import nearby
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, keyword, receiver, targets


def look(case):
    """In one block, with the functions it calls: backward, then zero_grad, then a step, which found
    no gradient to use. In a loop the next iteration may do so.
    """
    if not case.cells.calling("step"):
        return
    optimizers = {one.path.rpartition(".")[2] for one in case.optimizers}
    for block in _blocks(case):
        swept, cleared, stepped, unused, lost = None, None, False, None, None
        once = [inner for each in block for inner in case.cells.performed(each)]
        twice = len(once) if _is_body(block[0]) else 0
        for at, statement in enumerate(once + once[:twice]):
            if any(True for _ in calls(statement.node, "backward")):
                lost = (unused, cleared, statement) if unused and cleared else lost
                swept, cleared, stepped, unused = statement, None, False, statement
            elif _reads(statement):
                unused, lost = None, None
            if swept is not None and (_clears(statement) or _zeroes(statement)):
                cleared = statement
            for call in calls(statement.node, "step"):
                known = _name(call).rpartition(".")[2] in optimizers
                sure = known or not (stepped or at >= len(once))
                if cleared is not None and sure and _in_vain(case, swept, statement):
                    yield _found(case, call, cleared)
                elif lost is not None and _replaced(case, lost[0], lost[2]):
                    yield _found(case, call, lost[1])
                cleared, stepped, unused, lost = None, True, None, None
    yield from _each_micro_batch(case)


def _is_body(statement):
    return bool(statement.loops) and statement.block is statement.loops[-1].body


def _found(case, step, cleared):
    name = _name(step)
    return RULE.found(case, [name], place_of(case, cleared), name=name)


def _name(step):
    return ast.unparse(receiver(step)) if receiver(step) is not None else "step"


def _each_micro_batch(case):
    """The only step of a loop is taken every few iterations, yet each iteration clears."""
    for step in case.cells.calling("step"):
        asked = next(calls(step.node, "step"), None)
        if asked is None or not step.loops:
            continue
        chosen = next((s for s in case.cells.within([step.cell]) if _chooses(s, step)), None)
        if chosen is None:
            continue
        body = step.loops[-1].body
        inside = [s for s in case.cells.within([step.cell]) if step.loops[-1] in s.loops]
        steps = [s for s in inside if any(True for _ in calls(s.node, "step"))]
        always = [s for s in inside if s.block is body and s.index < _end(chosen, step)]
        cleared = [s for s in always if _clears(s)]
        swept = [s for s in always if any(calls(s.node, "backward"))]
        if len(steps) == len(cleared) == len(swept) == 1 and len(_sweeps(case, swept[0])) >= 2:
            yield _found(case, asked, cleared[0])


def _chooses(statement, step):
    """``if i % n == 0:`` around the step, or ``if i % n: continue`` before it."""
    node = statement.node
    if not isinstance(node, ast.If) or not any(isinstance(p, ast.Mod) for p in ast.walk(node.test)):
        return False
    passes = isinstance(node.body[-1], ast.Continue) and statement.block is step.block
    return node.body is step.block or (passes and statement.index < step.index)


def _end(chosen, step):
    """Up to where a body runs in each iteration."""
    return chosen.index if chosen.block is step.block else len(chosen.block)


def _clears(statement):
    node = statement.node
    none = isinstance(node, ast.Assign) and getattr(node.value, "value", 0) is None
    if none and any(isinstance(t, ast.Attribute) and t.attr == "grad" for t in targets(node)):
        return True
    return any(not _keeps(call) for call in calls(node, "zero_grad"))


def _keeps(call):
    kept = keyword(call, "set_to_none")
    return isinstance(kept, ast.Constant) and kept.value is False


def _sweeps(case, statement):
    """The backward passes that the statement began."""
    return [s for s in case.ledger.sweeps if _is_at(case, s.note, statement) and not s.error]


def _is_at(case, note, statement):
    return case.cells.line(case.place(note)) == (statement.cell, statement.line)


def _blocks(case):
    seen, stepping = {}, {s.cell for s in nearby(case, "step")}
    by_hand = {s.cell for s in case.cells.mentioning("grad") if _clears(s)}
    also = case.cells.within(by_hand - {s.cell for s in nearby(case, "zero_grad")})
    for statement in [*nearby(case, "zero_grad"), *also]:
        if statement.cell in stepping:
            seen.setdefault((statement.cell, id(statement.block)), []).append(statement)
    return [sorted(block, key=lambda s: s.index) for block in seen.values()]


def _reads(statement):
    """Some gradient is used in the statement or inside it."""
    node = statement.node
    known = getattr(node, "_reads", None)
    if known is None:
        parts = [p for p in ast.walk(node) if isinstance(p, ast.Attribute) and p.attr == "grad"]
        known = node._reads = any(isinstance(part.ctx, ast.Load) for part in parts)
    return known


def _zeroes(statement):
    return any(_keeps(call) for call in calls(statement.node, "zero_grad"))


def _replaced(case, first, second):
    """All that the backward on one line gave was cleared before the one on the other began anew."""
    before, after = _sweeps(case, first), _sweeps(case, second)
    if not before or not after or not before[-1].leaves <= after[-1].leaves:
        return False
    accounts = [case.ledger.leaves.get(leaf) for leaf in before[-1].leaves]
    return bool(accounts) and all(a and a.run and a.run[0][0] == after[-1].number for a in accounts)


def _in_vain(case, swept, step):
    """The step found no gradient, or one of zeros."""
    sweeps = _sweeps(case, swept)
    accounts = [case.ledger.leaves.get(leaf) for leaf in (sweeps[-1].leaves if sweeps else ())]
    zeros = [a for a in accounts if a and a.zeroed and a.grad_changed.order > sweeps[-1].order]
    used = [a for a in zeros if a.changed and a.changed.order > a.grad_changed.order]
    return bool(used) or _idle(case, swept, step)


def _idle(case, swept, step):
    """Backward passes began on one line, and the step on the other never changed a leaf."""
    sweeps, events = _sweeps(case, swept), case.ledger.events
    if not sweeps or not sweeps[-1].leaves or (events and sweeps[-1].order < events[0].order):
        return False
    leaves = case.ledger.leaves
    changes = [event for event in events if event.kind == "bump" and event.subject in leaves]
    return not any(_is_at(case, event.note, step) for event in changes)


RULE = Rule("GV302", "grad.zeroed-early", "error", look)
