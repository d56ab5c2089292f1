"""GV308: a kept state_dict() follows the model, because its tensors are the parameters'
own memory.
"""

import re

from gradviz.doctor.finding import Rule, paths
from gradviz.doctor.where import place_of
from gradviz.watch.program import writes

SNAPSHOT = re.compile(
    r"(?i).*(best|snapshot|saved|backup|init|start|old|prev|checkpoint|ckpt|keep|copy).*"
)


def look(case):
    """A dict of the notebook shares memory with parameters that were changed after state_dict() was
    called.
    """
    leaves = {h.facts.storage: h.facts.own for h in case.held if h.facts.leaf}
    units = {}
    for held in case.held:
        if held.category == "container" and not held.facts.leaf and held.facts.storage in leaves:
            account = case.ledger.leaves.get(leaves[held.facts.storage])
            if account is not None and account.changed is not None:
                units.setdefault(held.unit, []).append((held, account.changed.order))
    for pairs in units.values():
        group = [held for held, _ in pairs]
        statement = _taken(case, group[0])
        asked = _calls(case, statement) if statement is not None else []
        first = min((cut.first for cut in asked), default=None)
        if first is None or not any(changed > first for _, changed in pairs):
            continue
        last = max(cut.last for cut in asked)
        several = len({held.facts.storage for held in group}) < len(group)
        again = statement.loops or any(cut.count > len(cut.leaves) for cut in asked)
        named = any(SNAPSHOT.fullmatch(token) for token in group[0].tokens)
        if several or any(changed > last for _, changed in pairs) or (named and again):
            place, severity = place_of(case, statement), "warning" if named or again else "info"
            name = group[0].holder
            yield RULE.found(case, paths(group), place, None, (), severity, name=name)


def _calls(case, statement):
    """What was noted of the calls of state_dict() in a statement."""
    end = statement.node.end_lineno
    found = [(cut, *case.cells.line(case.place(cut.note))) for cut in case.cuts]
    return [
        cut
        for cut, unit, line in found
        if cut.entry == "state_dict" and unit == statement.cell and statement.line <= line <= end
    ]


def _taken(case, held):
    """The newest statement that writes into the holder and calls state_dict()."""
    found = case.cells.calling("state_dict")
    bound = [
        s for s in found if any(write.into and write.into[-1] in held.tokens for write in writes(s))
    ]
    return bound[-1] if bound else None


RULE = Rule("GV308", "alias.state-dict", "warning", look)
