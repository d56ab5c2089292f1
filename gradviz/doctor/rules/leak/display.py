"""GV105: Out, _ and the shell hold a tensor that was shown at the end of a cell."""

import ast
import re

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import displayed
from gradviz.texts import both

NUMBERED = re.compile(r"(?:Out\[|_)(\d+)\]?$")
HEAVY, MANY = 1_024, 50
PASSING = ("display", "traceback")


def look(case):
    """A displayed value with a graph, by tensor."""
    shown = {}
    for held in case.held:
        if held.category == "display" and held.facts.attached:
            shown.setdefault(held.facts.id, []).append(held)
    elsewhere = _elsewhere(case) if shown else ()
    for id, group in shown.items():
        group.sort(key=lambda held: (not held.path.startswith("Out["), len(held.path)))
        numbers = [int(found[1]) for held in group if (found := NUMBERED.match(held.root))]
        cell = numbers[0] if numbers else case.cell
        paths = [held.path for held in group]
        weight = case.graph.weigh([id])
        light = id in elsewhere or len(weight.nodes) < MANY
        severity = "info" if light and weight.bytes < HEAVY else "warning"
        place = displayed(case, cell)
        fields = {"number": cell, "store": _shown(case, cell, group)}
        yield RULE.found(case, paths, place, weight, [id], severity, **fields)


def _shown(case, cell, group):
    """What to show instead."""
    statement = case.cells.last_expression(cell)
    value = getattr(statement.node, "value", None) if statement is not None else None
    name = ast.unparse(value) if isinstance(value, ast.Name | ast.Attribute) else "x"
    kind = "number" if all(held.facts.shape == () for held in group) else "tensor"
    return both(f"findings.store.{kind}", value=name)


def _elsewhere(case):
    """Nodes that names and their objects hold as well, so that the display keeps nothing more."""
    others = [h for h in case.held if h.facts.attached and h.category not in PASSING]
    return case.graph.weigh({held.facts.id for held in others}).nodes


RULE = Rule("GV105", "leak.display-history", "warning", look)
