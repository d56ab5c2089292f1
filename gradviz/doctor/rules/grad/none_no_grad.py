"""GV203: parameters that an optimiser trains get no gradient because forward ran under no_grad."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.flow import returns_to_training, tainted_backward
from gradviz.doctor.history import without_gradient
from gradviz.doctor.where import line_of
from gradviz.watch.program import targets

STOPPING = ("no_grad", "inference_mode", "set_grad_enabled")
UPDATES = (
    "step",
    "copy_",
    "fill_",
    "zero_",
    "add_",
    "mul_",
    "sub_",
    "clip",
    "normal_",
    "uniform_",
    "load_state",
    "init",
)


def look(case):
    """Parameters in an optimiser without any gradient, used under no_grad in code whose result is
    trained on.
    """
    missing = {leaf for optimizer in case.optimizers for leaf in without_gradient(case, optimizer)}
    lines = {}
    for cut in case.cuts:
        lost = (
            (cut.leaves | cut.far) & missing
            if cut.how == "no_grad" and not cut.entry.startswith(UPDATES)
            else set()
        )
        place = _cause(case, cut) if lost else None
        if place is not None:
            lines.setdefault(case.cells.line(place), (place, set()))[1].update(lost)
    for place, lost in lines.values():
        holders = [case.named(leaf) for leaf in sorted(lost)]
        yield RULE.found(
            case, [name for name in holders if name], place, None, lost, count=len(lost)
        )


def _cause(case, cut):
    """The decorator or the with statement that stopped recording, when its result goes on into
    training.
    """
    for place in case.places.chain(cut.note):
        statement = case.cells.at(*case.cells.line(place))
        if statement is None:
            continue
        for decorator in (
            statement.function.decorator_list if statement.function is not None else ()
        ):
            stops = any(word in ast.unparse(decorator) for word in STOPPING)
            if stops and returns_to_training(case, statement):
                return line_of(case, statement.cell, decorator.lineno)
        for block in statement.withs:
            if any(word in ast.unparse(item) for item in block.items for word in STOPPING):
                names = {t.id for t in targets(statement.node) if isinstance(t, ast.Name)}
                if names and tainted_backward(case, statement, names):
                    return line_of(case, statement.cell, block.lineno)
    return None


RULE = Rule("GV203", "grad.none-no-grad", "warning", look)
