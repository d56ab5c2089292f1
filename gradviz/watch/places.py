"""Places: which frames are the person's, and from a code object and an instruction to a cell and a
line.
"""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from bisect import bisect_right
from functools import lru_cache

from .model import Place

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOREIGN = ("<frozen", "<__array", "<gradviz", "<derivative", "<attrs", "<dataclass")
WRAPPERS = frozenset(
    "wrapped wrapper inner call __call__ _call_impl <lambda> _no_grad_wrapper decorate_context "
    "__torch_function__".split()
)
CHAIN = 8
MAIN = ("__main__", "__mp_main__")  # the program, and its other name where processes are started
OURS = "%%gradviz"
TIMED = ("<timed exec>", "<timed eval>")  # what %time and %%time call their code


class Files:
    """Which files are the person's: not ours, not the standard library's, not installed. ``mine``
    and ``foreign`` are what was asked before, so that the hot path needs one look into a set."""

    def __init__(self):
        names = ("stdlib", "platstdlib", "purelib", "platlib")
        named = (PACKAGE, *[sysconfig.get_path(name) for name in names])
        self._outside = tuple({way(x) + os.sep for x in named for way in (str, os.path.realpath)})
        self.mine: set[str] = set()
        self.foreign: set[str] = set()

    def is_mine(self, filename: str) -> bool:
        """True when code in the file is the person's."""
        if filename in self.mine:
            return True
        if filename in self.foreign:
            return False
        mine = not filename.startswith(FOREIGN)
        if mine and not filename.startswith("<"):  # a real path takes a look at every folder
            mine = not filename.startswith(self._outside)
            mine = mine and not os.path.realpath(filename).startswith(self._outside)
        known = self.mine if mine else self.foreign
        if len(known) < 20_000:
            known.add(filename)
        return mine


_persons = Files()


def engines() -> tuple[str, ...]:
    """The folders of ours and of the PyTorch that is loaded: no frame in them is a person's."""
    torch = getattr(sys.modules.get("torch"), "__file__", None)
    return (PACKAGE,) if torch is None else (PACKAGE, os.path.dirname(torch) + os.sep)


def is_persons(kind: type) -> bool:
    """Whether the person wrote a class, in a cell or in a module of theirs."""
    name = getattr(kind, "__module__", None)
    if name == "__main__":
        return True
    file = getattr(sys.modules.get(name) if isinstance(name, str) else None, "__file__", None)
    return file is not None and _persons.is_mine(file)


def persons_modules() -> tuple:
    """The imported modules that the person wrote."""
    return _modules_of(len(sys.modules), next(reversed(sys.modules)))


@lru_cache(maxsize=1)
def _modules_of(count, newest):
    found = list(sys.modules.items())
    files = [(m, getattr(m, "__file__", None)) for name, m in found if name not in MAIN]
    real = [(m, file) for m, file in files if isinstance(file, str) and os.path.isabs(file)]
    return tuple(m for m, file in real if _persons.is_mine(file))


class Places:
    """Turns (code, instruction) into a ``Place``.

    ``cell_of(filename)`` gives an execution count or None, ``text_of(count)`` the text of a cell,
    ``newest()`` the count of the newest cell.
    """

    def __init__(self, cell_of, text_of, newest=lambda: None):
        self._cell_of = cell_of
        self._text_of = text_of
        self._newest = newest
        self._tables: dict = {}
        self._known: dict = {}

    def line(self, code, instruction: int) -> int:
        """The line of an instruction (byte offset) of ``code``."""
        known, table = self._tables.get(id(code), (None, ()))  # hashing code takes long
        if known is not code:
            rows = [(start, line) for start, _, line in code.co_lines() if line is not None]
            table = [start for start, _ in rows], [line for _, line in rows]
            if len(self._tables) > 5_000:
                self._tables.clear()
            self._tables[id(code)] = code, table
        starts, lines = table
        at = bisect_right(starts, instruction) - 1
        return lines[at] if at >= 0 else code.co_firstlineno

    def place(self, code, instruction: int) -> Place:
        """Where ``instruction`` is: cell and line, or file and line. Remembered, but for what a
        magic runs, whose file name stands for every cell.
        """
        key = id(code), instruction
        known, found = self._known.get(key, (None, None))
        if known is not code:
            found = self.at(code.co_filename, self.line(code, instruction), code.co_name)
            lasts = found.cell is not None or found.file.endswith(".py")
            if code.co_filename not in TIMED and lasts:
                if len(self._known) > 20_000:
                    self._known.clear()
                self._known[key] = code, found
        return found

    def is_file(self, filename: str) -> bool:
        """Whether code of this file name is a file's, not a cell's."""
        return self._cell_of(filename) is None and not filename.startswith("<")

    def at(self, filename: str, line: int, function: str = "") -> Place:
        """The place of a line of a file; ``code`` is its text, stripped."""
        cell = self._newest() if filename in TIMED else self._cell_of(filename)
        name = "" if function == "<module>" else function
        text = self._text_of(cell) if cell is not None else None
        if cell is not None and text is not None:
            return self.in_cell(cell, line + left_out(text), name)
        return Place(cell, line, filename, name, linecache.getline(filename, line).strip())

    def in_cell(self, cell: int, line: int, function: str = "") -> Place:
        """The place of a line of a cell."""
        lines = (self._text_of(cell) or "").splitlines()
        return Place(
            cell, line, "", function, lines[line - 1].strip() if 0 < line <= len(lines) else ""
        )

    def chain(self, note) -> list[Place]:
        """All places of a note ``(code, instruction, outer)``, innermost first; ``outer`` is
        ``(code, instruction, …)``.
        """
        if not note:
            return []
        flat = (*note[:2], *note[2])
        return [self.place(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]


def left_out(text: str) -> int:
    """How many lines of a cell come before what is compiled of it: IPython leaves out blank lines
    at the top, and a cell magic runs what follows it; ours keeps the lines.
    """
    body = text.lstrip()
    blank = text[: len(text) - len(body)].count("\n")
    return blank + (body.startswith("%%") and not body.startswith(OURS))


def user_chain(frame, files: Files):
    """``(code, instruction, outer)`` of the person's frames from ``frame`` outwards, and the name
    of the function of ours (or an installed one) that the innermost of them called. ``()`` when
    none is the person's.
    """
    entry = ""
    while frame is not None:
        code = frame.f_code
        if files.is_mine(code.co_filename):
            return (
                code,
                frame.f_lasti,
                () if code.co_name == "<module>" else outer_chain(frame.f_back, files),
            ), entry
        if code.co_name not in WRAPPERS:
            entry = code.co_name
        frame = frame.f_back
    return (), entry


def outer_chain(frame, files: Files) -> tuple:
    """``(code, instruction, code, instruction, …)`` of the person's frames up to the cell."""
    out: tuple = ()
    for _ in range(60):
        if frame is None or len(out) >= 2 * CHAIN:
            break
        code = frame.f_code
        if files.is_mine(code.co_filename):
            out += (code, frame.f_lasti)
            if code.co_name == "<module>":
                break
        frame = frame.f_back
    return out
