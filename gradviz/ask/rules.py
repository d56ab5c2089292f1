"""``rules()``: what the doctor knows."""

from __future__ import annotations

from gradviz.doctor import all_rules
from gradviz.texts import text

from .answer import Answer, table


def rules() -> Answer:
    """Every rule: identifier, kind, severity, title."""
    rows = [
        {
            "rule": rule.identifier,
            "kind": rule.kind,
            "severity": text(f"ask.severity.{rule.severity}"),
            "title": text(f"findings.{rule.identifier}.title"),
        }
        for rule in all_rules()
    ]
    return Answer(text("ask.rules", count=len(rows)) + "\n" + table(rows), rows)
