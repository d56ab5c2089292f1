"""GV103: state carried from step to step carries the graph of all earlier steps."""

from collections import deque

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import READ, best_first, distinct, spans
from gradviz.doctor.where import put

from .accumulator import ADDITIVE, _in_module, is_state

LONG = 8
HOLDERS = ("name", "container", "attribute", "buffer", "closure")


def look(case):
    """Recurrent values over several backward passes, attached buffers, and bounded queues of
    recurrent values.
    """
    told = set()
    for group in case.units("container").values():
        queue = next(
            (o for h in group for o in h.link.owners() if type(o) is deque and o.maxlen), None
        )
        newest = distinct(group)[-1]
        links = case.graph.chain(newest.facts.id)
        if queue is not None and len(queue) == queue.maxlen and len(links) > queue.maxlen:
            told.update(links)
            yield _found(case, [*group, *_same(case, newest)], links)
    for held in best_first([h for h in case.held if h.facts.attached and h.category in HOLDERS]):
        adds = held.facts.op in ADDITIVE and not _in_module(held) and not is_state(case, held)
        if held.facts.id in told or adds:
            continue
        links, passes = spans(case, held)
        if not passes and len(links) >= LONG and _read_each_step(case, held, links):
            told.update(links)
            kept = held.category in ("attribute", "buffer")
            yield _found(case, [held], links, "warning" if kept else "info")
        if passes and len(links) >= 2:
            told.update(links)
            yield _found(
                case, [held], links, "warning" if passes >= 2 and len(links) >= 3 else "info"
            )


def _read_each_step(case, held, links):
    """Never swept, and the function that makes the state reads a number from it nearly
    each time.
    """
    place = held.facts.place
    if place is None or case.graph.swept(held.facts.id):
        return False
    for cut in case.cuts:
        read = case.place(cut.note) if cut.how in READ and cut.count >= len(links) // 2 else None
        if read is not None and (read.cell, read.file, read.function) == (
            place.cell,
            place.file,
            place.function,
        ):
            return True
    return False


def _same(case, newest):
    return [h for h in case.held if h.facts.id == newest.facts.id and h.category == "name"]


def _found(case, group, links, severity=None):
    weight = case.graph.weigh(ids(group))
    name = next((h.path for h in group if h.category in ("name", "attribute", "buffer")), "h")
    fields = {"count": len(links), "name": name}
    return RULE.found(case, paths(group), put(case, group[:1]), weight, links, severity, **fields)


RULE = Rule("GV103", "leak.state", "warning", look)
