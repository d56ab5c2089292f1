"""GV203: a kept state_dict() follows the model, because its tensors are the parameters' own memory."""

import re

from gradviz.doctor.finding import Rule, paths
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls

SNAPSHOT = re.compile(r"(?i).*(best|snapshot|saved|backup|init|start|old|prev|checkpoint|ckpt|keep|copy).*")


def look(case):
    """A dict of the notebook shares memory with parameters that were changed after state_dict() was called."""
    leaves = {h.facts.storage: h.facts.own for h in case.held if h.facts.leaf}
    taken = max((cut.last for cut in case.cuts if cut.entry == "state_dict"), default=0)
    units = {}
    for held in case.held:
        if held.category == "container" and not held.facts.leaf and held.facts.storage in leaves:
            account = case.ledger.leaves.get(leaves[held.facts.storage])
            if account is not None and account.changed is not None and account.changed.order > taken:
                units.setdefault(held.unit, []).append(held)
    for group in units.values():
        statement = _taken(case, group[0])
        if statement is not None:
            sure = SNAPSHOT.fullmatch(group[0].root) or statement.loops
            severity = "warning" if sure else "info"
            yield RULE.found(case, paths(group), place_of(case, statement), None, (), severity, name=group[0].root)


def _taken(case, held):
    """The newest statement that binds the dict and calls state_dict()."""
    found = [s for s in case.cells.statements if any(True for _ in calls(s.node, "state_dict"))]
    names = {held.root, str(held.steps[-2].name) if len(held.steps) > 1 else ""}
    bound = [s for s in found if any(s is b for name in names for b in _binding(case, name))]
    return bound[-1] if bound else None


def _binding(case, name):
    yield from case.cells.assignments(name)
    yield from case.cells.assignments(name, attribute=True)


RULE = Rule("GV203", "alias.state-dict", "warning", look)
