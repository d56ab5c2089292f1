"""``gradviz workshop FOLDER``: the lessons for a class, without solutions or for nbgrader."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

from gradviz.texts import language, text

from .arguments import help_of
from .examples import SUFFIX, folder_of_examples

FENCE = re.compile(r"```python\n(.*?)\n```", re.S)
CHECK = re.compile(r"\.check\((\d+)\)\s*\ndef (\w+)")
ONWARD = "](README"
CONFIG = """c = get_config()  # noqa: F821
c.CourseDirectory.course_id = "gradviz"
c.ClearSolutions.code_stub = {"python": ""}  # the exercise keeps the lines that learners change
c.ClearSolutions.enforce_metadata = False
"""


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument("folder", type=Path, help=help_of("cli.workshop.folder"), metavar="FOLDER")
    parser.add_argument(
        "--lessons", nargs="+", default=[""], help=help_of("cli.workshop.lessons"), metavar="NAME"
    )
    parser.add_argument("--nbgrader", action="store_true", help=help_of("cli.workshop.nbgrader"))


def command(options) -> int:
    """Write the notebooks; 2 when there are none, when one would be replaced, or
    when nothing can be written there."""
    made = dict(course(options.lessons) if options.nbgrader else handout(options.lessons))
    files = {options.folder / name: content for name, content in made.items()}
    there = next((file for file in files if file.exists()), None)
    if there is not None or not files:
        key = "none" if there is None else "exists"
        said = text(f"cli.workshop.{key}", **({} if there is None else {"file": there}))
        print(text("cli.cannot", command="workshop", said=said), file=sys.stderr)
        return 2
    try:
        for file, content in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content, encoding="utf-8")
    except OSError as error:
        said = text("cli.workshop.unwritable", folder=options.folder, reason=error.strerror)
        print(text("cli.cannot", command="workshop", said=said), file=sys.stderr)
        return 2
    print(text("cli.workshop.written", count=len(files), folder=options.folder))
    return 0


def lessons(wanted: list[str]) -> Iterator[tuple[str, dict]]:
    """(name, notebook) of the lessons in the language in use whose names begin as is ``wanted``."""
    ending = SUFFIX[language()]
    for file in sorted((folder_of_examples() or Path()).glob(f"[0-9]*{ending}")):
        name = file.name.removesuffix(ending)
        if "." not in name and name.startswith(tuple(wanted)):
            yield name, json.loads(file.read_text(encoding="utf-8"))


def handout(wanted) -> Iterator[tuple[str, str]]:
    """(file, content): each lesson without its solutions."""
    for name, book in lessons(wanted):
        yield f"{name}{SUFFIX[language()]}", _written(book, _without_solutions(book["cells"]))


def course(wanted) -> Iterator[tuple[str, str]]:
    """(file, content) of an nbgrader course: ``source`` with solutions, ``release`` without."""
    yield "nbgrader_config.py", CONFIG
    for name, book in lessons(wanted):
        if any(_tagged(cell, "exercise") for cell in book["cells"]):
            where = f"{name}/{name}{SUFFIX[language()]}"
            cells = list(_graded(book["cells"], name))
            yield f"source/{where}", _written(book, cells)
            yield f"release/{where}", _written(book, [_cleared(cell) for cell in cells])


def _without_solutions(cells):
    return [cell for cell in cells if not _tagged(cell, "solution") and not _leads_on(cell)]


def _graded(cells, name):
    """The cells with nbgrader's marks: an exercise holds its solution, a check fails unless it
    holds.
    """
    answers = [FENCE.search(_source(cell)) for cell in cells if _tagged(cell, "solution")]
    numbered = enumerate((found[1] for found in answers if found), 1)
    for cell in _without_solutions(cells):
        check = CHECK.search(_source(cell)) if cell["cell_type"] == "code" else None
        if _tagged(cell, "exercise"):
            number, answer = next(numbered)
            yield _marked(
                cell,
                f"{_source(cell)}\n### BEGIN SOLUTION\n{answer}\n### END SOLUTION",
                grade_id=f"{name}-exercise-{number}", solution=True,
            )  # fmt: skip
        elif check is not None:
            yield _marked(
                cell,
                f"{_source(cell)}\n\nassert {check[2]}.held, {check[2]}",
                grade_id=f"{name}-check-{check[1]}", grade=True, locked=True, points=1,
            )  # fmt: skip
        else:
            yield cell


def _marked(cell, source, **marks):
    plain = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}
    made = deepcopy(cell)
    made["source"] = source
    made["metadata"]["nbgrader"] = plain | marks
    return made


def _cleared(cell):
    made = deepcopy(cell)
    made["source"] = _source(cell).partition("\n### BEGIN SOLUTION")[0]
    return made


def _written(book, cells):
    return json.dumps(book | {"cells": cells}, ensure_ascii=False, indent=1) + "\n"


def _tagged(cell, tag):
    return tag in cell["metadata"].get("tags", ())


def _leads_on(cell):
    return cell["cell_type"] == "markdown" and ONWARD in _source(cell).splitlines()[-1]


def _source(cell):
    return "".join(cell["source"])
