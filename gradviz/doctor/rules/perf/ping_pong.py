"""GV603: values go from a device to the host and back, again and again."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import comes_from
from gradviz.doctor.where import place_of

MANY = 20
HOST = "cpu"


def look(case):
    """Two lines of one loop: the first copies to the host, the second copies what comes of it to
    the device again.
    """
    moves = [(move, _statement(case, move)) for move in case.moves if move.count >= MANY]
    for away, first in [(m, s) for m, s in moves if m.target == HOST and s is not None]:
        for back, later in moves:
            returns = (back.source, back.target) == (HOST, away.source) and later is not None
            if returns and comes_from(case, later, first):
                path = f"{away.source} -> {HOST} -> {away.source}"
                count, device = min(away.count, back.count), away.source
                place = place_of(case, first)
                yield RULE.found(case, [path], place, count=count, device=device)


def _statement(case, move):
    return case.cells.at(*case.cells.line(case.place(move.note)))


RULE = Rule("GV603", "perf.ping-pong", "info", look)
