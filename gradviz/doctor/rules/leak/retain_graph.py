"""GV116: backward(retain_graph=True) kept saved tensors that no later backward used."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import spans

HOLDERS = ("name", "container", "attribute", "buffer", "closure")


def look(case):
    """The last of the backward passes through a graph that is still held, when it retained the
    graph; what one line retained is said once.
    """
    lines = {}
    for sweep, held in _retained(case):
        lines.setdefault(sweep.note[:2], []).append((sweep, held))
    for found in lines.values():
        roots = [root for sweep, _ in found for root in case.graph.alive(sweep)]
        holders = [held.path for _, group in found for held in group]
        place = case.place(found[0][0].note)
        yield RULE.found(case, holders, place, case.graph.weigh(roots), roots)
    if not lines:
        yield from _of_lost_roots(case)


def _of_lost_roots(case):
    """The newest backward retained a graph of which the root is gone and the rest is held: said
    mildly, for what is held may have been no part of it.
    """
    sweep = next((s for s in reversed(case.ledger.sweeps) if not s.error), None)
    if sweep is None or not sweep.keep or sweep.create or case.graph.alive(sweep):
        return
    before = case.ledger.sweep(sweep.number - 1)
    start = before.serial if before is not None else 0
    made = [h for h in case.held if h.category in HOLDERS and start < h.facts.id < sweep.serial]
    held = []
    for one in (h for h in made if h.facts.attached):
        weight = case.graph.weigh([one.facts.id])
        if weight.bytes and not weight.freed and weight.leaves and weight.leaves <= sweep.leaves:
            held.append(one)
    if held:
        ids, paths = [h.facts.id for h in held], [h.path for h in held]
        weight = case.graph.weigh(ids)
        yield RULE.found(case, paths, case.place(sweep.note), weight, ids, "info")


def _retained(case):
    """(sweep, what holds its graph), newest first."""
    sweeps = [s for s in case.ledger.sweeps if s.keep and not s.create and not s.error]
    told, carrying = set(), None
    for sweep in reversed(sweeps):
        weight = case.graph.weigh(case.graph.alive(sweep))
        if not weight.bytes or weight.freed or weight.nodes & told:
            continue
        told |= weight.nodes
        inside = [h for h in case.held if h.facts.id in weight.nodes and h.category in HOLDERS]
        inside = inside or _above(case, sweep)
        if not inside or _used_later(case, sweep, weight):
            continue
        carrying = _carrying(case) if carrying is None else carrying
        if not carrying & weight.nodes:
            yield sweep, inside


def _above(case, sweep):
    """What holds results that were computed from what the backward began with: ``a + b``."""
    roots = set(case.graph.alive(sweep))
    held = [h for h in case.held if h.facts.attached and h.category in HOLDERS]
    later = [h for h in held if h.facts.id > max(roots)]
    return [h for h in later if roots & case.graph.weigh([h.facts.id]).nodes]


def _carrying(case):
    """Nodes of states that are carried from step to step: what retains their graph is GV103's."""
    out = set()
    for held in case.held:
        if held.facts.attached and held.category in HOLDERS:
            links, passes = spans(case, held)
            out.update(links if passes >= 2 else ())
    return out


def _used_later(case, sweep, weight):
    """A later pass went through a part of the graph, or failed in it."""
    later = [s for s in case.ledger.sweeps if s.number > sweep.number]
    return any(case.graph.weigh(case.graph.alive(s)).nodes & weight.nodes for s in later)


RULE = Rule("GV116", "leak.retain-graph", "warning", look)
