"""GV104: an object or module keeps a tensor with its graph in an attribute."""

import ast
from types import FunctionType, SimpleNamespace

from gradviz.doctor.finding import Rule, ids, paths
from gradviz.doctor.history import carried, consumed, finished
from gradviz.doctor.where import put, stored
from gradviz.watch.places import is_persons
from gradviz.watch.program import targets

from .container import inside_objects
from .state import LONG

SEVERAL = 2


def look(case):
    """An attribute of a module holds a graph that nothing else will use; of another object: said
    mildly, but where objects hold graphs of several finished steps.
    """
    told = {id(held) for group in inside_objects(case) for held in group}
    for group in _alike(case):
        if any(_goes_on(case, held) for held in group) or not _by_person(group[0]):
            continue
        if any(id(held) in told for held in group):
            continue
        swept = all(case.graph.swept(held.facts.id) for held in group)
        if not swept and consumed(case, group):
            continue
        module = "_parameters" in getattr(group[0].link.owner, "__dict__", ())
        weight = case.graph.weigh(ids(group))
        sure = module and weight.bytes and not swept
        severity = "warning" if sure or len(finished(case, group)) > SEVERAL else "info"
        place = put(case, group)
        fields = {"name": _written(case, place, group), "store": stored(case, place, group)}
        yield RULE.found(case, paths(group), place, weight, ids(group), severity, **fields)


def _written(case, place, group):
    """The attribute as the line that fills it writes it: ``self.features``."""
    name = str(group[0].steps[-1].name)
    for statement in case.cells.on(*case.cells.line(place)):
        for target in targets(statement.node):
            if isinstance(target, ast.Attribute) and target.attr == name:
                return ast.unparse(target)
    return group[0].path


def _alike(case):
    """The attributes of one name on objects of one class, by one of which another may be reached:
    of ``blocks[0].attention`` and ``b.attention`` no one is what the other is needed for.
    """
    out = {}
    for held in (h for group in case.units("attribute", "buffer").values() for h in group):
        out.setdefault((type(held.link.owner), str(held.steps[-1].name)), []).append(held)
    return out.values()


def _goes_on(case, held):
    """It is a total or a state, which other rules are about."""
    return carried(case, held) or len(case.graph.chain(held.facts.id)) >= LONG


def _by_person(held):
    """The attribute belongs to a module or to an object of the person's own class."""
    owner = held.link.owner
    if "_parameters" in getattr(owner, "__dict__", ()):
        return str(held.steps[-1].name) not in owner.__dict__["_parameters"]
    if isinstance(owner, FunctionType):
        return is_persons(owner)
    return is_persons(type(owner)) or type(owner) is SimpleNamespace


RULE = Rule("GV104", "leak.attribute", "warning", look)
