"""GV113: a tensor was put on ctx instead of being saved, so backward does not free it."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import bound, place_of
from gradviz.watch.case import Weight

SMALL = 64


def look(case):
    """Attributes of custom functions' contexts that outlived the backward through them."""
    for node, name, size in case.graph.contexts():
        if size < SMALL or not _passed(case, node):
            continue
        direct = case.named(node)
        holder = f"{direct}.grad_fn.{name}" if direct else f"{_above(case, node)}.{name}"
        place = place_of(case, bound(case, name, attribute=True))
        yield RULE.found(case, [holder], place, Weight({node}, size), [node], name=name)


def _above(case, node):
    """A held result that was computed from the node."""
    for id in sorted(
        {held.facts.id for held in case.held if held.facts.attached and held.facts.id > node}
    ):
        if node in case.graph.weigh([id]).nodes:
            return f"{case.named(id)}.grad_fn{case.graph.path_to(id, node)}"
    return "grad_fn"


def _passed(case, node):
    """A backward went through the node."""
    leaves = case.graph.weigh([node]).leaves
    return any(
        s.serial > node and not s.error and not s.keep and s.leaves & leaves
        for s in case.ledger.sweeps
    )


RULE = Rule("GV113", "leak.ctx", "warning", look)
