"""GV408: gradients in half precision underflow to zero."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first
from gradviz.doctor.numbers import usable

SHARE = 0.5
FEW = 4


def look(case):
    """More than half of a float16 leaf's gradient is zero or too small to be a normal number, and
    some of it is not zero.
    """
    found = []
    for held in best_first([h for h in case.held if h.facts.leaf and h.facts.dtype == "float16"]):
        values = case.graph.grad_values(held.facts.id)
        if usable(values) and values.dtype == np.float16 and values.size >= FEW:
            size = np.abs(values)
            lost = float((size < np.finfo(np.float16).smallest_normal).mean())
            if lost > SHARE and (size > 0).any():
                found.append((held, lost))
    lines = {}
    for held, lost in found:
        account = case.ledger.leaves.get(held.facts.own)
        sweep = case.ledger.sweep(account.run[-1][0]) if account and account.run else None
        if sweep is not None and sweep.note:
            lines.setdefault(sweep.note[:2], (sweep, lost, []))[2].append(held)
    for sweep, lost, group in lines.values():
        holders = list(dict.fromkeys(f"{held.path}.grad" for held in group))
        share = f"{lost:.0%}"
        yield RULE.found(case, holders, case.place(sweep.note), share=share)


RULE = Rule("GV408", "num.underflow", "warning", look)
