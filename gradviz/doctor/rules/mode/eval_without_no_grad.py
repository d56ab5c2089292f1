"""GV501: an evaluation records a graph that nobody will use."""

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import READ


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
    if not resting or not case.ledger.sweeps:
        return
    read = set().union(*(cut.sources for cut in case.cuts if cut.how in READ), ())
    for held in case.held:
        if held.category != "name" or not held.facts.attached:
            continue
        weight = case.graph.weigh([held.facts.id])
        quiet = weight.leaves and weight.leaves <= resting - working and not weight.freed
        if quiet and read & weight.nodes and not case.graph.swept(held.facts.id):
            yield RULE.found(
                case, [held.path], _called(held), weight, [held.facts.id], name=held.path
            )


def _called(held):
    """The line that called the module, not one inside its forward."""
    outside = [place for place in held.facts.chain if place.function != "forward"]
    return outside[0] if outside else held.facts.place


def _own(module):
    return [leaf for name, leaf in module.parameters.items() if "." not in name]


RULE = Rule("GV501", "mode.eval-without-no-grad", "info", look)
