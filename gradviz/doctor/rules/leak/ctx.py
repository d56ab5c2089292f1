"""GV113: a tensor was put on ctx instead of being saved, so backward does not free it."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import bound, place_of
from gradviz.watch.case import Weight

SMALL = 256


def look(case):
    """Attributes of custom functions' contexts that outlived the backward through them."""
    tops = {held.facts.id: held for held in case.held if held.facts.attached and held.category != "ctx"}
    told = set()
    for id, held in sorted(tops.items()):
        for node, name, size in case.graph.contexts([id]):
            if (node, name) in told or size < SMALL or not _passed(case, node):
                continue
            told.add((node, name))
            path = f"{held.path}.grad_fn.{name}" if node == id else f"{held.path}.grad_fn … .{name}"
            weight = Weight({node}, size)
            place = place_of(case, bound(case, name, attribute=True))
            yield RULE.found(case, [path], place, weight, [node], name=name)


def _passed(case, node):
    """A backward went through the node."""
    leaves = case.graph.weigh([node]).leaves
    return any(s.serial > node and not s.error and not s.keep and s.leaves & leaves for s in case.ledger.sweeps)


RULE = Rule("GV113", "leak.ctx", "warning", look)
