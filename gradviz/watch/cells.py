"""The executed cells, and the modules they use, as statements that are found by what they call,
mention or bind. Grows with each cell; asking costs no more for having many.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable, Iterator
from pathlib import Path

from .model import Place
from .program import (
    Statement,
    bindings,
    called,
    calls,
    own_expressions,
    parsed,
    receiver,
    targets,
)

KEPT = 1_500
FILES, LONGEST = 100, 500_000
DEPTH = 3
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Cells:
    """Statements of all executed cells, oldest first; a cell that cannot be parsed has none, and of
    a cell that ran again (by its id) only the newest text has.

    ``texts``: of every run, by execution count; ``superseded``: the counts of runs that a later one
    has replaced; ``bindings``: (cell, line) of the newest statement that binds each name or
    attribute. A module of the person's counts as a cell with a number below zero: ``files``.
    """

    def __init__(self):
        self._begin()

    def _begin(self):
        self.texts: dict[int, str] = {}
        self.files: dict[str, int] = {}
        self.superseded: set[int] = set()
        self.bindings: dict[str, tuple[int, int]] = {}
        self._cells: dict[int, tuple[Statement, ...]] = {}
        self._newest: dict[str, int] = {}
        self._index: dict[tuple[str, str], list[Statement]] = {}
        self._lines: dict[int, list[str]] = {}
        self._innermost: dict[int, dict[int, Statement]] = {}
        self._seen = 0

    @classmethod
    def of(cls, cells) -> Cells:
        """From model ``Cell``s."""
        made = cls()
        made.follow(cells)
        return made

    def follow(self, cells: list):
        """Take in the model's ``cells`` that came since the last time; start again when some are
        gone.
        """
        if len(cells) < self._seen:
            self._begin()
        for cell in cells[self._seen :]:
            self._take(cell.count, cell.id, cell.text)
        self._seen = len(cells)
        self._forget_old()

    def read(self, files: Iterable[str]):
        """Take in the modules in ``files`` that were not read before."""
        for file in files:
            if file not in self.files and len(self.files) < FILES:
                number = self.files[file] = -1 - len(self.files)
                text = "".join(linecache.getlines(file))
                self._add(number, text if len(text) < LONGEST else "")

    def _forget_old(self):
        """Of a very long notebook the oldest cells that define nothing are not read any more."""
        spare = len(self._cells) - KEPT
        if spare > 0:
            old = [c for c, found in self._cells.items() if c > 0 and not any(map(_defines, found))]
            for count in old[: max(spare, KEPT // 10)]:
                self._drop(count)

    def _take(self, count, id, text):
        before = self._newest.get(id) if id is not None else None
        if before is not None:
            self._drop(before)
            self.superseded.add(before)
        if id is not None:
            self._newest[id] = count
        self._drop(count)
        self._add(count, text)
        self.bindings |= bindings(count, text)

    def _add(self, count, text):
        self.texts[count] = text
        self._innermost.pop(count, None)
        self._cells[count] = parsed(count, text)
        for statement in self._cells[count]:
            for key in _keys(statement):
                self._index.setdefault(key, []).append(statement)

    def _drop(self, count):
        """Forget the statements of a run."""
        gone = self._cells.pop(count, ())
        self._lines.pop(count, None)
        self._innermost.pop(count, None)
        for key in {key for statement in gone for key in _keys(statement)}:
            left = [s for s in self._index[key] if s.cell != count]
            if left:
                self._index[key] = left
            else:
                del self._index[key]

    # -- all of them -------------------------------------------------------------
    @property
    def statements(self) -> list[Statement]:
        """Every statement, oldest cell first."""
        return [s for statements in self._cells.values() for s in statements]

    def top_level(self) -> list[Statement]:
        """The statements of all cells that stand in no function, oldest cell first."""
        return [s for s in self.statements if s.cell > 0 and s.function is None]

    def within(self, counts: Iterable[int]) -> list[Statement]:
        """The statements of some cells, oldest cell first."""
        return [s for count in sorted(counts) for s in self._cells.get(count, ())]

    # -- by what they do -----------------------------------------------------------
    def calling(self, *names: str) -> list[Statement]:
        """Statements that themselves call a function or method with one of ``names``."""
        return self._found("call", names)

    def mentioning(self, *words: str) -> list[Statement]:
        """Statements that themselves have one of ``words`` as a name, an attribute or a string."""
        return self._found("word", words)

    def assignments(self, name: str, attribute: bool = False) -> list[Statement]:
        """Statements that bind a name, or an attribute of anything, oldest first."""
        return self._found("attribute" if attribute else "name", (name,))

    def bound(self) -> Iterator[tuple[str, list[Statement]]]:
        """(name, statements that bind it) of every name."""
        for (kind, name), statements in self._index.items():
            if kind == "name":
                yield name, statements

    def is_counted(self, name: str) -> bool:
        """Whether a name got its newest value from a loop over something (``p += 1`` in it gives no
        other).
        """
        for statement in reversed(self._index.get(("name", name), ())):
            if not isinstance(statement.node, ast.AugAssign):
                return isinstance(statement.node, ast.For | ast.AsyncFor)
        return False

    def function(self, name: str) -> Statement | None:
        """The newest definition of a function."""
        found = self._found("def", (name,))
        return found[-1] if found else None

    def methods(self, name: str) -> list[Statement]:
        """Every definition of a function or method with a name, oldest first."""
        return self._found("def", (name,))

    def classes(self, *names: str) -> list[Statement]:
        """Every definition of classes with one of ``names``."""
        return self._found("class", names)

    def definition(self, call: ast.Call, owner: str = "") -> Statement | None:
        """The person's function that is called, as far as names tell: ``f()``, ``self.f()`` in the
        class ``owner``, ``x.f()`` where ``x = Class()`` or x is a module; else None.
        """
        asked, found = receiver(call), self.methods(called(call))
        if asked is None:
            found = [s for s in found if not s.owner]
        elif not isinstance(asked, ast.Name):
            found = []
        elif asked.id in ("self", "cls"):
            found = [s for s in found if s.owner == owner]
        elif found:
            made = [getattr(s.node, "value", None) for s in self.assignments(asked.id)]
            kinds = {called(value) for value in made if isinstance(value, ast.Call)}
            found = [s for s in found if s.owner in kinds or self._module_of(s) == asked.id]
        return found[-1] if found else None

    def _module_of(self, statement):
        """The name of the module that a function is in, '' for cells."""
        file = self.place(statement.cell, 1).file if not statement.owner else ""
        return Path(file).stem

    def performed(self, statement: Statement, depth: int = DEPTH) -> Iterator[Statement]:
        """A statement, and those that run in any case in the person's functions that it calls."""
        yield statement
        for part in own_expressions(statement.node) if depth else ():
            made = self.definition(part, statement.owner) if isinstance(part, ast.Call) else None
            if made is None or made.node is statement.function:
                continue
            for inner in self.within([made.cell]):
                if inner.function is made.node and _always(inner):
                    yield from self.performed(inner, depth - 1)

    def _found(self, kind, names):
        lists = [self._index.get((kind, name), ()) for name in dict.fromkeys(names)]
        if len(lists) == 1:
            return list(lists[0])
        found = {id(s): s for statements in lists for s in statements}
        return sorted(found.values(), key=lambda s: (s.cell, s.node.lineno, s.node.col_offset))

    # -- by where they are ------------------------------------------------------------
    def unit(self, place: Place | None) -> int | None:
        """The cell that a place is in, or the number of its module; None when it is neither."""
        if place is None:
            return None
        return self.files.get(place.file) if place.cell is None else place.cell

    def line(self, place: Place | None) -> tuple[int | None, int | None]:
        """(cell or number of the module, line) of a place, to be compared with a statement's."""
        return (None, None) if place is None else (self.unit(place), place.line)

    def place(self, cell: int | None, line: int) -> Place:
        """The place of a line of a cell or module."""
        code = self.code(cell, line)
        if cell is None or cell > 0:
            return Place(cell, line, code=code)
        return Place(None, line, next(f for f, n in self.files.items() if n == cell), code=code)

    def code(self, cell: int | None, line: int | None) -> str:
        """The text of one line, stripped."""
        lines = self._lines.get(cell or 0)
        if lines is None:
            lines = self.texts.get(cell or 0, "").splitlines()
            self._lines[cell or 0] = lines
        return lines[line - 1].strip() if line and 0 < line <= len(lines) else ""

    def at(self, cell: int | None, line: int | None) -> Statement | None:
        """The innermost statement that covers a line."""
        if line is None:
            return None
        lines = self._innermost.get(cell or 0)
        if lines is None:
            lines = self._innermost[cell or 0] = {}
            for statement in self._cells.get(cell or 0, ()):
                for at in range(statement.line, (statement.node.end_lineno or statement.line) + 1):
                    lines[at] = statement
        return lines.get(line)

    def on(self, cell: int | None, line: int | None) -> list[Statement]:
        """The simple statements that cover a line: several, where they share it."""
        here = [s for s in self._cells.get(cell or 0, ()) if _covers(s, line)]
        return [s for s in here if not hasattr(s.node, "body")]

    def calling_at(self, place, method: str) -> Statement | None:
        """The statement of a place that calls ``method``, else the innermost there."""
        for statement in self.on(*self.line(place)):
            if any(True for _ in calls(statement.node, method)):
                return statement
        return self.at(*self.line(place))

    def last_expression(self, cell: int) -> Statement | None:
        """The statement at the end of a cell, the one whose value is displayed."""
        inside = self._cells.get(cell, ())
        top = [s for s in inside if s.function is None and not s.loops and not s.withs]
        return top[-1] if top else None


def _always(statement):
    """It stands in the body of its function, or in a with statement there, not in a branch."""
    blocks = (statement.function.body, *(block.body for block in statement.withs))
    return any(statement.block is block for block in blocks)


def _defines(statement):
    return isinstance(statement.node, FUNCTIONS | ast.ClassDef)


def _covers(statement, line):
    node = statement.node
    return line is not None and node.lineno <= line <= (node.end_lineno or line)


def _keys(statement):
    """What a statement is found by."""
    node, out = statement.node, set()
    for part in own_expressions(node):
        if isinstance(part, ast.Call):
            name = getattr(part.func, "attr", None) or getattr(part.func, "id", None)
            if name is not None:
                out.add(("call", name))
        elif isinstance(part, ast.Name):
            out.add(("word", part.id))
        elif isinstance(part, ast.Attribute):
            out.add(("word", part.attr))
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            if part.value.isidentifier():
                out.add(("word", part.value))
        elif isinstance(part, ast.keyword) and part.arg is not None:
            out.add(("word", part.arg))
    for target in targets(node):
        if isinstance(target, ast.Name):
            out.add(("name", target.id))
        elif isinstance(target, ast.Attribute):
            out.add(("attribute", target.attr))
    if isinstance(node, FUNCTIONS):
        out.add(("def", node.name))
    elif isinstance(node, ast.ClassDef):
        out.add(("class", node.name))
    return out
