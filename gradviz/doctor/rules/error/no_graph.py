"""GV506: backward() on a tensor without a graph."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, subject, with_message
from gradviz.doctor.severed import severed, way_of
from gradviz.doctor.where import place_of
from gradviz.texts import both

PHRASE = "does not require grad and does not have a grad_fn"


def look(case):
    """A cell ended with that error; the place is the line that left the graph, if there is one."""
    for error in with_message(case, PHRASE):
        place = raised(error)
        asked = case.cells.calling_at(place, "backward")
        name = subject(case, place, "backward")
        cut = severed(case, name, asked) if asked is not None and name.isidentifier() else None
        why = both("ask.cut.none") if cut is None else way_of(cut)
        where = place if cut is None else place_of(case, cut.statement)
        yield state(RULE, case, error, where, "backward", name=name or None, why=why)


RULE = Rule("GV506", "error.no-graph", "error", look)
