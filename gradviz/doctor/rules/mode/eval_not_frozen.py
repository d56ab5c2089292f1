"""GV317: eval() does not stop a part from being trained."""

import ast
import re

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import place_of
from gradviz.watch.program import calls, receiver

KEY = re.compile(r"\['(\w+)'\]")  # a ModuleDict's part has a path with a dot


def look(case):
    """An optimiser changes the parameters of a module in eval mode together with those of one in
    training mode.
    """
    active = {
        leaf
        for module in case.modules
        if module.training
        for name, leaf in module.parameters.items()
        if "." not in name
    }
    for module in case.modules:
        leaves = set(module.parameters.values()) - active
        changed = {
            leaf
            for leaf in leaves
            if (account := case.ledger.leaves.get(leaf)) and account.total and account.changes
        }
        together = any(leaves & set(o.leaves) and active & set(o.leaves) for o in case.optimizers)
        statement = _called(case, module.path, "eval")
        if (
            module.training
            or not changed
            or not together
            or statement is None
            or _called(case, module.path, "train")
        ):
            continue
        holders = [case.named(leaf) for leaf in sorted(changed)]
        yield RULE.found(
            case, [h for h in holders if h], place_of(case, statement), name=module.path
        )


def _called(case, path, method):
    """The newest statement path.method()."""
    found = None
    for statement in case.cells.calling(method):
        for call in calls(statement.node, method):
            asked = receiver(call)
            if asked is not None and KEY.sub(r".\1", ast.unparse(asked)) == path:
                found = statement
    return found


RULE = Rule("GV317", "mode.eval-not-frozen", "info", look)
