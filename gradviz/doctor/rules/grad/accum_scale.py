"""GV303: gradients of mean losses are summed over several batches."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first

MEANS = (
    "MeanBackward",
    "L1Loss",
    "MseLoss",
    "NllLoss",
    "BinaryCrossEntropy",
    "SmoothL1Loss",
    "HuberLoss",
    "KlDiv",
)


def look(case):
    """One line calls backward on a mean several times before the gradient is cleared or used; not
    where others of its gradients were used in between.
    """
    lines = {}
    for held in best_first([h for h in case.held if h.facts.leaf]):
        account = case.ledger.leaves.get(held.facts.own)
        sweeps = (
            [case.ledger.sweep(number) for number, _ in account.longest]
            if account is not None
            else []
        )
        if len(sweeps) < 2 or account.stale or not all(s is not None and _mean(s) for s in sweeps):
            continue
        notes = {s.note[:2] for s in sweeps}
        if len(notes) == 1 and not _stepped_between(case, sweeps):
            lines.setdefault(notes.pop(), (sweeps, []))[1].append(held)
    for sweeps, group in lines.values():
        holders = [f"{held.path}.grad" for held in group]
        yield RULE.found(case, holders, case.place(sweeps[0].note), count=len(sweeps))


def _stepped_between(case, sweeps):
    """Something that the first pass gave a gradient was changed before the second."""
    first, second = sweeps[0].serial, sweeps[1].serial
    accounts = [case.ledger.leaves[i] for i in sweeps[0].leaves if i in case.ledger.leaves]
    return any(first < at <= second for account in accounts for at in account.change_serials)


def _mean(sweep):
    return (
        bool(sweep.root_ops)
        and all(op.startswith(MEANS) for op in sweep.root_ops)
        and not sweep.create
    )


RULE = Rule("GV303", "grad.accum-scale", "info", look)
