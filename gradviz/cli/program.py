"""A file as a list of cells: notebook, script, or script with ``# %%`` marks."""

from __future__ import annotations

import ast
import json
import re
import tokenize
from dataclasses import dataclass, field
from pathlib import Path

from gradviz.texts import text

MARK = re.compile(r"^# ?%%(?P<rest>.*)$", re.MULTILINE)
PYTHON = "python"
NOT_CODE = re.compile(r"\[(markdown|md|raw)\]")


class CannotRun(Exception):
    """The file cannot be run; its text is the one line to print, ``error`` the same as JSON."""

    def __init__(self, said: str, kind: str = "ValueError", error: dict | None = None):
        super().__init__(said)
        self.error = error or {"cell": None, "type": kind, "message": said}


@dataclass(frozen=True)
class Program:
    """``cells`` are the texts to run, in order; ``script`` when the file is one cell. ``lines``:
    for each cell the numbers in the file of its lines, as far as they are known.
    """

    file: Path
    cells: list[str]
    script: bool = False
    lines: list[list[int]] = field(default_factory=list)

    def line_in_file(self, count: int | None, line: int | None) -> int:
        """Where in the file a line of the ``count``-th cell that ran stands; 1 when unknown."""
        ran = [
            numbers for cell, numbers in zip(self.cells, self.lines, strict=False) if cell.strip()
        ]
        numbers = ran[(count or 1) - 1] if (count or 1) <= len(ran) else []
        return numbers[(line or 1) - 1] if (line or 1) <= len(numbers) else 1


def read(file: Path) -> Program:
    """The program in ``file``. Raises :class:`CannotRun` with what to print."""
    if not file.exists():
        raise CannotRun(text("cli.check.missing", file=file), FileNotFoundError.__name__)
    if file.suffix not in (".ipynb", ".py"):
        raise CannotRun(text("cli.check.needs_format", file=file))
    source = _source(file)
    program = _notebook(file, source) if file.suffix == ".ipynb" else _script(file, source)
    if not any(cell.strip() for cell in program.cells):
        raise CannotRun(text("cli.check.empty", file=file))
    return program


def _source(file):
    try:
        if file.suffix == ".py":
            with tokenize.open(file) as stream:
                return stream.read()
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeError, SyntaxError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        said = text("cli.check.unreadable", file=file, reason=reason)
        raise CannotRun(said, type(error).__name__) from error


def _notebook(file, source):
    if not source.strip():
        raise CannotRun(text("cli.check.empty", file=file))
    try:
        book = json.loads(source)
        _check_kind(file, book)
        cells = [_cell_source(c) for c in book["cells"] if c["cell_type"] == "code"]
        lines = _lines_of_cells(source, book["cells"])
    except json.JSONDecodeError as error:
        said = text("cli.check.not_json", file=file, line=error.lineno)
        raise CannotRun(said) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CannotRun(text("cli.check.broken", file=file)) from error
    return Program(file, cells, lines=lines)


def _lines_of_cells(source, cells):
    """Where each line of each code cell stands in the JSON text: one string a line, in order."""
    rows, at, out = source.splitlines(), 0, []
    for cell in cells:
        found = []
        for text_of_line in _cell_source(cell).splitlines(keepends=True):
            quoted = json.dumps(text_of_line, ensure_ascii=False), json.dumps(text_of_line)
            here = next(
                (i for i in range(at, len(rows)) if rows[i].strip(" ,[]").startswith(quoted)), None
            )
            at = at if here is None else here + 1
            found.append(at if here is not None else max(at, 1))
        if cell["cell_type"] == "code":
            out.append(found)
    return out


def _check_kind(file, book):
    """Refuse a notebook in another language, or of a format before cells stood at the top."""
    if "worksheets" in book:
        raise CannotRun(text("cli.check.old", file=file, version=book.get("nbformat", 3)))
    about = book.get("metadata") or {}
    kernel, spoken = about.get("kernelspec") or {}, about.get("language_info") or {}
    language = kernel.get("language") or spoken.get("name") or PYTHON
    if not str(language).lower().startswith(PYTHON):
        raise CannotRun(text("cli.check.other_language", file=file, language=language))


def _cell_source(cell):
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)


def _script(file, source):
    marks = list(MARK.finditer(source))
    if not marks:
        cells = [source] if _has_code(source) else []
        return Program(file, cells, script=True, lines=[_numbers(source, 0) for _ in cells])
    head = source[: marks[0].start()]
    cells = [head] if _has_code(head) else []
    lines = [_numbers(head, 0) for _ in cells]
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    for mark, end in zip(marks, ends, strict=True):
        if not NOT_CODE.search(mark["rest"]):
            cells.append(source[mark.end() + 1 : end].rstrip())
            lines.append(_numbers(cells[-1], source.count("\n", 0, mark.end() + 1)))
    return Program(file, cells, lines=lines)


def _numbers(text_of_cell, before):
    """The lines of a cell that follows ``before`` lines of its file."""
    return list(range(before + 1, before + len(text_of_cell.splitlines()) + 1))


def _has_code(source):
    """True unless ``source`` is only comments and blanks; what cannot be parsed counts as code."""
    try:
        return bool(ast.parse(source).body)
    except (SyntaxError, ValueError):
        return True
