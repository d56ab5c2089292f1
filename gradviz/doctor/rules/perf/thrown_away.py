"""GV605: graphs are recorded and thrown away: only numbers are read from them."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import READ
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls

MANY = 20


def look(case):
    """A line of a loop has read many results that have a graph, and no backward came since; or
    that loop is in a function that sets a module to evaluation.
    """
    for cut in case.cuts:
        if cut.how not in READ or len(cut.sources) < MANY:
            continue
        statement = case.cells.at(*case.cells.line(case.place(cut.note)))
        if statement is None or not statement.loops:
            continue
        trained = any(sweep.order > cut.first for sweep in case.ledger.sweeps)
        if not trained or _evaluates(case, statement):
            yield RULE.found(case, [], place_of(case, statement), count=cut.count)


def _evaluates(case, statement):
    """The function calls eval() and never backward()."""
    function = statement.function
    beside = [s.node for s in case.cells.within([statement.cell]) if s.function is function]
    asked = {name for node in beside for name in ("eval", "backward") if any(calls(node, name))}
    return function is not None and asked == {"eval"}


RULE = Rule("GV605", "perf.thrown-away", "info", look)
