"""GV116: backward(retain_graph=True) kept saved tensors that no later backward used."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import spans


def look(case):
    """The last of the backward passes through a graph that is still held, when it retained the
    graph.
    """
    sweeps = [s for s in case.ledger.sweeps if s.keep and not s.create and not s.error]
    told = set()
    for sweep in reversed(sweeps):
        weight = case.graph.weigh(case.graph.alive(sweep))
        if (
            not weight.bytes
            or weight.freed
            or weight.nodes & told
            or _used_later(case, sweep, weight)
        ):
            continue
        told |= weight.nodes
        carried = [h for h in case.held if h.facts.id in weight.nodes and spans(case, h)[1] >= 2]
        holders = (
            []
            if carried
            else [
                h.path
                for h in case.held
                if h.facts.id in weight.nodes and h.category in ("name", "container")
            ]
        )
        if holders:
            yield RULE.found(case, holders, case.place(sweep.note), weight, sweep.roots)


def _used_later(case, sweep, weight):
    """A later pass went through a part of the graph."""
    later = [s for s in case.ledger.sweeps if s.number > sweep.number and not s.error]
    return any(case.graph.weigh(case.graph.alive(s)).nodes & weight.nodes for s in later)


RULE = Rule("GV116", "leak.retain-graph", "warning", look)
