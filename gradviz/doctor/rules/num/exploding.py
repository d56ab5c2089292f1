"""GV405: the gradient explodes through a long recurrence."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import scaled, usable

STEPS = 15
LARGE = 1e6


def look(case):
    """One line fed itself many times, and the gradient of a leaf below is huge now."""
    told, norms = set(), {}
    for graph in () if scaled(case) else (case.graph, case.past):
        for newest in graph.repeated(STEPS):
            leaves = sorted(graph.below(newest)[1] - told)
            huge = [leaf for leaf in leaves if not _norm(graph, leaf, norms) < LARGE]
            links = graph.chain(newest) if huge else ()
            if len(links) < STEPS:
                continue
            place = case.place(graph.note(newest))
            for leaf in huge:
                told.add(leaf)
                fields = {"norm": f"{norms[leaf]:.1e}", "count": len(links)}
                holders = [f"{case.named(leaf)}.grad"]
                yield RULE.found(case, holders, place, None, [leaf], **fields)


def _norm(graph, leaf, known):
    """The norm of a leaf's gradient, 0 where there is none; remembered."""
    if leaf not in known:
        values = graph.grad_values(leaf)
        known[leaf] = np.linalg.norm(values) if usable(values) else 0.0
    return known[leaf]


RULE = Rule("GV405", "num.exploding", "warning", look)
