"""GV107: a function that is still alive holds tensors with graphs in its closure."""

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import READ, consumed, elsewhere, finished, read_only
from gradviz.doctor.where import put, stored


def look(case):
    """A container in a closure with a history, or a captured result whose backward is over."""
    for group in case.units("closure").values():
        inside = any(step.kind == "item" for step in group[0].steps[_cell(group[0]) + 1 :])
        history = finished(case, group) or read_only(case, group)
        if not history and not inside:
            history = [h for h in group if case.graph.swept(h.facts.id)] or _read(case, group)
        if history:
            name = str(group[0].steps[_cell(group[0])].name)
            weight = case.graph.weigh(ids(history))
            place = put(case, history)
            store = stored(case, place, history)
            yield RULE.found(
                case, paths(history), place, weight, ids(history), name=name, store=store
            )


def _read(case, group):
    """Results that nothing else holds and that were merely read as numbers."""
    if elsewhere(case, group, "name", "container", "attribute") or consumed(case, group):
        return []
    read = set().union(*(cut.sources | cut.below for cut in case.cuts if cut.how in READ), ())
    return [held for held in group if held.facts.id in read]


def _cell(held):
    return max(i for i, step in enumerate(held.steps) if step.kind == "closure")


RULE = Rule("GV107", "leak.closure", "warning", look)
