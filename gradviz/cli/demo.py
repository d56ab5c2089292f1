"""``gradviz demo``: the digits example in a real kernel, its findings, its graph as a page."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

from gradviz.export import words
from gradviz.texts import language, text
from gradviz.watch.model import Finding

from .arguments import help_of
from .examples import example
from .lab import has, launch

NAME = "02_digits"
TIMEOUT = 300
REPORT = """\
from gradviz.notebook.display import export_html as _gradviz_export
from gradviz.notebook.report import findings as _gradviz_findings
_gradviz_export({path!r})
print(_gradviz_findings())
"""


class Stopped(Exception):
    """A cell of the example failed; its text is the one line to print."""


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument("--no-lab", action="store_true", help=help_of("cli.demo.no_lab"))
    parser.add_argument("--output", type=Path, help=help_of("cli.demo.output"), metavar="FILE")


def command(options) -> int:
    """Run the example; 0 when it ran, 1 when it failed, 2 when it could not run."""
    if not all(has(module, "demo") for module in ("nbclient", "nbformat", "ipykernel", "tqdm")):
        return 2
    file = example(NAME)
    if file is None:
        print(text("cli.demo.no_example", name=NAME), file=sys.stderr)
        return 2
    output = (options.output or Path(tempfile.mkdtemp(prefix="gradviz-"), "digits.html")).resolve()
    print(text("cli.demo.running", name=file.name), flush=True)
    try:
        found = execute(file, output)
    except Stopped as reason:
        print(reason, file=sys.stderr)
        return 1
    _tell(file, found)
    print(text("cli.demo.page", path=output), flush=True)
    return 0 if options.no_lab else launch(_own_copy(file), "demo")


def execute(file: Path, output: Path) -> list[Finding]:
    """Run the notebook ``file`` in a kernel with a progress bar, write the page; its findings."""
    import nbformat
    from nbclient import NotebookClient
    from tqdm import tqdm

    book = nbformat.read(file, as_version=4)
    where = {"metadata": {"path": str(file.parent)}}
    quiet = ["--log-level=ERROR"]
    client = NotebookClient(book, timeout=TIMEOUT, resources=where, extra_arguments=quiet)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    report = nbformat.v4.new_code_cell(REPORT.format(path=str(output)))
    book.cells.append(report)
    spoken = os.environ | {"GRADVIZ_LANG": language()}
    with client.setup_kernel(env=spoken), tqdm(total=len(code), unit="cell", ncols=80) as bar:
        for count, cell in enumerate(code, 1):
            _run(client, cell, count)
            bar.update()
        _run(client, report, len(code) + 1)
    return [Finding(**one) for one in json.loads(_printed(report))]


def _run(client, cell, count):
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    try:
        client.execute_cell(cell, client.nb.cells.index(cell))
    except CellExecutionError as error:
        reason = f"{error.ename}: {error.evalue}"
        raise Stopped(text("cli.demo.failed", cell=count, reason=reason)) from error
    except (CellTimeoutError, DeadKernelError) as error:
        reason = type(error).__name__
        raise Stopped(text("cli.demo.failed", cell=count, reason=reason)) from error


def _printed(cell):
    return "".join(out["text"] for out in cell.outputs if out.get("name") == "stdout")


def _tell(file, found):
    serious = words.serious(found)
    print(text("cli.demo.found", name=file.name) if serious else text("cli.demo.none"))
    for finding in serious:
        print(words.paragraph(finding))


def _own_copy(file):
    """The notebook where the person may change it, not inside the installed package."""
    return Path(shutil.copy(file, tempfile.mkdtemp(prefix="gradviz-")))
