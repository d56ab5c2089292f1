"""GV109: functools.cache or lru_cache keeps results (and arguments) with their graphs."""

import ast

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.where import line_of


def look(case):
    """Cached results that carry a graph, by function."""
    groups = {}
    for held in case.held:
        if held.category == "cache" and held.facts.attached:
            groups.setdefault(_function(held), []).append(held)
    for name, group in groups.items():
        results = [
            held for held in group if any(step.kind == "cache" for step in held.steps)
        ] or group
        weight = case.graph.weigh(ids(group))
        yield RULE.found(
            case, paths(results), _place(case, name, group), weight, ids(group), name=name
        )


def _function(held):
    at = min(i for i, step in enumerate(held.steps) if step.kind in ("cache", "cachekey"))
    return str(held.steps[at - 1].name)


def _place(case, name, group):
    """The decorator, else the line that made the result."""
    statement = case.cells.function(name)
    for decorator in statement.node.decorator_list if statement is not None else ():
        if "cache" in ast.unparse(decorator):
            return line_of(case, statement.cell, decorator.lineno)
    return group[0].facts.place


RULE = Rule("GV109", "leak.cache", "warning", look)
