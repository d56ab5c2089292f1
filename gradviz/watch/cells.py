"""The executed cells, as statements that are found by what they call, mention or bind. Grows with
each cell; asking costs no more for having many.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from .program import Statement, bindings, calls, own_expressions, parsed, targets

KEPT = 1_500
FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


class Cells:
    """Statements of all executed cells, oldest first; a cell that cannot be parsed has none, and of
    a cell that ran again (by its id) only the newest text has.

    ``texts``: of every run, by execution count; ``superseded``: the counts of runs that a later one
    has replaced; ``bindings``: (cell, line) of the newest statement that binds each name or
    attribute.
    """

    def __init__(self):
        self._begin()

    def _begin(self):
        self.texts: dict[int, str] = {}
        self.superseded: set[int] = set()
        self.bindings: dict[str, tuple[int, int]] = {}
        self._cells: dict[int, tuple[Statement, ...]] = {}
        self._newest: dict[str, int] = {}
        self._index: dict[tuple[str, str], list[Statement]] = {}
        self._lines: dict[int, list[str]] = {}
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

    def _forget_old(self):
        """Of a very long notebook the oldest cells that define nothing are not read any more."""
        spare = len(self._cells) - KEPT
        if spare > 0:
            old = [c for c, found in self._cells.items() if not any(map(_defines, found))]
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
        self.texts[count] = text
        self._cells[count] = parsed(count, text)
        self.bindings |= bindings(count, text)
        for statement in self._cells[count]:
            for key in _keys(statement):
                self._index.setdefault(key, []).append(statement)

    def _drop(self, count):
        """Forget the statements of a run."""
        gone = self._cells.pop(count, ())
        self._lines.pop(count, None)
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

    def function(self, name: str) -> Statement | None:
        """The newest definition of a function."""
        found = self._found("def", (name,))
        return found[-1] if found else None

    def methods(self, name: str) -> list[Statement]:
        """Every definition of a function or method with a name, oldest first."""
        return self._found("def", (name,))

    def _found(self, kind, names):
        lists = [self._index.get((kind, name), ()) for name in dict.fromkeys(names)]
        if len(lists) == 1:
            return list(lists[0])
        found = {id(s): s for statements in lists for s in statements}
        return sorted(found.values(), key=lambda s: (s.cell, s.node.lineno, s.node.col_offset))

    # -- by where they are ------------------------------------------------------------
    def code(self, cell: int | None, line: int | None) -> str:
        """The text of one line, stripped."""
        lines = self._lines.get(cell or 0)
        if lines is None:
            lines = self.texts.get(cell or 0, "").splitlines()
            self._lines[cell or 0] = lines
        return lines[line - 1].strip() if line and 0 < line <= len(lines) else ""

    def at(self, cell: int | None, line: int | None) -> Statement | None:
        """The innermost statement that covers a line."""
        found = None
        for statement in self._cells.get(cell or 0, ()):
            if _covers(statement, line):
                found = statement
        return found

    def on(self, cell: int | None, line: int | None) -> list[Statement]:
        """The simple statements that cover a line: several, where they share it."""
        here = [s for s in self._cells.get(cell or 0, ()) if _covers(s, line)]
        return [s for s in here if not hasattr(s.node, "body")]

    def calling_at(self, place, method: str) -> Statement | None:
        """The statement of a place that calls ``method``, else the innermost there."""
        if place is None:
            return None
        for statement in self.on(place.cell, place.line):
            if any(True for _ in calls(statement.node, method)):
                return statement
        return self.at(place.cell, place.line)

    def last_expression(self, cell: int) -> Statement | None:
        """The statement at the end of a cell, the one whose value is displayed."""
        inside = self._cells.get(cell, ())
        top = [s for s in inside if s.function is None and not s.loops and not s.withs]
        return top[-1] if top else None


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
    return out
