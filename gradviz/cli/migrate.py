"""``gradviz migrate FILE…``: what programs use of PyTorch that gradviz lacks. Nothing is run."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gradviz.export import words
from gradviz.texts import text

from .arguments import help_of
from .check import COULD_NOT, NOTHING, SOMETHING
from .program import CannotRun, Program, read
from .uses import NAME_OF, Use, uses


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument(
        "files", nargs="+", type=Path, help=help_of("cli.check.files"), metavar="FILE"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help=help_of("cli.migrate.format")
    )


def command(options) -> int:
    """Read each file; 0 everything is there, 1 something is lacking, 2 a file cannot be read."""
    status, reports = NOTHING, []
    for file in options.files:
        try:
            program = read(file)
            found = uses(program)
        except (CannotRun, SyntaxError) as reason:
            said = reason if isinstance(reason, CannotRun) else _not_python(file, reason)
            print(text("cli.cannot", command="migrate", said=said), file=sys.stderr)
            status = COULD_NOT
            continue
        lacks = [use for use in found if not use.there]
        names = len({use.name for use in found if use.kind == NAME_OF})
        reports.append({"file": str(file), "names": names, "lacks": list(map(in_json, lacks))})
        if options.format == "text":
            print(in_words(program, names, lacks))
        if lacks:
            status = max(status, SOMETHING)
    if options.format == "json":
        print(json.dumps(reports, ensure_ascii=False))
    return status


def _not_python(file, error):
    place = words.place(int(error.text), error.lineno)
    return text("cli.migrate.not_python", file=file, place=place, message=error.msg)


def in_json(use: Use) -> dict:
    """One thing that is lacking, as data."""
    return {"name": use.name, "kind": use.kind, "cell": use.cell, "line": use.line}


def in_words(program: Program, names: int, lacks: list[Use]) -> str:
    """What is lacking in one file, for a person: a line a name, with all its places."""
    if not lacks:
        return text("cli.migrate.all", file=program.file, names=names)
    places: dict[str, list[str]] = {}
    for use in lacks:
        cell, file = (None, program.file.name) if program.script else (use.cell, "")
        said = text(f"cli.migrate.{use.kind}", name=use.name)
        places.setdefault(said, []).append(words.place(cell, use.line, file))
    lines = [text("cli.migrate.lacks", file=program.file, count=len(places), names=names)]
    for said, where in places.items():
        lines.append("  " + text("cli.migrate.line", said=said, places=", ".join(where)))
    return "\n".join(lines)
