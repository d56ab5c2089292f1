"""GV510: numpy() on a tensor that requires grad."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, with_message
from gradviz.watch.program import calls, names_in

PHRASES = ("call numpy() on Tensor that requires grad",)


def look(case):
    """A cell ended with that error; at fault is what ``.numpy()`` was called on, or what was handed
    to NumPy.
    """
    for error in with_message(case, *PHRASES):
        place = raised(error)
        statement = case.cells.at(*case.cells.line(place))
        called = statement is not None and any(calls(statement.node, "numpy"))
        value = None if called else getattr(getattr(statement, "node", None), "value", None)
        tracked = {h.path for h in case.held if h.facts.attached or h.facts.leaf}
        names = sorted(names_in(value) & tracked) if value is not None else []
        yield state(RULE, case, error, place, "numpy", name=names[0] if names else None)


RULE = Rule("GV510", "error.numpy-requires-grad", "error", look)
