"""GV309: a history of numpy() or detach() results shows the newest values in every entry."""

from gradviz.doctor.finding import Rule, paths
from gradviz.doctor.where import bound, place_of, put
from gradviz.watch.program import calls

from .state_dict import SNAPSHOT


def look(case):
    """Two or more entries of one container are the same memory, and it belongs to a leaf that
    changes; or a container whose name says snapshot has what a leaf was before it changed.
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
    yield from _snapshots(case, leaves)
    for (_, storage, _), group in units.items():
        place = put(case, group, plain=True)
        if len(group) >= 2 and "state_dict" not in (place.code if place is not None else ""):
            holders = [*paths(group), leaves[storage].path]
            yield RULE.found(case, holders, place, count=len(group), name=leaves[storage].path)


def _snapshots(case, leaves):
    """``best = [p.data for p in net.parameters()]`` in a loop, and the leaves change afterwards."""
    units = {}
    for held in case.held:
        leaf = leaves.get(held.facts.storage)
        if held.category == "container" and leaf is not None and not held.facts.leaf:
            if not held.facts.attached and SNAPSHOT.fullmatch(held.root):
                units.setdefault(held.unit, []).append((held, leaf))
    for pairs in units.values():
        group, owners = [held for held, _ in pairs], [leaf for _, leaf in pairs]
        place = put(case, group, plain=True) or place_of(case, bound(case, group[0].root))
        line = case.cells.line(place)
        statement = case.cells.at(*line)
        cuts = [cut for cut in case.cuts if case.cells.line(case.place(cut.note)) == line]
        last = max((cut.first for cut in cuts), default=None)
        accounts = [case.ledger.leaves.get(leaf.facts.own) for leaf in owners]
        changed = [a.changed.order for a in accounts if a is not None and a.changed is not None]
        direct = statement is not None and not any(calls(statement.node, "state_dict"))
        if direct and statement.loops and last is not None and any(at > last for at in changed):
            yield RULE.found(case, paths(group), place, count=len(group), name=owners[0].path)


RULE = Rule("GV309", "alias.numpy", "warning", look)
