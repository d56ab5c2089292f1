"""Where a gradient's way ends: from a name back, by the text, to the line that left the graph."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gradviz.texts import both, catalogue
from gradviz.watch.case import Case
from gradviz.watch.program import Statement, called, names_in, own_expressions, targets

STEPS = 200
NOT_DIFFERENTIABLE = frozenset(
    "argmax argmin argsort bincount nonzero count_nonzero isnan isinf isfinite sign_ searchsorted "
    "bucketize multinomial bernoulli".split()
)
CASTS = frozenset("long int bool byte short char".split())
COPIES = frozenset("tensor as_tensor from_numpy Tensor".split())
OUT = frozenset("item tolist numpy detach".split())


@dataclass(slots=True)
class Severed:
    """The statement where the way ends, and how: detach, no_grad, item, argmax, tensor …
    ``caller``: the statement on the way that called the function which ``statement`` is in.
    """

    statement: Statement
    how: str
    caller: Statement | None = None


def way_of(cut: Severed) -> dict[str, str]:
    """What a cut did, in words: a text a language."""
    known = f"cut.{cut.how}" in catalogue("ask")
    return both(f"ask.cut.{cut.how if known else 'other'}", how=cut.how)


def severed(case: Case, name: str, before: Statement) -> Severed | None:
    """The newest line before ``before`` on the way to ``name`` where values left the graph."""
    return next(severances(case, {name}, before), None)


def severances(case: Case, names: set[str], before: Statement):
    """Every line before ``before`` on the ways to ``names`` where values left the graph."""
    ran, seen = _recorded(case), set()
    pending = [(name, before) for name in sorted(names)]
    while pending and len(seen) < STEPS:
        name, until = pending.pop()
        made = _newest(case, name, until)
        if made is None or id(made.node) in seen:
            continue
        seen.add(id(made.node))
        how = ran.get((made.cell, made.line)) or _by_text(made, name)
        found = Severed(made, how) if how else _in_functions(case, made, ran)
        if found is not None:
            yield found
        else:
            pending += [(used, made) for used in sorted(_used(made))]


def upstream(case: Case, cut: Severed) -> set[str]:
    """Every name that the value at a cut was computed from."""
    out, pending, seen = set(), [cut.caller or cut.statement], set()
    while pending and len(seen) < STEPS:
        statement = pending.pop()
        if statement is None or id(statement.node) in seen:
            continue
        seen.add(id(statement.node))
        names = _used(statement)
        out |= names
        pending += [_newest(case, name, statement) for name in sorted(names)]
    return out


def _used(statement):
    value = getattr(statement.node, "value", None) or getattr(statement.node, "iter", None)
    return names_in(value, plain=True) if value is not None else set()


def _recorded(case):
    """(cell, line) -> how, of every line where a tensor with a graph was taken out of it."""
    out = {}
    for cut in case.cuts:
        place = case.place(cut.note) if cut.sources or cut.leaves else None
        unit, line = case.cells.line(place)
        if unit is not None:
            out.setdefault((unit, line), cut.how)
    return out


def _newest(case, name, until):
    """The last statement above ``until``, of its function or the cells' top level, that binds
    ``name``; in a loop one below will do.
    """
    above, below = None, None
    for statement in case.cells.assignments(name):
        if statement.function is not until.function or statement.cell > until.cell:
            continue
        if (statement.cell, *_start(statement)) < (until.cell, *_start(until)):
            above = statement
        elif set(statement.loops) & set(until.loops):
            below = statement
    return above or below


def _start(statement):
    return statement.line, statement.node.col_offset


def _by_text(statement, name):
    """How the expression that a statement gives ``name`` leaves the graph, by what it calls."""
    if any(isinstance(target, ast.Attribute) for target in targets(statement.node)):
        return ""
    for part in _given(statement.node, name):
        if isinstance(part, ast.Call):
            name = called(part)
            if name in NOT_DIFFERENTIABLE or name in CASTS or name in OUT:
                return name
            if name in COPIES and part.args and _has_names(part.args[0]):
                return name
        elif isinstance(part, ast.Attribute) and part.attr == "data":
            return "data"
    return ""


def _given(node, name):
    """The expressions of a statement that make ``name``: in ``a, b = x, y`` those of its own."""
    pairs = [(node.targets[0], node.value)] if isinstance(node, ast.Assign) else []
    if pairs and all(isinstance(side, ast.Tuple) for side in pairs[0]):
        targets_, values = (side.elts for side in pairs[0])
        named = [isinstance(one, ast.Name) and one.id == name for one in targets_]
        if len(targets_) == len(values) and any(named):
            return ast.walk(values[named.index(True)])
    return own_expressions(node)


def _has_names(node):
    return any(isinstance(part, ast.Name) for part in ast.walk(node))


def _in_functions(case, statement, ran):
    """The newest recorded cut in a function of the person's that the statement calls."""
    for part in own_expressions(statement.node):
        name = called(part) if isinstance(part, ast.Call) else ""
        defined = case.cells.function(name) or _forward_of(case, name) if name else None
        if defined is None:
            continue
        for inner in reversed(case.cells.within([defined.cell])):
            if inner.function is defined.node and (inner.cell, inner.line) in ran:
                return Severed(inner, ran[inner.cell, inner.line], statement)
    return None


def _forward_of(case, name):
    """The forward of the class of the module that is called by its name."""
    for module in case.modules:
        if module.path == name:
            found = case.cells.methods("forward")
            return next((s for s in found if s.owner == module.name), None)
    return None
