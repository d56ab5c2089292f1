"""``gradviz check FILE…``: run programs headless and print what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import gradviz
from gradviz.doctor import Choice
from gradviz.doctor.choice import is_known
from gradviz.export import words
from gradviz.export.sarif import Located, annotation, located, sarif
from gradviz.texts import language, text
from gradviz.watch.model import Finding

from .arguments import help_of
from .program import CannotRun, Program, read

NOTHING, SOMETHING, COULD_NOT = 0, 1, 2
ERROR = ("cell", "type", "message")
SOURCES = ("engine", "torch")


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument(
        "files", nargs="+", type=Path, help=help_of("cli.check.files"), metavar="FILE"
    )
    parser.add_argument(
        "--format", choices=tuple(FORMATS), default="text", help=help_of("cli.check.format")
    )
    parser.add_argument(
        "--source", choices=SOURCES, default=SOURCES[0], help=help_of("cli.check.source")
    )
    for name in ("select", "ignore"):
        parser.add_argument(
            f"--{name}",
            action="append",
            default=[],
            metavar="RULES",
            help=help_of(f"cli.check.{name}"),
        )


def command(options) -> int:
    """Run each file in its own process; 0 nothing found, 1 something found, 2 could not run."""
    status, reports = NOTHING, []
    choice = Choice(_rules(options.select), _rules(options.ignore))
    unknown = [word for word in (*choice.select, *choice.ignore) if not is_known(word)]
    if unknown:
        said = text("cli.check.no_rule", name=", ".join(unknown))
        print(text("cli.cannot", command="check", said=said), file=sys.stderr)
        return COULD_NOT
    for file in options.files:
        try:
            program = read(file)
            report = run(program, options.source)
        except CannotRun as reason:
            print(text("cli.cannot", command="check", said=reason), file=sys.stderr)
            report = {"findings": [], "errors": [reason.error]}
            reports.append((Program(file, []), report))
            status = COULD_NOT
            continue
        report["findings"] = [one for one in report["findings"] if choice.wants(one)]
        reports.append((program, report))
        if options.format == "text":
            print(in_words(program, report))
        if words.serious(report["findings"]) or report["errors"]:
            status = max(status, SOMETHING)
    if options.format != "text":
        print(FORMATS[options.format](reports))
    return status


def _rules(asked):
    """``["GV1,leak", "GV203"]`` as single names."""
    return tuple(word for part in asked for word in part.replace(",", " ").split())


def run(program: Program, source: str = SOURCES[0]) -> dict:
    """``findings`` and ``errors`` of one program; ``source``: whether ``import torch`` means our
    engine or PyTorch. Raises :class:`CannotRun`.
    """
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        ended = subprocess.run(
            [sys.executable, "-m", "gradviz.cli.headless", str(program.file), str(result), source],
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


def in_json(reports) -> str:
    """One object for all files; a finding names its file when there are several."""
    findings, errors = [], []
    for program, report in reports:
        where = {"file": str(program.file)} if len(reports) > 1 else {}
        findings += [where | finding_json(finding) for finding in report["findings"]]
        told = [{key: error[key] for key in ERROR} for error in report["errors"]]
        errors += [where | error for error in told]
    return json.dumps({"findings": findings, "errors": errors}, ensure_ascii=False)


def in_sarif(reports) -> str:
    """SARIF 2.1.0 for all files."""
    return json.dumps(sarif(_located(reports), gradviz.__version__), ensure_ascii=False, indent=1)


def in_annotations(reports) -> str:
    """One workflow command of GitHub a finding."""
    return "\n".join(annotation(one) for one in _located(reports))


FORMATS: dict[str, Callable[[list], str]] = {
    "text": str,
    "json": in_json,
    "sarif": in_sarif,
    "github": in_annotations,
}


def _located(reports) -> list[Located]:
    """Every finding and error with its line in the file."""
    out = []
    for program, report in reports:
        uri = _uri(str(program.file))
        for finding in report["findings"]:
            if finding.file:
                out.append(located(finding, _uri(finding.file), finding.line))
                continue
            line = program.line_in_file(finding.cell, finding.line)
            cell = "" if program.script else words.place(finding.cell, finding.line)
            out.append(located(finding, uri, line, cell))
        for error in report["errors"]:
            line = program.line_in_file(error["cell"], error.get("line"))
            cell = text("cli.check.cell", cell=error["cell"]) if error["cell"] else ""
            where = "" if program.script else cell
            out.append(Located(uri, line, error["type"], "error", error["message"], where))
    return out


def _uri(file):
    return words.near(file).replace(os.sep, "/")


def finding_json(finding) -> dict:
    """A finding with its texts in the language in use; ``module``: the file of its line, when that
    is in none of the program's cells.
    """
    return {
        "rule": finding.rule,
        "kind": finding.kind,
        "severity": finding.severity,
        "holders": finding.holders,
        "cell": finding.cell,
        "line": finding.line,
        "nodes": finding.nodes,
        "bytes": finding.bytes,
        "count": finding.count,
        "message": words.message(finding),
        "fix": words.fix(finding),
    } | ({"module": finding.file} if finding.file else {})


def in_words(program: Program, report) -> str:
    """What was found in one file, for a person; remarks, a line each, at the end."""
    serious = words.serious(report["findings"])
    lines = [_headline(program, len(serious) + len(report["errors"]))]
    for finding in serious:
        lines += ["", words.paragraph(finding, _place(program, finding))]
    for error in report["errors"]:
        place = program.file.name if program.script else text("cli.check.cell", cell=error["cell"])
        said = error["message"].splitlines()[0] if error["message"] else ""
        lines += ["", "  " + text("cli.check.error", place=place, type=error["type"], message=said)]
    remarks = [one for one in report["findings"] if one not in serious]
    lines += ["", "  " + text("cli.check.remarks")] if remarks else []
    for one in remarks:
        lines.append(f"  {one.rule}  {words.message(one)}  [{_place(program, one)}]")
    return "\n".join(lines)


def _headline(program, count):
    if not count:
        return text("cli.check.clean", file=program.file)
    key = "cli.check.found.one" if count == 1 else "cli.check.found.many"
    fields = {} if count == 1 else {"count": count}
    return text(key, file=program.file, **fields)


def _place(program, finding):
    if program.script and not finding.file:
        return words.place(None, finding.line, program.file.name)
    return words.place(finding.cell, finding.line, finding.file)
