"""GV510: numpy() on a tensor that requires grad."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import as_receiver, raised, state, with_message
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
        name, inside = _handed(case, value)
        variant = "inside" if inside else ""
        yield state(RULE, case, error, place, "numpy", name=name, variant=variant)


def _handed(case, value):
    """(the tensor, or the container of tensors, that ``value`` hands to NumPy; whether it is a
    container).
    """
    tracked = [h for h in case.held if h.facts.attached or h.facts.leaf]
    names = names_in(value) if value is not None else set()
    whole = sorted(names.intersection(h.path for h in tracked))
    inside = sorted(names.intersection(h.holder for h in tracked))
    if whole or inside:
        return (whole or inside)[0], not whole
    alone = isinstance(value, ast.Call) and len(value.args) == 1
    return as_receiver(value.args[0]) if alone else None, False


RULE = Rule("GV510", "error.numpy-requires-grad", "error", look)
