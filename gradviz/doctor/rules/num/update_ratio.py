"""GV409: steps out of all proportion to the weights that they change."""

from statistics import median

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first

STEPS = 5
LARGE, SMALL = 0.2, 1e-6


def look(case):
    """The median step of a matrix is more than a fifth of its size, or less than a millionth."""
    lines, told = {}, set()
    for held in best_first([h for h in case.held if h.facts.leaf]):
        ratios = case.updates.get(held.facts.own, ())
        ratio = median(ratios) if len(ratios) >= STEPS and held.facts.own not in told else None
        account = case.ledger.leaves.get(held.facts.own)
        if ratio is None or SMALL <= ratio <= LARGE or account is None or account.changed is None:
            continue
        told.add(held.facts.own)
        note = account.changed.note
        lines.setdefault((note[:2], ratio > LARGE), (note, ratio, []))[2].append(held)
    for note, ratio, group in lines.values():
        holders, ids = [h.path for h in group], [h.facts.id for h in group]
        fields = {"ratio": f"{ratio:.1g}", "count": len(group)}
        yield RULE.found(case, holders, case.place(note), None, ids, **fields)


RULE = Rule("GV409", "num.update-ratio", "info", look)
