"""GV405: the gradient explodes through a long recurrence."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import scaled, usable

STEPS = 15
LARGE = 1e6


def look(case):
    """One line fed itself many times, and the gradient of a leaf below is huge now."""
    told = set()
    for newest in [] if scaled(case) else case.graph.repeated(STEPS):
        links = case.graph.chain(newest)
        if len(links) < STEPS:
            continue
        for leaf in sorted(case.graph.weigh([newest]).leaves - told):
            values = case.graph.grad_values(leaf)
            if usable(values) and not np.linalg.norm(values) < LARGE:
                told.add(leaf)
                place = case.place(case.graph.note(newest))
                fields = {"norm": f"{np.linalg.norm(values):.1e}", "count": len(links)}
                yield RULE.found(case, [f"{case.named(leaf)}.grad"], place, None, [leaf], **fields)


RULE = Rule("GV405", "num.exploding", "warning", look)
