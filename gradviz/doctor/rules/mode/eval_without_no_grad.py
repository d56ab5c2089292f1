"""GV119: an evaluation records a graph that nobody will use."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import READ, READERS, passed_over, read_by_name
from gradviz.watch.program import calls, names_in

LARGE = 16_000
NUMBERS = (*READERS, "argmax", "max", "topk", "argsort", "sort")


def look(case):
    """A result of modules in eval mode has a graph, was read as numbers and was never
    backpropagated.
    """
    resting = {
        leaf
        for module in case.modules
        if not module.training
        for leaf in module.parameters.values()
    }
    working = {leaf for module in case.modules if module.training for leaf in _own(module)}
    if not resting:
        return
    told = set()
    read = set().union(*(cut.sources for cut in case.cuts if cut.how in READ), ())
    for held in case.held:
        if held.category not in ("name", "traceback") or not held.facts.attached:
            continue
        weight = case.graph.weigh([held.facts.id])
        quiet = weight.leaves and weight.leaves <= resting - working and not weight.freed
        if not quiet or case.graph.swept(held.facts.id) or held.facts.id in told:
            continue
        if read & weight.nodes or read_by_name(case, held, NUMBERS) or _read_here(case, held):
            told.add(held.facts.id)
            over = held.category == "traceback" or _again(case, held) or passed_over(case, [held])
            sure = over and weight.bytes >= LARGE and case.ledger.sweeps
            severity = "warning" if sure else "info"
            ids, fields = [held.facts.id], {"name": held.path}
            yield RULE.found(case, [held.path], _called(held), weight, ids, severity, **fields)


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


def _own(module):
    return [leaf for name, leaf in module.parameters.items() if "." not in name]


RULE = Rule("GV119", "mode.eval-without-no-grad", "info", look)
