"""The text of the cells that ran, as statements that can be asked for: who writes into what, and
where.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import lru_cache

ADDING = frozenset(
    "append appendleft add insert extend extendleft put put_nowait push setdefault update "
    "__setitem__ send callback".split()
)
INDEXERS = frozenset("loc iloc at iat".split())
GETTING = frozenset(("setdefault", "get"))
PUSHING = frozenset("heappush heappushpop heapreplace insort insort_left insort_right".split())
BLOCKS = frozenset(("body", "orelse", "finalbody", "handlers", "cases", "decorator_list"))
MAGIC = re.compile(r"^(\s*)([%!?].*|.*\?)$")
PLAIN_CALLS = frozenset(
    "item detach tolist numpy float int str bool repr len format round detach_".split()
)


@dataclass(slots=True)
class Statement:
    """One statement of a cell: its node, the function and class around it, the loops around it, its
    block.
    """

    cell: int
    node: ast.stmt
    function: ast.FunctionDef | None
    owner: str
    loops: tuple
    block: list
    index: int
    withs: tuple = ()

    @property
    def line(self) -> int:
        """Its first line, counted from 1 in its cell."""
        return self.node.lineno


@lru_cache(maxsize=8)
def parsed(cell: int, text: str) -> tuple[Statement, ...]:
    """The statements of one cell; remembered."""
    return tuple(_statements(cell, text))


def _statements(cell, text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        try:
            tree = ast.parse("\n".join(MAGIC.sub(r"\1pass", line) for line in text.splitlines()))
        except (SyntaxError, ValueError, RecursionError):
            return
    stack = [(tree.body, None, "", (), ())]
    out = []
    while stack:
        block, function, owner, loops, withs = stack.pop()
        for index, node in enumerate(block):
            out.append(Statement(cell, node, function, owner, loops, block, index, withs))
            stack += _blocks(node, function, owner, loops, withs)
    yield from sorted(
        out, key=lambda s: (s.node.lineno, s.node.col_offset, -(s.node.end_lineno or 0))
    )


def _blocks(node, function, owner, loops, withs):
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.body, node, owner, (), ()
    elif isinstance(node, ast.ClassDef):
        yield node.body, function, node.name, (), ()
    elif isinstance(node, ast.With | ast.AsyncWith):
        yield node.body, function, owner, loops, (*withs, node)
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        yield node.body, function, owner, (*loops, node), withs
        yield node.orelse, function, owner, loops, withs
    else:
        for name in ("body", "orelse", "finalbody"):
            yield getattr(node, name, []), function, owner, loops, withs
        for handler in getattr(node, "handlers", []):
            yield handler.body, function, owner, loops, withs
        for case in getattr(node, "cases", []):
            yield case.body, function, owner, loops, withs


# -- reading one statement ---------------------------------------------------------
def targets(node):
    """The expressions that a statement binds."""
    if isinstance(node, ast.Assign):
        pending = list(node.targets)
    elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
        pending = [node.target]
    else:
        return
    while pending:
        target = pending.pop()
        if isinstance(target, ast.Tuple | ast.List):
            pending += target.elts
        elif isinstance(target, ast.Starred):
            pending.append(target.value)
        else:
            yield target


def own_expressions(node) -> tuple:
    """The expressions that belong to a statement itself, not to the blocks inside it; remembered
    on the statement.
    """
    known = getattr(node, "_own", None)
    if known is None:
        known = node._own = tuple(_own_expressions(node))
    return known


def _own_expressions(node):
    for name, value in ast.iter_fields(node):
        if name in BLOCKS:
            continue
        for item in value if isinstance(value, list) else (value,):
            if isinstance(item, ast.AST):
                yield from ast.walk(item)


def calls(node, *names):
    """Calls in a statement of a function or method with one of ``names``."""
    known = getattr(node, "_calls", None)
    if known is None:
        known = node._calls = {}
        for part in own_expressions(node):
            if isinstance(part, ast.Call):
                known.setdefault(called(part), []).append(part)
    for name in names:
        yield from known.get(name, ())


def changed_in_place(node) -> set[str]:
    """Names that a statement changes in place: ``x += …``, ``x[…] = …``, ``x.method_(…)``."""
    out = set()
    for target in targets(node):
        inner = target.value if isinstance(target, ast.Subscript) else target
        inside = isinstance(target, ast.Subscript) or isinstance(node, ast.AugAssign)
        if inside and isinstance(inner, ast.Name):
            out.add(inner.id)
    for part in own_expressions(node):
        if isinstance(part, ast.Call) and called(part).endswith("_"):
            owner = receiver(part)
            if isinstance(owner, ast.Name) and not called(part).endswith("__"):
                out.add(owner.id)
    return out


def mentions(node, word: str) -> bool:
    """Whether a statement itself has ``word`` as a name or attribute."""
    known = getattr(node, "_words", None)
    if known is None:
        parts = own_expressions(node)
        names = {part.id for part in parts if isinstance(part, ast.Name)}
        known = node._words = names | {p.attr for p in parts if isinstance(p, ast.Attribute)}
    return word in known


def called(call: ast.Call) -> str:
    """The last part of the name of what is called."""
    target = call.func
    return (
        target.attr
        if isinstance(target, ast.Attribute)
        else target.id
        if isinstance(target, ast.Name)
        else ""
    )


def receiver(call: ast.Call):
    """The object whose method is called, or None."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def keyword(call: ast.Call, name: str):
    """The value of a keyword argument, or None."""
    return next((k.value for k in call.keywords if k.arg == name), None)


def tokens(node) -> list[str]:
    """Names and constant keys of an expression such as ``runs[name]['steps']``, outermost last;
    without self.
    """
    out: list[str] = []
    while node is not None:
        if isinstance(node, ast.Attribute):
            out.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                out.append(node.slice.value)
            node = node.value
            if isinstance(node, ast.Attribute) and node.attr in INDEXERS:
                node = node.value
        elif isinstance(node, ast.Call):
            node = _got(node, out)
        else:
            if isinstance(node, ast.Name) and node.id not in ("self", "cls"):
                out.append(node.id)
            break
    return list(reversed(out))


def _got(call, out):
    """What a call is asked of: ``runs`` of ``runs.setdefault("loss", [])``, whose key is noted."""
    if called(call) not in GETTING or receiver(call) is None:
        return call.func
    key = call.args[0] if call.args else None
    if isinstance(key, ast.Constant) and isinstance(key.value, str):
        out.append(key.value)
    return receiver(call)


def names_in(node, plain: bool = False) -> set[str]:
    """Every name and attribute in an expression that still can carry a graph (not inside
    ``.item()``, ``.detach()`` …; with ``plain`` inside these too)."""
    out, pending = set(), [node]
    while pending:
        part = pending.pop()
        if isinstance(part, ast.Call) and called(part) in PLAIN_CALLS and not plain:
            continue
        if isinstance(part, ast.Name):
            out.add(part.id)
        elif isinstance(part, ast.Attribute):
            out.add(part.attr)
        pending += ast.iter_child_nodes(part)
    return out


@dataclass(slots=True)
class Write:
    """A statement that puts ``values`` into what ``into`` names; ``whole`` when it replaces it;
    ``variable`` when that is a variable, not an attribute or an item; ``method``: the one that is
    called for it.
    """

    statement: Statement
    into: list[str]
    values: list
    whole: bool
    variable: bool = False
    method: str = ""


def writes(statement: Statement):
    """All the ways a statement puts something into a variable, container or attribute."""
    node = statement.node
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and node.value is not None:
        for target in targets(node):
            partial = isinstance(target, ast.Subscript) or isinstance(node, ast.AugAssign)
            partial = partial or _extends(node.value, target)
            variable = isinstance(target, ast.Name)
            yield Write(statement, tokens(target), [node.value], not partial, variable)
    for part in calls(node, *ADDING):
        if receiver(part) is not None:
            values = [*part.args, *(k.value for k in part.keywords)]
            values = values[1:] if called(part) == "setdefault" else values
            if values:
                into = tokens(receiver(part))
                yield Write(statement, into, values, False, method=called(part))
    for part in calls(node, *PUSHING):
        if len(part.args) > 1:
            yield Write(statement, tokens(part.args[0]), list(part.args[1:]), False)


def _extends(value, target):
    """A container that is made of the one that the target is now, and more: ``[*log, x]``,
    ``log + [x]``.
    """
    literal = ast.List | ast.Tuple | ast.Set | ast.Dict
    if isinstance(value, ast.BinOp):
        extended = isinstance(value.left, literal) or isinstance(value.right, literal)
    else:
        extended = isinstance(value, literal)
    named = ast.unparse(target) if extended else ""
    return extended and any(
        isinstance(part, ast.Name | ast.Attribute) and ast.unparse(part) == named
        for part in ast.walk(value)
    )


@lru_cache(maxsize=8)
def bindings(cell: int, text: str) -> dict[str, tuple[int, int]]:
    """(cell, line) of the last statement of a cell that binds each name or attribute."""
    out = {}
    for statement in parsed(cell, text):
        for target in targets(statement.node):
            name = getattr(target, "id", None) or getattr(target, "attr", None)
            if name is not None and not isinstance(target, ast.Subscript):
                out[name] = cell, statement.line
    return out
