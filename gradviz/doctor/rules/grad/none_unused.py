"""GV206: parameters that an optimiser trains were never used by what backward() was called on."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import without_gradient
from gradviz.doctor.where import bound, place_of

STEPS = 3


def look(case):
    """Some of an optimiser's parameters have had no gradient in several steps, others have, and no
    line is known that cuts them off.
    """
    cut = set().union(*(one.leaves for one in case.cuts if one.how in ("no_grad", "detach")), ())
    for optimizer in case.optimizers:
        accounts = [case.ledger.leaves.get(leaf) for leaf in optimizer.leaves]
        steps = max((a.changes for a in accounts if a is not None), default=0)
        missing = {leaf for leaf in without_gradient(case, optimizer) - cut if _asks(case, leaf)}
        names = [case.named(leaf) for leaf in sorted(missing)] if steps >= STEPS else []
        names = [name for name in names if name and "param_groups" not in name]
        if names:
            made = bound(case, optimizer.path.rpartition(".")[2], "." in optimizer.path)
            fields = {"name": optimizer.path, "count": len(names)}
            yield RULE.found(case, names, place_of(case, made), None, missing, **fields)


def _asks(case, leaf):
    """It still requires grad: it was not frozen."""
    return any(held.facts.leaf for held in case.paths_to(leaf))


RULE = Rule("GV206", "grad.none-unused", "info", look)
