"""GV107: a function that is still alive holds tensors with graphs in its closure."""

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import READ, carried, consumed, elsewhere, finished, read_only
from gradviz.doctor.where import put, stored
from gradviz.watch.program import names_in


def look(case):
    """A container in a closure with a history, or a captured result whose backward is over."""
    for group in case.units("closure").values():
        inside = any(step.kind == "item" for step in group[0].steps[_cell(group[0]) + 1 :])
        history = finished(case, group) or read_only(case, group)
        severity = "info" if any(carried(case, held) for held in group) else "warning"
        if not history and not inside:
            history = [h for h in group if case.graph.swept(h.facts.id)] or _read(case, group)
            history = history or _to_be_read(case, group)
        if history:
            name = str(group[0].steps[_cell(group[0])].name)
            weight = case.graph.weigh(ids(history))
            place = put(case, history)
            store = stored(case, place, history)
            yield RULE.found(
                case, paths(history), place, weight, ids(history), severity, name=name, store=store
            )


def _read(case, group):
    """Results that nothing else holds and that were merely read as numbers."""
    if elsewhere(case, group, "name", "container", "attribute") or consumed(case, group):
        return []
    read = set().union(*(cut.sources | cut.below for cut in case.cuts if cut.how in READ), ())
    return [held for held in group if held.facts.id in read]


def _to_be_read(case, group):
    """Results that nothing else holds and that every statement of the function reads numbers of."""
    name = str(group[0].steps[_cell(group[0])].name)
    function = _function(group[0])
    if function is None or elsewhere(case, group, "name", "container", "attribute"):
        return []
    made = case.places.at(function.co_filename, function.co_firstlineno, function.co_name)
    inside = case.cells.within([case.cells.unit(made)]) if made is not None else ()
    body = [s for s in inside if getattr(s.function, "lineno", 0) == made.line]
    using = [s.node for s in body if name in names_in(s.node, plain=True)]
    plain = bool(using) and not any(name in names_in(node) for node in using)
    return group if plain and not consumed(case, group) else []


def _function(held):
    """The code of the function that a path goes into the closure of."""
    owners = list(held.link.owners())
    function = (
        owners[len(held.steps) - 1 - _cell(held)] if len(owners) >= len(held.steps) - 1 else None
    )
    return getattr(function, "__code__", None)


def _cell(held):
    return max(i for i, step in enumerate(held.steps) if step.kind == "closure")


RULE = Rule("GV107", "leak.closure", "warning", look)
