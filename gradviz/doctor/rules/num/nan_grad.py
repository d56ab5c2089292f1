"""GV401: a gradient is not a number."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first
from gradviz.doctor.numbers import scaled, usable


def look(case):
    """A leaf has a gradient with NaN or infinity, and no gradient scaler that would expect it."""
    lines = {}
    if scaled(case):
        return
    for held in best_first([h for h in case.held if h.facts.leaf and h.facts.grad]):
        values = case.graph.grad_values(held.facts.id)
        account = case.ledger.leaves.get(held.facts.own)
        if account is None or not account.run or not usable(values) or np.isfinite(values).all():
            continue
        sweep = case.ledger.sweep(account.run[-1][0])
        if (
            sweep is not None
            and sweep.note
            and not any(h.path == held.path for h in lines.get(sweep.note[:2], (0, []))[1])
        ):
            lines.setdefault(sweep.note[:2], (sweep, []))[1].append(held)
    for sweep, group in lines.values():
        holders = [f"{held.path}.grad" for held in group]
        yield RULE.found(case, holders, case.place(sweep.note), None, [h.facts.id for h in group])


RULE = Rule("GV401", "num.nan-grad", "error", look)
