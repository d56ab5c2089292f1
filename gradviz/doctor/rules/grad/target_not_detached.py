"""GV306: a bootstrap target carries a gradient."""

import ast
import re

from gradviz.doctor.finding import Rule
from gradviz.watch.program import targets

NAMES = re.compile(r"(?i)(.*_)?(targets?|bootstrap|td_targets?|q_target|y_target)(_.*)?")


def look(case):
    """A name that says target is a result with a graph, and a backward went through it into the
    same leaves.
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


def _trained(case, id):
    """A backward went through it into the same leaves."""
    leaves = case.graph.weigh([id]).leaves
    return leaves and any(s.serial > id and leaves <= s.leaves for s in case.ledger.sweeps)


RULE = Rule("GV306", "grad.target-not-detached", "info", look)
