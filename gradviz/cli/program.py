"""A file as a list of cells: notebook, script, or script with ``# %%`` marks."""

from __future__ import annotations

import ast
import json
import re
import tokenize
from dataclasses import dataclass
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
    """``cells`` are the texts to run, in order; ``script`` when the file is one cell."""

    file: Path
    cells: list[str]
    script: bool = False


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
    except json.JSONDecodeError as error:
        said = text("cli.check.not_json", file=file, line=error.lineno)
        raise CannotRun(said) from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise CannotRun(text("cli.check.broken", file=file)) from error
    return Program(file, cells)


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
        return Program(file, [source] if _has_code(source) else [], script=True)
    head = source[: marks[0].start()]
    cells = [head] if _has_code(head) else []
    ends = [mark.start() for mark in marks[1:]] + [len(source)]
    for mark, end in zip(marks, ends, strict=True):
        if not NOT_CODE.search(mark["rest"]):
            cells.append(source[mark.end() + 1 : end].rstrip())
    return Program(file, cells)


def _has_code(source):
    """True unless ``source`` is only comments and blanks; what cannot be parsed counts as code."""
    try:
        return bool(ast.parse(source).body)
    except (SyntaxError, ValueError):
        return True
