"""GV105: Out, _ and the shell hold a tensor that was shown at the end of a cell."""

import re

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import displayed

NUMBERED = re.compile(r"(?:Out\[|_)(\d+)\]?$")


def look(case):
    """A displayed value with a graph, by tensor."""
    shown = {}
    for held in case.held:
        if held.category == "display" and held.facts.attached:
            shown.setdefault(held.facts.id, []).append(held)
    for id, group in shown.items():
        group.sort(key=lambda held: (not held.path.startswith("Out["), len(held.path)))
        numbers = [int(found[1]) for held in group if (found := NUMBERED.match(held.root))]
        cell = numbers[0] if numbers else case.cell
        paths = [held.path for held in group]
        yield RULE.found(
            case, paths, displayed(case, cell), case.graph.weigh([id]), [id], count=cell
        )


RULE = Rule("GV105", "leak.display-history", "warning", look)
