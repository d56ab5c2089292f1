"""GV602: a backward also went into another model, whose gradients this loss is not meant for."""

from gradviz.doctor.finding import Rule

RECENT = 50


def look(case):
    """A retained backward reached all of one module through a named result that a later backward
    used again.
    """
    modules = [m for m in case.modules if m.parameters and len(m.steps) == 1]
    names = {h.facts.id: h for h in case.held if h.category == "name" and h.facts.attached}
    told = set()
    for sweep in case.ledger.sweeps:
        if not sweep.keep or sweep.create or sweep.error:
            continue
        whole = case.graph.weigh(case.graph.alive(sweep))
        for module in modules:
            leaves = set(module.parameters.values())
            if not leaves < sweep.leaves or module.path in told:
                continue
            for id in sorted(whole.nodes & names.keys()):
                if case.graph.weigh([id]).leaves == leaves and _again(case, sweep, id):
                    told.add(module.path)
                    place = case.place(sweep.note)
                    yield RULE.found(
                        case,
                        [f"{module.path}", names[id].path],
                        place,
                        None,
                        [id],
                        name=module.path,
                    )
                    break
    yield from _cleared_unused(case, told)
    yield from _never_used(case, told)


def _cleared_unused(case, told):
    """After a backward into a module other leaves were stepped, not its own; the next
    backward found its gradients cleared.
    """
    owners = {}
    for module in case.modules:
        for leaf in module.parameters.values():
            owners.setdefault(leaf, []).append(module)
    for sweep in list(case.ledger.sweeps)[-RECENT:]:
        following = case.ledger.sweep(sweep.number + 1)
        if not sweep.accumulates or sweep.create or sweep.error or following is None:
            continue
        between, both = (sweep.serial, following.serial), sweep.leaves & following.leaves
        for module in {m.path: m for leaf in both for m in owners.get(leaf, ())}.values():
            leaves = set(module.parameters.values())
            if module.path in told or not leaves < both:
                continue
            others = sweep.leaves - leaves
            unused = not _stepped(case, leaves, between) and _stepped(case, others, between)
            apart = sweep.keep or leaves in case.past.leaves_of_nodes()
            if unused and apart and all(_fresh(case, leaf, following) for leaf in leaves):
                told.add(module.path)
                place = case.place(sweep.note)
                yield RULE.found(case, [module.path], place, None, (), name=module.path)


def _never_used(case, told):
    """Several backward passes went into a model that no optimiser has and that never changed, and
    into what an optimiser steps.
    """
    accounts = case.ledger.leaves
    known = {leaf for optimizer in case.optimizers for leaf in optimizer.leaves}
    stepped = {leaf for leaf in known if leaf in accounts and accounts[leaf].changes}
    for module in sorted(case.modules if stepped else (), key=lambda m: len(m.steps)):
        leaves = set(module.parameters.values())
        mine = [accounts[leaf] for leaf in leaves if leaf in accounts and accounts[leaf].total > 1]
        if not mine or len(mine) < len(leaves) or leaves & known or _inside(module.path, told):
            continue
        last = case.ledger.sweep(mine[0].run[-1][0]) if mine[0].run else None
        if last is None or any(map(_changed_since, mine)) or not last.leaves & stepped:
            continue
        if leaves in case.past.leaves_of_nodes():
            told.add(module.path)
            place, fields = case.place(last.note), {"name": module.path}
            yield RULE.found(case, [module.path], place, None, (), variant="unused", **fields)


def _changed_since(account):
    """A leaf was changed after it got its first gradient."""
    return account.changed is not None and account.changed.order > account.longest[0][1]


def _inside(path, told):
    return any(path == one or path.startswith((f"{one}.", f"{one}[")) for one in told)


def _stepped(case, leaves, between):
    start, end = between
    accounts = [case.ledger.leaves[leaf] for leaf in leaves if leaf in case.ledger.leaves]
    return any(start < at <= end for account in accounts for at in account.change_serials)


def _fresh(case, leaf, sweep):
    """The gradient of a leaf began anew with a backward pass."""
    account = case.ledger.leaves.get(leaf)
    return account is not None and bool(account.run) and account.run[0][0] == sweep.number


def _again(case, sweep, id):
    later = [s for s in case.ledger.sweeps if s.number > sweep.number and not s.error]
    return any(id in case.graph.weigh(case.graph.alive(s)).nodes for s in later)


RULE = Rule("GV602", "perf.wasted-graph", "info", look)
