"""GV101: a list, dict or other container collects tensors with their graphs."""

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import (
    carried,
    elsewhere,
    evaluated,
    finished,
    outdated,
    passed_over,
    read_as_a_whole,
    read_only,
    unrolled,
)
from gradviz.doctor.where import put, stored
from gradviz.watch.links import path_of
from gradviz.watch.program import calls, names_in

MAKING = ("tensor", "as_tensor", "Tensor")


def look(case):
    """A container whose items come from one line and from several finished training steps (or were
    only read).
    """
    for group in (*case.units("container").values(), *inside_objects(case)):
        if any(held.facts.retains for held in group) or carried(case, group[-1]):
            continue
        for part in _parts(case, group):
            history, severity = _history(case, part)
            if len(history) < 2:
                history, severity = _spent(case, part), "info"
            if not history:
                continue
            order = {id(held): at for at, held in enumerate(part)}
            history.sort(key=lambda held: order[id(held)])
            weight, place = case.graph.weigh(ids(history)), put(case, history)
            count = len(history) + case.unseen.get(id(history[-1].link.owner), 0)
            store = stored(case, place, history)
            fields = {"count": count, "name": _shared(history), "store": store}
            fields |= {"variant": "one"} if count == 1 else {}
            yield RULE.found(case, paths(history), place, weight, ids(history), severity, **fields)


def _shared(history):
    """What holds them all: ``calls`` of ``calls[0].args[0]`` and ``calls[1].args[0]``."""
    first = history[0]
    if all(held.holder == first.holder for held in history):
        return first.holder
    alike = [len(set(steps)) == 1 for steps in zip(*(held.steps for held in history), strict=False)]
    return path_of(first.steps[: alike.index(False)]) if False in alike[1:] else first.holder


def _history(case, group):
    """(what is no longer needed, how sure that is)."""
    history = finished(case, group)
    if not history and not unrolled(case, group):
        history = outdated(case, group)
        if not history:
            history = read_only(case, group)
            history = history or evaluated(case, group)
            over = history and passed_over(case, history) and not _rebuilt(case, history)
            severity = "warning" if over else "info"
            return history or read_as_a_whole(case, group), severity
    return history, "warning"


def _rebuilt(case, group):
    """A new tensor is made of their numbers: ``torch.tensor([p.item() for p in parts])``, GV202."""
    for statement in case.cells.calling(*MAKING):
        for call in calls(statement.node, *MAKING):
            if any(group[0].root in names_in(given, plain=True) for given in call.args):
                return True
    return False


def _spent(case, group):
    """Single results that a backward is through with and later ones did not need, kept by nothing
    but the container: ``best["loss"]``.
    """
    swept = [held for held in group if case.graph.swept(held.facts.id)]
    named = elsewhere(case, swept, "name")
    alone = [held for held in swept if held.facts.id not in named]
    return alone if alone and passed_over(case, alone) else []


def _parts(case, group):
    """``log["train"]`` and ``log["test"]`` by themselves, when different lines fill them."""
    parts = {}
    for held in group:
        items = [str(step.name) for step in held.steps if step.kind == "item"]
        key = tuple(name for name in items[:-1] if not name.isdigit())
        parts.setdefault(key, []).append(held)
    if len(parts) < 2 or any(len(part) < 2 for part in parts.values()):
        return [group]
    lines = {case.cells.line(put(case, part)) for part in parts.values()}
    return list(parts.values()) if len(lines) == len(parts) else [group]


def inside_objects(case):
    """Tensors that are attributes of objects that a container holds."""
    for group in case.units("attribute").values():
        if (
            any(step.kind == "item" for step in group[0].steps[1:-1])
            and len(finished(case, group)) >= 2
        ):
            yield group


RULE = Rule("GV101", "leak.container", "warning", look)
