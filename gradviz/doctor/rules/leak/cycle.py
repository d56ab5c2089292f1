"""GV114: a reference cycle through the graph: nothing in the notebook holds it, and only the
collector frees it.
"""

import ast

from gradviz.doctor.finding import Rule
from gradviz.doctor.where import bound, place_of
from gradviz.watch.case import Weight
from gradviz.watch.program import targets


def look(case):
    """Hooks that close over their own graph, gradients with a graph, outputs on ctx, objects that
    hold themselves.
    """
    yield from _hooks(case)
    yield from _gradients(case)
    yield from _contexts(case)
    yield from _objects(case)


def _hooks(case):
    lines = {}
    for cycle in case.graph.hook_cycles():
        lines.setdefault(cycle.note[:2], []).append(cycle)
    for found in lines.values():
        one, count = found[0], len(found)
        place = case.place(one.note)
        inside = f" of {place.function}(), {count} calls" if place.function else f", {count} times"
        holders = [
            f"(unreachable) local {one.name!r}{inside}",
            "(unreachable)",
            "(unreachable from the notebook)",
        ]
        weight = Weight(
            set().union(*(cycle.nodes for cycle in found)), sum(cycle.bytes for cycle in found)
        )
        yield RULE.found(
            case, holders, place, weight, weight.nodes, "error", name=one.name, count=count
        )


def _gradients(case):
    lines = {}
    for loop in case.graph.grad_loops():
        lines.setdefault(loop.note[:2], []).append(loop)
    for loops in lines.values():
        place = case.place(loops[0].note)
        name = f"{place.function}()" if place is not None and place.function else ".grad"
        calls_text = f"{name}, {len(loops)} times"
        holders = [
            f"(unreachable) local {local!r} of {calls_text}" for local in _leaves_of(case, place)
        ]
        holders += [
            f"(unreachable) {calls_text}",
            "(unreachable)",
            "(unreachable from the notebook)",
        ]
        count = len(loops)
        yield RULE.found(case, holders, place, None, (), "error", variant="gradient", count=count)


def _leaves_of(case, place):
    """Locals that the function at ``place`` declares to require grad."""
    unit = case.cells.unit(place)
    near = case.cells.within([unit]) if unit is not None else []
    for statement in [s for s in near if s.function is not None]:
        if statement.function.name == place.function:
            if "requires_grad" in case.cells.code(statement.cell, statement.line):
                yield from (t.id for t in targets(statement.node) if isinstance(t, ast.Name))


def _contexts(case):
    found = {}
    for node, name in case.graph.context_cycles():
        found.setdefault(name, []).append(node)
    for name, nodes in found.items():
        place = place_of(case, bound(case, name, attribute=True))
        holders = ["(unreachable from the notebook)", "(unreachable)", f"ctx.{name}"]
        yield RULE.found(
            case,
            holders,
            place,
            case.graph.weigh(nodes),
            nodes,
            "info",
            name=f"ctx.{name}",
            count=len(nodes),
        )


def _objects(case):
    for cycle in case.graph.object_cycles():
        holders = [
            f"(unreachable from the notebook) {cycle.name}",
            "(unreachable from the notebook)",
        ]
        code = cycle.code
        place = place_of(case, bound(case, cycle.via, attribute=True))
        if place is None and code is not None:
            place = case.places.at(code.co_filename, code.co_firstlineno, code.co_name)
        weight = case.graph.weigh(cycle.nodes)
        fields = {"name": cycle.name, "count": len(cycle.nodes)}
        yield RULE.found(case, holders, place, weight, cycle.nodes, "info", **fields)


RULE = Rule("GV114", "leak.cycle", "info", look)
