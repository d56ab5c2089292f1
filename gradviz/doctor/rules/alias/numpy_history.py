"""GV309: a history of numpy() or detach() results shows the newest values in every entry."""

from gradviz.doctor.finding import Rule, paths
from gradviz.doctor.where import put


def look(case):
    """Two or more entries of one container are the same memory, and it belongs to a leaf that
    changes.
    """
    leaves = {h.facts.storage: h for h in case.held if h.facts.leaf}
    units = {}
    for held in (
        *case.arrays,
        *(h for h in case.held if not h.facts.leaf and not h.facts.attached),
    ):
        leaf = leaves.get(held.facts.storage)
        if held.category == "container" and leaf is not None:
            account = case.ledger.leaves.get(leaf.facts.own)
            if account is not None and account.changes:
                units.setdefault((held.unit, held.facts.storage, held.facts.address), []).append(
                    held
                )
    for (_, storage, _), group in units.items():
        place = put(case, group, plain=True)
        if len(group) >= 2 and "state_dict" not in (place.code if place is not None else ""):
            holders = [*paths(group), leaves[storage].path]
            yield RULE.found(case, holders, place, count=len(group), name=leaves[storage].path)


RULE = Rule("GV309", "alias.numpy", "warning", look)
