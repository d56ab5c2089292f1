"""GV603: the optimiser still has the parameters of a model that was replaced."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import bound, place_of


def look(case):
    """Nothing but the optimiser holds its parameters, and a model of the same shapes gets gradients in vain."""
    known = {leaf for optimizer in case.optimizers for leaf in optimizer.leaves}
    for optimizer in case.optimizers:
        if not optimizer.leaves or _held_elsewhere(case, optimizer):
            continue
        for module in case.modules:
            leaves = set(module.parameters.values())
            trained = [leaf for leaf in leaves if case.ledger.leaves.get(leaf) and case.ledger.leaves[leaf].total]
            if trained and not leaves & known and len(leaves) == len(optimizer.leaves):
                root = str(module.steps[0].name)
                place = place_of(case, bound(case, root))
                holders = [f"{optimizer.path}.param_groups[0]['params']", optimizer.path, module.path]
                yield RULE.found(case, holders, place, name=optimizer.path, model=module.path, count=len(leaves))
                break


def _held_elsewhere(case, optimizer):
    """A parameter of the optimiser is reached by a path that does not go through an optimiser."""
    wanted = set(optimizer.leaves)
    for held in case.held:
        inside = any(str(step.name) in ("param_groups", "state", "_params") for step in held.steps)
        if held.facts.own in wanted and not inside:
            return True
    return False


RULE = Rule("GV603", "optim.stale-param", "warning", look)
