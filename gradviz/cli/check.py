"""``gradviz check FILE…``: run programs headless and print what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from gradviz.export import words
from gradviz.texts import language, text
from gradviz.watch.model import Finding

from .arguments import help_of
from .program import CannotRun, Program, read

NOTHING, SOMETHING, COULD_NOT = 0, 1, 2


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument(
        "files", nargs="+", type=Path, help=help_of("cli.check.files"), metavar="FILE"
    )
    parser.add_argument(
        "--format", choices=("text", "json"), default="text", help=help_of("cli.check.format")
    )


def command(options) -> int:
    """Run each file in its own process; 0 nothing found, 1 something found, 2 could not run."""
    status, reports = NOTHING, []
    for file in options.files:
        try:
            program = read(file)
            report = run(program)
        except CannotRun as reason:
            print(reason, file=sys.stderr)
            reports.append((file, {"findings": [], "errors": [reason.error]}))
            status = COULD_NOT
            continue
        reports.append((file, report))
        if options.format == "text":
            print(in_words(program, report))
        if words.serious(report["findings"]) or report["errors"]:
            status = max(status, SOMETHING)
    if options.format == "json":
        print(json.dumps(in_json(reports), ensure_ascii=False))
    return status


def run(program: Program) -> dict:
    """``findings`` and ``errors`` of one program. Raises :class:`CannotRun`."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        ended = subprocess.run(
            [sys.executable, "-m", "gradviz.cli.headless", str(program.file), str(result)],
            stdin=subprocess.DEVNULL,
            stdout=sys.__stderr__,
            env=os.environ | {"GRADVIZ_LANG": language(), "MPLBACKEND": "agg"},
            check=False,
        )
        if not result.is_file():
            reason = f"exit status {ended.returncode}"
            said = text("cli.check.crashed", file=program.file, reason=reason)
            raise CannotRun(said, RuntimeError.__name__)
        report = json.loads(result.read_text(encoding="utf-8"))
    if not report["ran"]:
        raise _not_started(program, report["errors"][0])
    report["findings"] = [Finding(**finding) for finding in report["findings"]]
    return report


def _not_started(program, error):
    """Not one cell could be compiled: the first error, for the one line."""
    said = text("cli.check.not_started", file=program.file, **error)
    return CannotRun(" ".join(said.split()), error=error)


def in_json(reports) -> dict:
    """One object for all files; a finding names its file when there are several."""
    findings, errors = [], []
    for file, report in reports:
        where = {"file": str(file)} if len(reports) > 1 else {}
        findings += [where | finding_json(finding) for finding in report["findings"]]
        errors += [where | error for error in report["errors"]]
    return {"findings": findings, "errors": errors}


def finding_json(finding) -> dict:
    """A finding with its texts in the language in use."""
    return {
        "rule": finding.rule,
        "kind": finding.kind,
        "severity": finding.severity,
        "holders": finding.holders,
        "cell": finding.cell,
        "line": finding.line,
        "nodes": finding.nodes,
        "bytes": finding.bytes,
        "message": words.message(finding),
        "fix": words.fix(finding),
    }


def in_words(program: Program, report) -> str:
    """What was found in one file, for a person."""
    serious = words.serious(report["findings"])
    lines = [_headline(program, len(serious) + len(report["errors"]))]
    for finding in serious:
        lines += ["", words.paragraph(finding, _place(program, finding.cell, finding.line))]
    for error in report["errors"]:
        place = program.file.name if program.script else text("cli.check.cell", cell=error["cell"])
        said = error["message"].splitlines()[0] if error["message"] else ""
        lines += ["", "  " + text("cli.check.error", place=place, type=error["type"], message=said)]
    return "\n".join(lines)


def _headline(program, count):
    if not count:
        return text("cli.check.clean", file=program.file)
    key = "cli.check.found.one" if count == 1 else "cli.check.found.many"
    fields = {} if count == 1 else {"count": count}
    return text(key, file=program.file, **fields)


def _place(program, cell, line):
    if program.script:
        return words.place(None, line, program.file.name)
    return words.place(cell, line)
