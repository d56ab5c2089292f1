"""Errors that ended a cell: by the phrase of their message, with the line and the name at fault."""

from __future__ import annotations

import ast

from gradviz.watch.case import Case, ErrorFacts
from gradviz.watch.model import Finding, Place
from gradviz.watch.program import called, own_expressions, receiver

from .finding import Rule

ATOMS = ast.Name | ast.Attribute | ast.Subscript | ast.Call


def with_message(case: Case, *phrases: str):
    """The errors whose message has one of ``phrases``."""
    return [error for error in case.errors if any(phrase in error.message for phrase in phrases)]


def raised(error: ErrorFacts) -> Place | None:
    """The person's line that raised."""
    return error.chain[0] if error.chain else None


def simple(rule: Rule, case: Case, *phrases: str, method: str = ""):
    """A finding of ``rule`` at the raising line of each such error; ``method``: whose receiver is
    at fault.
    """
    for error in with_message(case, *phrases):
        yield state(rule, case, error, raised(error), method)


def state(
    rule: Rule,
    case: Case,
    error: ErrorFacts,
    place: Place | None,
    method: str = "",
    name: str | None = None,
    **fields,
) -> Finding:
    """A finding about ``error``."""
    where = raised(error)
    name = name or subject(case, where, method) or (where.code if where is not None else error.type)
    message = error.message.splitlines()[0] if error.message else ""
    return rule.found(case, [name], place, ids=error.nodes, name=name, error=message, **fields)


def subject(case: Case, place: Place | None, method: str = "") -> str:
    """The expression whose ``method`` was called on a line, else what the line binds or starts
    with.
    """
    statement = case.cells.calling_at(place, method)
    if statement is None:
        return ""
    for part in own_expressions(statement.node):
        if isinstance(part, ast.Call) and called(part) == method and receiver(part) is not None:
            return as_receiver(receiver(part))
    node = statement.node
    if isinstance(node, ast.Assign | ast.AugAssign):
        return ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        value = node.value
        while isinstance(value, ast.Call) and receiver(value) is not None:
            value = receiver(value)
        return "" if ast.unparse(value) in _imported(case) else ast.unparse(value)
    return ""


def as_receiver(node):
    """An expression as it stands before ``.method()``."""
    said = ast.unparse(node)
    return said if isinstance(node, ATOMS) else f"({said})"


def _imported(case):
    """The names that an import binds: modules, which are at fault for nothing."""
    nodes = [statement.node for statement in case.cells.statements]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return {one.asname or one.name.split(".")[0] for node in imports for one in node.names}


def gradient_owners(case: Case, place: Place | None) -> list[str]:
    """The expressions ``x`` of every ``x.grad`` on a line."""
    statement = case.cells.at(*case.cells.line(place))
    if statement is None:
        return []
    parts = own_expressions(statement.node)
    return [
        ast.unparse(p.value) for p in parts if isinstance(p, ast.Attribute) and p.attr == "grad"
    ]
