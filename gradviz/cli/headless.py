"""Runs one program in a shell without a front end, in a process of its own, and reports in JSON.

    python -m gradviz.cli.headless FILE RESULT [engine|torch]

Whatever the program prints goes where this process prints; the report goes to the file RESULT.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

from gradviz.notebook import alias
from gradviz.texts import text
from gradviz.watch.plain import plain

from .locals import KeepLocals
from .program import Program, read

PATIENT = 20  # seconds; nobody waits at a prompt


def main(arguments):
    """Run the program in the first argument, write what was found to the second."""
    file, result = Path(arguments[0]).resolve(), Path(arguments[1])
    program = read(file)
    with tempfile.TemporaryDirectory() as folder:
        report = run(program, folder, "torch" in arguments[2:])
    result.write_text(json.dumps(plain(report)), encoding="utf-8")


def run(program: Program, folder: str, real: bool = False) -> dict:
    """Run every cell, also after errors: ``findings`` (model), ``errors``, ``ran`` (cells).
    ``real``: ``import torch`` means PyTorch.
    """
    from gradviz.notebook.extension import load

    if not real:
        alias.install()
    shell = _shell(folder)
    extension = load(shell, quiet=True)
    session = extension.session
    session.source.patience = PATIENT
    if program.script:
        keeper = KeepLocals(shell.user_ns)
        shell.ast_transformers.append(keeper)
        extension.cells.frames = lambda: keeper.kept
    _set_the_scene(program, shell)
    errors, ran = [], 0
    for number, cell in enumerate(program.cells, 1):
        session.sparing = number < len(program.cells)
        result = shell.run_cell(cell, store_history=True)
        ran += result.error_before_exec is None
        error = result.error_before_exec or result.error_in_exec
        left = isinstance(error, SystemExit)
        if error is not None and not (left and error.code in (None, 0)):
            found = _error(result.execution_count, error, _blank_lines(cell))
            errors.append(found | {"line": found["line"] or _line(session, found["cell"])})
        if left:
            break
    return {"findings": list(session.seen.values()), "errors": errors, "ran": ran}


def _line(session, count):
    """The line of the cell that raised, as the watcher saw it; None when it did not."""
    failures = [one for one in session.source.failures if one.cell == count]
    chain = failures[-1].chain if failures else ()
    return next((place.line for place in chain if place.cell == count), None)


def _blank_lines(cell):
    """How many lines IPython leaves out at the top of a cell."""
    return cell[: len(cell) - len(cell.lstrip())].count("\n")


def _error(count, error, left_out):
    said, line = str(error), None
    if isinstance(error, SyntaxError) and error.lineno is not None:
        line = error.lineno + left_out
        said = text("cli.check.syntax", said=error.msg, line=line)
    return {"cell": count, "type": type(error).__name__, "message": said, "line": line}


def _shell(folder):
    """A shell that keeps no history, reads no configuration and opens no window."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    config.InteractiveShell.xmode = "Plain"
    shell = InteractiveShell.instance(config=config, ipython_dir=folder)
    shell.enable_gui = lambda gui=None: None
    _leave_quietly(shell)
    return shell


def _leave_quietly(shell):
    """``sys.exit`` says what Python says: nothing, or the text it was given."""
    show = shell.showtraceback

    def show_error(*arguments, **options):
        error = sys.exception()
        if not isinstance(error, SystemExit):
            show(*arguments, **options)
        elif isinstance(error.code, str):
            print(error.code, file=sys.stderr)

    shell.showtraceback = show_error
    warnings.filterwarnings("ignore", "To exit: use", UserWarning)


def _set_the_scene(program, shell):
    """Folder, path and arguments as the program expects them."""
    folder = program.file.parent
    if program.file.suffix == ".ipynb":
        os.chdir(folder)
    sys.path.insert(0, str(folder))
    sys.argv = [str(program.file)]
    shell.user_ns["__file__"] = str(program.file)


if __name__ == "__main__":
    main(sys.argv[1:])
