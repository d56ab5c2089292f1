"""GV507: autograd.grad() for a tensor that the output does not depend on."""

import ast
import re

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import raised, state, with_message
from gradviz.watch.program import calls, keyword

PHRASE = "appears to not have been used in the graph"
INDEX = re.compile(r"at index (\d+)")


def look(case):
    """A cell ended with that error; the holder is the input that was not used."""
    for error in with_message(case, PHRASE):
        place = raised(error)
        yield state(RULE, case, error, place, name=_input(case, place, error.message))


def _input(case, place, message):
    """The expression of the input, as far as the call says it."""
    statement = case.cells.calling_at(place, "grad")
    for call in calls(statement.node, "grad") if statement is not None else ():
        asked = keyword(call, "inputs") or (call.args[1] if len(call.args) > 1 else None)
        every = asked.elts if isinstance(asked, ast.List | ast.Tuple) else [asked]
        found = INDEX.search(message)
        at = int(found[1]) if found else 0
        if asked is not None and at < len(every):
            return ast.unparse(every[at])
    return None


RULE = Rule("GV507", "error.unused-input", "error", look)
