"""GV108: a mutable default argument collects tensors with graphs."""

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.where import place_of, put, stored


def look(case):
    """Anything with a graph inside a default value: the default lives as long as the function."""
    for group in case.units("default").values():
        name = _function(group[0])
        place = place_of(case, case.cells.function(name)) or put(case, group)
        weight, store = case.graph.weigh(ids(group)), stored(case, put(case, group), group)
        yield RULE.found(case, paths(group), place, weight, ids(group), name=name, store=store)


def _function(held):
    """The name of the function whose default it is."""
    at = max(i for i, step in enumerate(held.steps) if step.kind in ("default", "kwdefault"))
    function = list(held.link.owners())[len(held.steps) - 1 - at]
    return getattr(function, "__name__", str(held.steps[at - 1].name))


RULE = Rule("GV108", "leak.default-arg", "warning", look)
