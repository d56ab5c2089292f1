"""GV310: a bootstrap target carries a gradient."""

import re

from gradviz.doctor.finding import Rule

NAMES = re.compile(r"(?i)(.*_)?(targets?|bootstrap|td_targets?|q_target|y_target)(_.*)?")


def look(case):
    """A name that says target is a result with a graph, and a backward went through it into the
    same leaves.
    """
    for held in case.held:
        if held.category != "name" or not held.facts.attached or not NAMES.fullmatch(held.path):
            continue
        leaves = case.graph.weigh([held.facts.id]).leaves
        if any(
            s.serial > held.facts.id and leaves <= s.leaves and leaves for s in case.ledger.sweeps
        ):
            yield RULE.found(
                case, [held.path], held.facts.place, None, [held.facts.id], name=held.path
            )


RULE = Rule("GV310", "grad.target-not-detached", "info", look)
