"""GV101: a list, dict or other container collects tensors with their graphs."""

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import (
    carried,
    finished,
    outdated,
    passed_over,
    read_as_a_whole,
    read_only,
    unrolled,
)
from gradviz.doctor.where import put, stored


def look(case):
    """A container whose items come from one line and from several finished training steps (or were
    only read).
    """
    for group in (*case.units("container").values(), *inside_objects(case)):
        if any(held.facts.retains for held in group) or carried(case, group[-1]):
            continue
        history, severity = finished(case, group), "warning"
        if not history and not unrolled(case, group):
            history = outdated(case, group)
            if not history:
                history = read_only(case, group)
                severity = "warning" if history and passed_over(case, history) else "info"
            history = history or read_as_a_whole(case, group)
        if len(history) < 2:
            continue
        order = {id(held): at for at, held in enumerate(group)}
        history.sort(key=lambda held: order[id(held)])
        for part in _parts(case, history):
            weight, place = case.graph.weigh(ids(part)), put(case, part)
            count = len(part) + case.unseen.get(id(part[-1].link.owner), 0)
            store = stored(case, place, part)
            fields = {"count": count, "name": part[0].holder, "store": store}
            yield RULE.found(case, paths(part), place, weight, ids(part), severity, **fields)


def _parts(case, history):
    """``log["train"]`` and ``log["test"]`` by themselves, when different lines fill them."""
    parts = {}
    for held in history:
        items = [str(step.name) for step in held.steps if step.kind == "item"]
        key = tuple(name for name in items[:-1] if not name.isdigit())
        parts.setdefault(key, []).append(held)
    if len(parts) < 2 or any(len(part) < 2 for part in parts.values()):
        return [history]
    lines = {case.cells.line(put(case, part)) for part in parts.values()}
    return list(parts.values()) if len(lines) == len(parts) else [history]


def inside_objects(case):
    """Tensors that are attributes of objects that a container holds."""
    for group in case.units("attribute").values():
        if (
            any(step.kind == "item" for step in group[0].steps[1:-1])
            and len(finished(case, group)) >= 2
        ):
            yield group


RULE = Rule("GV101", "leak.container", "warning", look)
