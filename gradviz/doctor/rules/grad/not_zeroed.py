"""GV301: gradients of earlier steps are added to the new ones."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first


def look(case):
    """A step used a gradient that an earlier step had used; said mildly where nothing ever clears a
    gradient.
    """
    optimised = {leaf for optimizer in case.optimizers for leaf in optimizer.leaves}
    lines = {}
    for held in best_first([h for h in case.held if h.facts.leaf]):
        account = case.ledger.leaves.get(held.facts.own)
        if account is None:
            continue
        sure = bool(account.stale)
        if not sure and not _forgotten(case, account, optimised):
            continue
        sweep = case.ledger.sweep(account.stale[0][0] if sure else account.run[-1][0])
        if sweep is not None and sweep.note:
            lines.setdefault((sweep.note[:2], sure), (sweep, account, []))[2].append(held)
    yield from _gone(case, {sweep.note[:2] for sweep, _, _ in lines.values()})
    for (_, sure), (sweep, account, group) in lines.items():
        holders = [f"{held.path}.grad" for held in group]
        count = len(account.stale) if sure else len(account.run)
        severity = "warning" if sure else "info"
        yield RULE.found(
            case,
            holders,
            case.place(sweep.note),
            None,
            [h.facts.id for h in group],
            severity,
            count=count,
        )


def _gone(case, told):
    """The same of leaves that are gone with the function that trained them."""
    here = {held.facts.own for held in case.held if held.facts.leaf}
    for account in case.ledger.leaves.values():
        sweep = case.ledger.sweep(account.stale[0][0]) if account.stale else None
        if account.id in here or sweep is None or not sweep.note or sweep.note[:2] in told:
            continue
        told.add(sweep.note[:2])
        place = case.place(sweep.note)
        if place is not None and place.function:
            holders = [f"{place.function}(): .grad"]
            yield RULE.found(case, holders, place, count=len(account.stale))


def _forgotten(case, account, optimised):
    """Two or more backward passes into a gradient with a graph, or into a leaf that the optimisers
    do not know.
    """
    if len(account.run) < 2 or account.changes:
        return False
    sweep = case.ledger.sweep(account.run[-1][0])
    created = sweep is not None and sweep.create
    return created or bool(optimised and account.id not in optimised)


RULE = Rule("GV301", "grad.not-zeroed", "warning", look)
