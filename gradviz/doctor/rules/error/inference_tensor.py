"""GV512: a tensor made in inference_mode is used in training."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, with_message
from gradviz.doctor.where import bound
from gradviz.watch.program import called, names_in, own_expressions

PHRASES = (
    "Inference tensors cannot be saved for backward",
    "Setting requires_grad=True on inference tensor",
    "Inplace update to inference tensor",
)


def look(case):
    """A cell ended with that error; at fault is what a line under inference_mode made."""
    for error in with_message(case, *PHRASES):
        place = raised(error)
        statement = case.cells.at(*case.cells.line(place))
        names = sorted(names_in(statement.node, plain=True)) if statement is not None else ()
        name = next((name for name in names if _inferred(case, name)), None)
        yield state(RULE, case, error, place, name=name)


def _inferred(case, name):
    """The name was bound under inference_mode, or to what a function under it returned."""
    made = bound(case, name)
    if made is None:
        return False
    defined = [case.cells.function(called(part)) for part in _calls(made.node)]
    inside = [*made.withs, *(d for s in defined if s is not None for d in s.node.decorator_list)]
    return any("inference_mode" in ast.unparse(one).partition("\n")[0] for one in inside)


def _calls(node):
    """The calls that a statement itself makes."""
    return [part for part in own_expressions(node) if isinstance(part, ast.Call)]


RULE = Rule("GV512", "error.inference-tensor", "error", look)
