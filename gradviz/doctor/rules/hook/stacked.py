"""GV120: the same hook was registered again and again."""

from gradviz.doctor.finding import Rule


def look(case):
    """Two or more hooks with the same code, none removed, on one tensor or module, from
    one line.
    """
    groups = {}
    for record in case.hooks:
        target, hook = record.target(), record.hook()
        code = getattr(hook, "__code__", None)
        plain = code is not None and not hook.__closure__ and not hook.__defaults__
        if record.removed or target is None or not plain or not record.note:
            continue
        key = id(target), record.kind, code, id(getattr(hook, "__self__", None)), record.note[:2]
        groups.setdefault(key, []).append((record, target))
    for group in groups.values():
        if len(group) >= 2:
            record, target = group[0]
            holder = _path(case, target)
            place = case.place(record.note)
            yield RULE.found(
                case,
                [f"{holder}._backward_hooks", holder],
                place,
                name=record.name,
                count=len(group),
            )


def _path(case, target):
    """The path of the tensor or module that has the hooks."""
    for module in case.modules:
        if module.thing is target:
            return module.path
    own = getattr(target, "_id", None)
    return next((held.path for held in case.held if own is not None and held.facts.own == own), "")


RULE = Rule("GV120", "hook.stacked", "warning", look)
