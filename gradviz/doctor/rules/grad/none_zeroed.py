"""GV204: code works with .grad after zero_grad() has set it to None."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first
from gradviz.doctor.mistakes import gradient_owners, raised


def look(case):
    """A cell ended because x.grad is None, and x is a leaf that had a gradient before."""
    for error in case.errors:
        if error.type not in ("TypeError", "AttributeError") or "NoneType" not in error.message:
            continue
        place = raised(error)
        for name in gradient_owners(case, place):
            leaf = next((h for h in case.held if h.path == name and h.facts.leaf), None)
            leaf = leaf or next((h for h in best_first(case.held) if _cleared(case, h)), None)
            account = case.ledger.leaves.get(leaf.facts.own) if leaf is not None else None
            if account is not None and account.total:
                holders = list(dict.fromkeys([f"{name}.grad", f"{leaf.path}.grad"]))
                yield RULE.found(case, holders, place, name=name)
                break


def _cleared(case, held):
    """A leaf that had a gradient and has none: one that ``for p in model.parameters()`` meets."""
    account = case.ledger.leaves.get(held.facts.own) if held.facts.leaf else None
    return account is not None and account.total > 0 and not held.facts.grad


RULE = Rule("GV204", "grad.none-zeroed", "error", look)
