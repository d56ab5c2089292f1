"""GV208: parameters that model.parameters() does not list."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.places import is_persons
from gradviz.watch.program import called, targets, writes


def look(case):
    """Parameters in a dict or list of a module, converted parameters, and tracked tensors that no
    optimiser knows.
    """
    every = {module.steps for module in case.modules}
    registered = {
        leaf
        for module in case.modules
        if not _hidden(every, module)
        for leaf in module.parameters.values()
    }
    known = registered | {leaf for optimizer in case.optimizers for leaf in optimizer.leaves}
    for module in case.modules:
        if not is_persons(type(module.thing)):
            continue
        for name, group in _attributes(case, module).items():
            lost = [h for h in group if _lost(case, h, known, module)]
            if lost:
                place = place_of(case, _written(case, module, name))
                yield RULE.found(
                    case, [h.path for h in lost], place, None, [h.facts.id for h in lost], name=name
                )


def _hidden(every, module):
    """The module is reached only through a plain attribute of another module (``every`` has the
    paths of all), such as a list of layers.
    """
    steps = module.steps
    return any(steps[at].kind == "attribute" and steps[:at] in every for at in range(1, len(steps)))


def _attributes(case, module):
    """Tensors that a module's plain attributes hold, by attribute."""
    out = {}
    depth = len(module.steps)
    for held in case.held:
        steps = held.steps
        if (
            len(steps) > depth
            and steps[:depth] == module.steps
            and steps[depth].kind == "attribute"
        ):
            if all(step.kind in ("item", "parameter", "member") for step in steps[depth + 1 :]):
                out.setdefault(str(steps[depth].name), []).append(held)
    return out


def _lost(case, held, known, module):
    facts = held.facts
    if facts.own in known:
        return False
    if facts.parameter:
        return True
    if facts.attached:
        return facts.op.startswith(("ToCopy", "Clone")) and _single(case, held, known)
    account = case.ledger.leaves.get(facts.own) if facts.leaf else None
    trained = any(set(o.leaves) & set(module.parameters.values()) for o in case.optimizers)
    return account is not None and account.total > 0 and trained


def _single(case, held, known):
    """One conversion of a leaf that has no name of its own."""
    weight = case.graph.weigh([held.facts.id])
    return (
        len(weight.nodes) == 1
        and len(weight.leaves) == 1
        and not weight.leaves & (known | _named(case))
    )


def _named(case):
    return {held.facts.own for held in case.held if held.facts.leaf}


def _written(case, module, name):
    """self.name = … in the class of the module, else anywhere; of a container that begins empty the
    line that fills it.
    """
    found = list(case.cells.assignments(name, attribute=True))
    inside = [statement for statement in found if statement.owner == module.name]
    first = (inside or found or [None])[-1]
    if first is None or not _is_empty(getattr(first.node, "value", None)):
        return first
    beside = [s for s in case.cells.within([first.cell]) if s.owner == first.owner]
    filling = [s for s in beside if any(w.into[-1:] == [name] and not w.whole for w in writes(s))]
    filling += [s for s in beside if any(_sets_item(t, name) for t in targets(s.node))]
    return (filling or [first])[0]


def _is_empty(value):
    """``{}``, ``[]``, ``dict()``, ``list()``."""
    if isinstance(value, ast.Call):
        return called(value) in ("dict", "list") and not (value.args or value.keywords)
    return isinstance(value, ast.List | ast.Dict) and not ast.unparse(value).strip("[]{}")


def _sets_item(target, name):
    owner = target.value if isinstance(target, ast.Subscript) else None
    return isinstance(owner, ast.Attribute) and owner.attr == name


RULE = Rule("GV208", "optim.unregistered", "warning", look)
