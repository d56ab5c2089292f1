"""GV102: a running value is a tensor with a graph, so it chains all iterations."""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import READ, best_first, read_by_name, spans, spans_of
from gradviz.doctor.where import put, stored, writing
from gradviz.watch.program import changed_in_place, own_expressions, targets

ADDITIVE = (
    "AddBackward0",
    "SubBackward0",
    "MulBackward0",
    "LerpBackward0",
    "LerpBackward1",
    "MaximumBackward0",
)
SCALING = ("DivBackward", "MulBackward", "SqueezeBackward", "ViewBackward", "SqrtBackward")
SCALINGS = 3
NEAR = 5_000
HOLDERS = ("name", "container", "attribute", "closure")


def look(case):
    """A tensor made by the same addition again and again, with backward passes in between."""
    seen = set()
    found = best_first([h for h in case.held if h.facts.attached and h.category in HOLDERS])
    for held in sorted(found, key=lambda h: h.facts.op not in ADDITIVE):  # a mean after its sum
        if held.facts.id in seen or _in_module(held) or is_state(case, held):
            continue
        if held.facts.op in ADDITIVE:
            links, passes = spans(case, held)
        else:
            links, passes = _sum_below(case, held.facts.id)
        if len(links) < 2 or not (passes or _only_read(case, held, links)):
            continue
        if seen.intersection(links):
            continue
        seen.update((held.facts.id, *links))
        severity = "warning" if passes >= 2 and len(links) >= 3 else "info"
        weight = case.graph.weigh([held.facts.id])
        own = links[0] == held.facts.id
        place = _placed(case, held) if own else case.place(case.graph.note(links[0]))
        statement = _summed(case, place, held)
        if _descends(statement):
            continue
        name = _named(statement) or held.path
        fields = {"count": len(links), "name": name, "store": stored(case, place, [held])}
        yield RULE.found(case, [held.path], place, weight, links, severity, **fields)


def _placed(case, held):
    """The line that adds: where a name was given itself and more, else where the sum was put."""
    here = case.cells.on(*case.cells.line(held.facts.place))
    added = any(held.root in changed_in_place(s.node) or _adds(s.node) for s in here)
    return held.facts.place if added else put(case, [held])


def _adds(node):
    """``x = x + y``, ``x += y``."""
    if isinstance(node, ast.AugAssign):
        return True
    bound = {ast.unparse(target) for target in targets(node)}
    value = getattr(node, "value", None)
    return bool(bound) and any(ast.unparse(p) in bound for p in ast.walk(value or node))


def _sum_below(case, id):
    """(links, passes) of the sum that a mean was made from: ``total / n``."""
    for _ in range(SCALINGS):
        inputs = list(case.graph.inputs(id))
        if not case.graph.op(id).startswith(SCALING) or len(inputs) != 1 or inputs[0][2]:
            break
        id = inputs[0][1]
        if case.graph.op(id) in ADDITIVE:
            return spans_of(case, id)
    return [], 0


def _summed(case, place, held):
    """The statement of the line that makes the sum."""
    here = case.cells.on(*case.cells.line(place))
    found = writing(case, place, held)
    adding = [s for s in here if _adds(s.node)]
    return found if found in adding or not adding else adding[0]


def _named(statement):
    """The variable or attribute that a sum is in, as it is written."""
    bound = list(targets(statement.node)) if statement is not None else []
    return ast.unparse(bound[0]) if len(bound) == 1 else ""


def _descends(statement):
    """``w = w - lr * w.grad``: a parameter that is lost, and no total."""
    bound = _named(statement)
    parts = own_expressions(statement.node) if bound else ()
    grads = [p.value for p in parts if isinstance(p, ast.Attribute) and p.attr == "grad"]
    return any(ast.unparse(owner) == bound for owner in grads)


def is_state(case, held):
    """A sum in which both terms come from the value before it: a state, such as of a recurrent
    cell, and not a total.
    """
    if held.facts.op not in ADDITIVE:
        return False
    links = case.graph.chain(held.facts.id)
    below = [i for _, i, leaf in case.graph.inputs(held.facts.id) if not leaf]
    return (
        len(links) > 1
        and sum(links[1] == i or links[1] in case.graph.weigh([i], NEAR).nodes for i in below) > 1
    )


def _only_read(case, held, links):
    """Never swept, three or more terms, and the sum was read as a number."""
    read = any(held.facts.id in cut.sources for cut in case.cuts if cut.how in READ)
    read = read or read_by_name(case, held)
    return (
        read
        and len(links) >= 3
        and held.facts.shape == ()
        and not case.graph.weigh([held.facts.id]).freed
    )


def _in_module(held):
    return any("_parameters" in getattr(owner, "__dict__", ()) for owner in held.link.owners())


RULE = Rule("GV102", "leak.accumulator", "warning", look)
