"""GV306: a bootstrap target carries a gradient."""

import ast
import re

from gradviz.doctor.finding import Rule
from gradviz.doctor.mistakes import subject
from gradviz.watch.program import targets

COMPARING = ("SubBackward", "MseLoss", "SmoothL1Loss", "HuberLoss", "L1Loss")
LAID_OUT = ("Squeeze", "Unsqueeze", "View", "Reshape", "Expand")
NAMES = re.compile(r"(?i)(.*_)?(targets?|bootstrap|td_targets?|q_target|y_target)(_.*)?")


def look(case):
    """A name that says target is a result with a graph, and a backward went through it into the
    same leaves; or a loss compares a network with a constant plus a share of its own value.
    """
    told = set()
    for held in case.held:
        if held.category != "name" or not held.facts.attached or not NAMES.fullmatch(held.path):
            continue
        place = held.facts.place
        told.add(case.cells.line(place))
        if _trained(case, held.facts.id):
            yield RULE.found(case, [held.path], place, None, [held.facts.id], name=held.path)
    for name, statement, id in _local(case):
        if (statement.cell, statement.line) not in told and _trained(case, id):
            told.add((statement.cell, statement.line))
            yield RULE.found(case, [name], case.place(case.graph.note(id)), None, [id], name=name)
    for graph in (case.graph, case.past):
        for id in _bootstrapped(graph):
            place = case.place(graph.note(id))
            line = case.cells.line(place)
            if line not in told and _trained(case, id, graph):
                told.add(line)
                name = subject(case, place)
                yield RULE.found(case, [name], place, None, [id], name=name)


def _bootstrapped(graph):
    """Serials of results ``constant + share * value`` that a loss compares with something of the
    same leaves: ``reward + gamma * q(following).max(1).values``.
    """
    for loss in graph.made_by(*COMPARING):
        inputs = [id for _, id, leaf in graph.inputs(loss) if not leaf]
        if len(inputs) != 2:
            continue
        for id, other in (inputs, inputs[::-1]):
            sum_ = _through(graph, id, LAID_OUT)
            share = _through(graph, _only_input(graph, sum_, "AddBackward"), LAID_OUT)
            value = _only_input(graph, share, "MulBackward")
            nodes, leaves = graph.below(other) if value else ((), ())
            if value and value not in nodes and graph.below(value)[1] & leaves:
                yield sum_


def _through(graph, id, ops):
    """What a result was before it was only laid out anew."""
    while id and graph.op(id).startswith(ops):
        id = next((i for _, i, leaf in graph.inputs(id) if not leaf), 0)
    return id


def _only_input(graph, id, op):
    """The one tracked input of a node of class ``op``; 0 for another."""
    inputs = list(graph.inputs(id)) if id and graph.op(id).startswith(op) else ()
    return inputs[0][1] if len(inputs) == 1 and not inputs[0][2] else 0


def _local(case):
    """(name, statement, serial): results of lines in functions that bind a name that says target,
    in graphs that are still held.
    """
    for name, statements in case.cells.bound():
        if not NAMES.fullmatch(name):
            continue
        for statement in statements:
            if statement.function is None or not isinstance(statement.node, ast.Assign):
                continue
            names = [t.id for t in targets(statement.node) if isinstance(t, ast.Name)]
            made = case.graph.made_at(statement.cell, statement.line) if names == [name] else []
            if made:
                yield name, statement, max(made)


def _trained(case, id, graph=None):
    """A backward went through it into the same leaves."""
    leaves = (graph or case.graph).below(id)[1]
    return leaves and any(s.serial > id and leaves <= s.leaves for s in case.ledger.sweeps)


RULE = Rule("GV306", "grad.target-not-detached", "info", look)
