"""GV112: a hook that was never removed keeps tensors with graphs."""

import functools
import types

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.where import put
from gradviz.watch.links import path_of

FUNCTIONS = (types.FunctionType, types.MethodType, functools.partial)


def look(case):
    """Tensors that are held only through a hook: by its object, its closure or its defaults; and,
    said mildly, what a hook that stays on stores elsewhere.
    """
    yield from _held_by_hooks(case)
    yield from _stored_by_hooks(case)


def _held_by_hooks(case):
    groups = {}
    for held in case.held:
        if held.category == "hook" and held.facts.attached:
            groups.setdefault(_table(held), []).append(held)
    for table, group in groups.items():
        record = _record(case, group)
        place = case.place(record.note) if record is not None else group[0].facts.place
        name = record.name if record is not None else ""
        holders = [*paths(group)[:3], table, *paths(group)[3:]]
        yield RULE.found(case, holders, place, case.graph.weigh(ids(group)), ids(group), name=name)


def _stored_by_hooks(case):
    """Containers and attributes that the function of a hook writes into."""
    lines = {}
    for record in case.hooks:
        hook = record.hook()
        code = getattr(getattr(hook, "func", hook), "__code__", None)
        if code is not None and not record.removed:
            made = case.places.at(code.co_filename, code.co_firstlineno, code.co_name)
            lines[case.cells.line(made)] = record
    for group in case.units("container", "attribute").values() if lines else ():
        writer = case.cells.at(*case.cells.line(put(case, group)))
        nodes = () if writer is None else (writer.node, writer.function)
        keys = [(writer.cell, node.lineno) for node in nodes if node is not None]
        record = next((lines[key] for key in keys if key in lines), None)
        if record is not None:
            weight, where = case.graph.weigh(ids(group)), case.place(record.note)
            name = record.name
            yield RULE.found(case, paths(group), where, weight, ids(group), "info", name=name)


def _table(held):
    """The path of the hook table: ``conv._forward_hooks``."""
    at = max(i for i, step in enumerate(held.steps) if step.kind == "hooktable")
    return path_of(held.steps[: at + 1]).rpartition("[")[0]


def _record(case, group):
    """What was noted when the hook was registered."""
    for held in group:
        for owner in held.link.owners():
            if isinstance(owner, FUNCTIONS):
                for record in case.hooks:
                    if not record.removed and record.hook() == owner:
                        return record
    return None


RULE = Rule("GV112", "leak.hook", "warning", look)
