"""Findings as SARIF 2.1.0, the format that code hosts and editors read."""

from __future__ import annotations

from dataclasses import dataclass

from gradviz.texts import text
from gradviz.watch.model import Finding
from gradviz.watch.plain import plain

from . import words

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}


@dataclass(frozen=True)
class Located:
    """A finding or an error, and where it is: ``uri`` of the file, ``line`` in it, ``cell`` in
    words for notebooks.
    """

    uri: str
    line: int
    rule: str
    level: str
    message: str
    cell: str = ""


def located(finding: Finding, uri: str, line: int, cell: str = "") -> Located:
    """A finding with its place; the message says what to write instead, too."""
    said = f"{words.message(finding)} {words.fix(finding)}".strip()
    return Located(uri, line, finding.rule, LEVELS[finding.severity], said, cell)


def sarif(found: list[Located], version: str) -> dict:
    """One run with its results and the rules that they name."""
    named = sorted({one.rule for one in found})
    driver = {"name": "gradviz", "version": version, "rules": [_rule(name) for name in named]}
    results = [_result(one, named.index(one.rule)) for one in found]
    return plain(
        {
            "$schema": SCHEMA,
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "results": results}],
        }
    )


def _rule(name):
    if not name.startswith("GV"):
        return {"id": name, "shortDescription": {"text": name}}
    return {
        "id": name,
        "shortDescription": {"text": text(f"findings.{name}.title")},
        "fullDescription": {"text": text(f"findings.{name}.when")},
        "help": {"text": text(f"findings.{name}.why")},
    }


def _result(one, index):
    place = {
        "physicalLocation": {
            "artifactLocation": {"uri": one.uri},
            "region": {"startLine": max(one.line, 1)},
        }
    }
    if one.cell:
        place["logicalLocations"] = [{"name": one.cell, "kind": "module"}]
    return {
        "ruleId": one.rule,
        "ruleIndex": index,
        "level": one.level,
        "message": {"text": one.message},
        "locations": [place],
    }


def annotation(one: Located) -> str:
    """A workflow command that GitHub shows at the line: ``::warning file=…,line=…::…``."""
    level = "notice" if one.level == "note" else one.level
    fields = {"file": one.uri, "line": str(max(one.line, 1)), "title": one.rule}
    said = ",".join(f"{key}={_property(value)}" for key, value in fields.items())
    where = f"{one.cell}: " if one.cell else ""
    return f"::{level} {said}::{_data(where + one.message)}"


def _data(said):
    """Text of a workflow command: line ends and percent signs are escaped."""
    return said.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(said):
    return _data(said).replace(":", "%3A").replace(",", "%2C")
