"""GV705: the gradient explodes through a long recurrence."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import usable

STEPS = 15
LARGE = 1e6


def look(case):
    """One line fed itself many times with the same leaf, whose gradient is huge now."""
    for held in case.held:
        if held.category != "name" or not held.facts.attached:
            continue
        links = case.graph.chain(held.facts.id)
        if len(links) < STEPS:
            continue
        for leaf in sorted(case.graph.weigh([held.facts.id]).leaves):
            values = case.graph.grad_values(leaf)
            if usable(values) and not np.linalg.norm(values) < LARGE:
                name = f"{case.named(leaf)}.grad"
                norm = f"{np.linalg.norm(values):.1e}"
                yield RULE.found(
                    case, [name], held.facts.place, None, [leaf], norm=norm, count=len(links)
                )


RULE = Rule("GV705", "num.exploding", "warning", look)
