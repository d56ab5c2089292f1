"""GV120: the same hook was registered again and again."""

from bisect import bisect
from collections import Counter

from gradviz.doctor.finding import Rule


def look(case):
    """Two or more hooks with the same code, none removed, on one tensor or module, from
    one line: with the same values, or put there in different training steps.
    """
    groups = {}
    for record in case.hooks:
        target, hook = record.target(), record.hook()
        code = getattr(hook, "__code__", None)
        if record.removed or target is None or code is None or not record.note:
            continue
        if hook.__closure__:
            continue
        key = id(target), record.kind, code, id(getattr(hook, "__self__", None)), record.note[:2]
        groups.setdefault(key, []).append((record, target))
    lost = list(_of_lost_objects(case))
    for group in (*groups.values(), *lost):
        count = _stacked(case, [record for record, _ in group])
        if count >= 2:
            record, target = group[0]
            holder = _path(case, target)
            yield RULE.found(
                case,
                [f"{holder}._backward_hooks", holder],
                case.place(record.note),
                severity="info" if group in lost else None,
                name=record.name,
                count=count,
            )


def _of_lost_objects(case):
    """Hooks that are methods of objects of one class, of which only the hooks keep some."""
    groups = {}
    for record in case.hooks:
        target, hook = record.target(), record.hook()
        owner = getattr(hook, "__self__", None)
        if not record.removed and target is not None and owner is not None and record.note:
            key = id(target), record.kind, hook.__func__, record.note[:2]
            groups.setdefault(key, []).append((record, target, id(owner)))
    several = [group for group in groups.values() if len({owner for *_, owner in group}) >= 2]
    lost = {id(h.thing) for h in case.objects if _through_hook(h.link)} if several else set()
    for group in several:
        if len({owner for *_, owner in group} & lost) >= 2:
            yield [(record, target) for record, target, _ in group]


def _through_hook(link):
    while link is not None and link.kind != "hooktable":
        link = link.parent
    return link is not None


def _stacked(case, records):
    """How many of the hooks are too many: those whose defaults are the same, or all, when they
    came in three training steps or more.
    """
    alike = Counter(tuple(map(id, record.hook().__defaults__ or ())) for record in records)
    orders = [sweep.order for sweep in case.ledger.sweeps]
    steps = {bisect(orders, record.order) for record in records}
    return max(len(records) if len(steps) > 2 else 0, *alike.values())


def _path(case, target):
    """The path of the tensor or module that has the hooks."""
    for module in case.modules:
        if module.thing is target:
            return module.path
    own = getattr(target, "_id", None)
    return next((held.path for held in case.held if own is not None and held.facts.own == own), "")


RULE = Rule("GV120", "hook.stacked", "warning", look)
