"""GV119: an evaluation records a graph that nobody will use."""

import ast

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.flow import tainted_backward
from gradviz.doctor.history import (
    READ,
    READERS,
    evaluated,
    passed_over,
    read_as_a_whole,
    read_by_name,
    resting,
)
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, names_in, own_expressions, receiver, targets

LARGE = 16_000
TRAINING = ("backward", "grad", "step", "jacobian", "hessian", "vjp")
NUMBERS = (*READERS, "argmax", "max", "topk", "argsort", "sort")


def look(case):
    """A result of modules in eval mode has a graph, was read as numbers and was never
    backpropagated.
    """
    yield from _kept(case, resting(case))
    yield from _collected(case)
    yield from _gone(case)


def _kept(case, idle):
    if not idle:
        return
    told = set()
    read = set().union(*(cut.sources for cut in case.cuts if cut.how in READ), ())
    for held in case.held:
        if held.category not in ("name", "traceback") or not held.facts.attached:
            continue
        weight = case.graph.weigh([held.facts.id])
        quiet = weight.leaves and weight.leaves <= idle and not weight.freed
        if not quiet or case.graph.swept(held.facts.id) or held.facts.id in told:
            continue
        if read & weight.nodes or read_by_name(case, held, NUMBERS) or _read_here(case, held):
            told.add(held.facts.id)
            over = held.category == "traceback" or _again(case, held) or passed_over(case, [held])
            sure = over and weight.bytes >= LARGE and case.ledger.sweeps
            severity = "warning" if sure else "info"
            fields = {"name": held.path}
            yield RULE.found(
                case, [held.path], _called(held), weight, ids([held]), severity, **fields
            )


def _collected(case):
    """Outputs of an evaluation that a container keeps; for sure when they are large and were read
    as numbers.
    """
    for group in case.units("container").values():
        outputs = evaluated(case, group)
        if outputs:
            weight, place = case.graph.weigh(ids(outputs)), _called(outputs[-1])
            sure = weight.bytes >= LARGE and read_as_a_whole(case, outputs, NUMBERS)
            severity, name = "warning" if sure else "info", outputs[0].holder
            found = paths(outputs)
            yield RULE.found(case, found, place, weight, ids(outputs), severity, name=name)


def _gone(case):
    """Functions that set a module to eval(), call it and have no backward, in which a graph was
    recorded; the results are gone.
    """
    told = {}
    for rest in case.cells.calling("eval"):
        function, asked = rest.function, next(calls(rest.node, "eval"), None)
        if function is None or asked is None or receiver(asked) is None or id(function) in told:
            continue
        inside = [s for s in case.cells.within([rest.cell]) if s.function is function]
        if any(any(calls(s.node, *TRAINING)) for s in inside):
            continue
        model = ast.unparse(receiver(asked))
        used = [s for s in inside if s.line >= rest.line and _calls(s, model)]
        recorded = used and (rest.cell, function.lineno) in _recorded(case)
        if recorded and not tainted_backward(case, used[0], _bound(used[0])):
            told[id(function)] = True
            place = place_of(case, used[0])
            yield RULE.found(case, [model], place, name=function.name, variant="gone")


def _calls(statement, model):
    """The statement calls the module, or its forward, itself."""
    for part in own_expressions(statement.node):
        if isinstance(part, ast.Call) and ast.unparse(part.func) in (model, f"{model}.forward"):
            return True
    return False


def _bound(statement):
    return {target.id for target in targets(statement.node) if isinstance(target, ast.Name)}


def _recorded(case):
    """(cell, line) of the definitions of the functions in which an operation was recorded."""
    codes = case.graph.codes()
    made = (case.places.at(c.co_filename, c.co_firstlineno, c.co_name) for c in codes)
    return {case.cells.line(place) for place in made if place is not None}


def _read_here(case, held):
    """A cell reads numbers from the name that it is called at the top level."""
    near = case.cells.mentioning(held.path) if held.path.isidentifier() else ()
    here = [s.node for s in near if s.function is None]
    return any(held.path in names_in(c, plain=True) for n in here for c in calls(n, *NUMBERS))


def _again(case, held):
    """It was made in a loop whose cell has no backward: the results before it are gone, unused."""
    for place in held.facts.chain:
        statement = case.cells.at(*case.cells.line(place))
        if statement is not None and statement.loops:
            return not any(s.cell == statement.cell for s in case.cells.calling("backward"))
    return False


def _called(held):
    """The line that called the module, not one inside its forward."""
    outside = [place for place in held.facts.chain if place.function != "forward"]
    return outside[0] if outside else held.facts.place


RULE = Rule("GV119", "mode.eval-without-no-grad", "info", look)
