"""GV103: state carried from step to step carries the graph of all earlier steps."""

from collections import deque

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import READ, best_first, consumed, distinct, spans
from gradviz.doctor.where import put, stored
from gradviz.watch.program import calls, names_in

from .accumulator import ADDITIVE, _in_module, is_state

LONG = 8
CHOOSING = ("argmax", "argmin", "multinomial")
FILLING = ("CatBackward0", "CopySlices")
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
    lines = {}
    for held in best_first([h for h in case.held if h.facts.attached and h.category in HOLDERS]):
        adds = held.facts.op in ADDITIVE and not _in_module(held) and not is_state(case, held)
        if held.facts.id in told or adds:
            continue
        links, passes = spans(case, held)
        severity = _severity(case, held, links, passes)
        if severity:
            told.update(links)
            line = case.cells.line(held.facts.place)
            steps = passes + 1 if passes else len(links)
            lines.setdefault(line, []).append((severity, held, links, steps))
    for states in lines.values():
        states.sort(key=lambda state: not _goes_in_again(case, state[1]))
        severity = max(severity for severity, *_ in states)
        _, _, links, steps = states[0]
        yield _found(case, [held for _, held, *_ in states], links, severity, steps)


def _severity(case, held, links, passes):
    """How sure it is that the value is a state that nobody detached; '' when it is none."""
    if not passes and len(links) >= LONG and _read_each_step(case, held, links):
        return "warning" if held.category in ("attribute", "buffer") else "info"
    if passes and len(links) >= 2:
        return "warning" if passes >= 2 and len(links) >= 3 else "info"
    return ""


def _goes_in_again(case, held):
    """The statement that makes the state also reads it: ``out, h = rnn(x, h)``."""
    made = case.cells.at(*case.cells.line(held.facts.place))
    value = getattr(made.node, "value", None) if made is not None else None
    return value is not None and bool(names_in(value) & held.tokens)


def _read_each_step(case, held, links):
    """Never swept, and the function that makes the state takes a number or a choice out of the
    graph nearly each time.
    """
    place = held.facts.place
    if place is None or case.graph.swept(held.facts.id) or consumed(case, [held]):
        return False
    for cut in case.cuts:
        read = case.place(cut.note) if cut.how in READ and cut.count >= len(links) // 2 else None
        if read is not None and (read.cell, read.file, read.function) == (
            place.cell,
            place.file,
            place.function,
        ):
            return True
    return _chooses(case, place)


def _chooses(case, place):
    """The function at ``place`` makes a choice, which leaves no graph behind."""
    made = case.cells.at(*case.cells.line(place))
    beside = case.cells.within([made.cell]) if made is not None else ()
    if made is not None and made.function is None:
        beside = [s for s in beside if set(s.loops) & set(made.loops)]
    return any(s.function is made.function and any(calls(s.node, *CHOOSING)) for s in beside)


def _same(case, newest):
    return [h for h in case.held if h.facts.id == newest.facts.id and h.category == "name"]


def _found(case, group, links, severity=None, steps=0):
    weight = case.graph.weigh(ids(group))
    name = next((h.path for h in group if h.category in ("name", "attribute", "buffer")), "h")
    fields = {"count": steps or len(links), "name": name}
    place = put(case, group[:1])
    if _filled(case, group[0]):
        fields |= {"variant": "filled", "store": stored(case, place, group[:1])}
    return RULE.found(case, paths(group), place, weight, links, severity, **fields)


def _filled(case, held):
    """It was made of all of the value before and of something new: ``curve[i] = loss``."""
    links = case.graph.chain(held.facts.id) if held.facts.op.endswith(FILLING) else ()
    return len(links) > 1 and any(i == links[1] for _, i, _ in case.graph.inputs(links[0]))


RULE = Rule("GV103", "leak.state", "warning", look)
