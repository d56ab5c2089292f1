"""GV204: code works with .grad after zero_grad() has set it to None."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import gradient_owners, raised


def look(case):
    """A cell ended because x.grad is None, and x is a leaf that had a gradient before."""
    for error in case.errors:
        if error.type not in ("TypeError", "AttributeError") or "NoneType" not in error.message:
            continue
        place = raised(error)
        for name in gradient_owners(case, place):
            leaf = next((h for h in case.held if h.path == name and h.facts.leaf), None)
            account = case.ledger.leaves.get(leaf.facts.own) if leaf is not None else None
            if account is not None and account.total:
                yield RULE.found(case, [f"{name}.grad"], place, name=name)
                break


RULE = Rule("GV204", "grad.none-zeroed", "error", look)
