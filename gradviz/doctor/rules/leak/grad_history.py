"""GV115: .grad carries a graph, and each backward adds to it."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first


def look(case):
    """A leaf whose gradient has a graph: over several backward passes a chain, after one a cycle in
    PyTorch.
    """
    seen = set()
    for held in best_first([h for h in case.held if h.facts.leaf and h.facts.grad_attached]):
        if held.facts.id in seen:
            continue
        seen.add(held.facts.id)
        account = case.ledger.leaves.get(held.facts.own)
        if account is None or not account.run:
            continue
        sweep = case.ledger.sweep(account.run[-1][0])
        place = case.place(sweep.note) if sweep is not None else None
        grads = [
            h.facts.id for h in case.held if h.category == "grad" and h.path == f"{held.path}.grad"
        ]
        older = (
            place is not None
            and place.cell is not None
            and case.cell is not None
            and case.cell > place.cell
        )
        severity = "warning" if len(account.run) >= 2 or older else "info"
        weight = case.graph.weigh(grads)
        yield RULE.found(
            case, [f"{held.path}.grad"], place, weight, grads, severity, count=len(account.run)
        )


RULE = Rule("GV115", "leak.grad-history", "warning", look)
