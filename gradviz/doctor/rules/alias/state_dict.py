"""GV203: a kept state_dict() follows the model, because its tensors are the parameters'
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
    calls_of = [cut for cut in case.cuts if cut.entry == "state_dict"]
    first, last = (
        min((c.first for c in calls_of), default=0),
        max((c.last for c in calls_of), default=0),
    )
    units = {}
    for held in case.held:
        if held.category == "container" and not held.facts.leaf and held.facts.storage in leaves:
            account = case.ledger.leaves.get(leaves[held.facts.storage])
            if (
                account is not None
                and account.changed is not None
                and account.changed.order > first
            ):
                units.setdefault(held.unit, []).append((held, account.changed.order > last))
    for pairs in units.values():
        group = [held for held, _ in pairs]
        several = len({held.facts.storage for held in group}) < len(group)
        statement = _taken(case, group[0])
        named = SNAPSHOT.fullmatch(group[0].root)
        if statement is not None and (
            several or any(newer for _, newer in pairs) or (named and statement.loops)
        ):
            sure = named or statement.loops
            severity = "warning" if sure else "info"
            yield RULE.found(
                case,
                paths(group),
                place_of(case, statement),
                None,
                (),
                severity,
                name=group[0].root,
            )


def _taken(case, held):
    """The newest statement that writes into the holder and calls state_dict()."""
    found = case.cells.calling("state_dict")
    bound = [
        s for s in found if any(write.into and write.into[-1] in held.tokens for write in writes(s))
    ]
    return bound[-1] if bound else None


RULE = Rule("GV203", "alias.state-dict", "warning", look)
