"""GV602: a backward also went into another model, whose gradients this loss is not meant for."""

from gradviz.doctor.finding import Rule


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


def _again(case, sweep, id):
    later = [s for s in case.ledger.sweeps if s.number > sweep.number and not s.error]
    return any(id in case.graph.weigh(case.graph.alive(s)).nodes for s in later)


RULE = Rule("GV602", "perf.wasted-graph", "info", look)
