"""Places: which frames are the person's, and from a code object and an instruction to a cell and a line."""

from __future__ import annotations

import linecache
import os
import sysconfig
from bisect import bisect_right

from .model import Place

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOREIGN = ("<frozen", "<__array", "<gradviz", "<attrs", "<dataclass")
CHAIN = 8


class Files(dict):
    """File name -> True when code in it is the person's: not ours, not the standard library's, not installed."""

    def __init__(self):
        names = ("stdlib", "platstdlib", "purelib", "platlib")
        found = {os.path.realpath(sysconfig.get_path(name)) for name in names}
        self._outside = tuple(folder + os.sep for folder in (*found, os.path.realpath(PACKAGE)))
        super().__init__()

    def __missing__(self, filename: str) -> bool:
        mine = not filename.startswith(FOREIGN)
        if mine and not filename.startswith("<"):
            mine = not os.path.realpath(filename).startswith(self._outside)
        if len(self) < 20_000:
            self[filename] = mine
        return mine


class Places:
    """Turns (code, instruction) into a ``Place``. ``cell_of(filename)`` gives an execution count or None."""

    def __init__(self, cell_of, text_of):
        self._cell_of = cell_of
        self._text_of = text_of
        self._tables: dict = {}

    def line(self, code, instruction: int) -> int:
        """The line of an instruction (byte offset) of ``code``."""
        table = self._tables.get(code)
        if table is None:
            rows = [(start, line) for start, _, line in code.co_lines() if line is not None]
            table = [start for start, _ in rows], [line for _, line in rows]
            if len(self._tables) > 5_000:
                self._tables.clear()
            self._tables[code] = table
        starts, lines = table
        at = bisect_right(starts, instruction) - 1
        return lines[at] if at >= 0 else code.co_firstlineno

    def place(self, code, instruction: int) -> Place:
        """Where ``instruction`` is: cell and line, or file and line."""
        return self.at(code.co_filename, self.line(code, instruction), code.co_name)

    def at(self, filename: str, line: int, function: str = "") -> Place:
        """The place of a line of a file; ``code`` is its text, stripped."""
        cell = self._cell_of(filename)
        text = self._text_of(cell) if cell is not None else None
        if text is not None:
            lines = text.splitlines()
            code = lines[line - 1] if 0 < line <= len(lines) else ""
        else:
            code = linecache.getline(filename, line)
        name = "" if function == "<module>" else function
        return Place(cell, line, filename if cell is None else "", name, code.strip())

    def chain(self, note) -> list[Place]:
        """All places of a chain ``(code, instruction, code, instruction, …)``, innermost first."""
        return [self.place(note[i], note[i + 1]) for i in range(0, len(note or ()), 2)]


def user_chain(frame, files: Files):
    """``(code, instruction, …)`` of the person's frames from ``frame`` outwards, and the name of the function of
    ours (or an installed one) that the innermost of them called. Empty when none is the person's."""
    entry, hops, note = "", 0, ()
    while frame is not None:
        code = frame.f_code
        if files[code.co_filename]:
            note += (code, frame.f_lasti)
            if code.co_name == "<module>" or len(note) >= 2 * CHAIN:
                break
        elif not note:
            entry = code.co_name
        hops += 1
        if hops > 60:
            break
        frame = frame.f_back
    return note, entry
