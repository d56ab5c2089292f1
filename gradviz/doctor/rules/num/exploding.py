"""GV405: the gradient explodes through a long recurrence."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import scaled, usable

STEPS = 15
LARGE = 1e6


def look(case):
    """One line fed itself many times, and the gradient of a leaf below is huge now."""
    told = set()
    for graph in () if scaled(case) else (case.graph, case.past):
        for newest in graph.repeated(STEPS):
            links = graph.chain(newest)
            if len(links) < STEPS:
                continue
            for leaf in sorted(graph.below(newest)[1] - told):
                values = graph.grad_values(leaf)
                if usable(values) and not np.linalg.norm(values) < LARGE:
                    told.add(leaf)
                    place, norm = case.place(graph.note(newest)), np.linalg.norm(values)
                    fields = {"norm": f"{norm:.1e}", "count": len(links)}
                    holders = [f"{case.named(leaf)}.grad"]
                    yield RULE.found(case, holders, place, None, [leaf], **fields)


RULE = Rule("GV405", "num.exploding", "warning", look)
