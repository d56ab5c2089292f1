"""Run every rule over the evidence after a cell."""

from __future__ import annotations

import importlib
import logging
import pkgutil
from functools import cache

from gradviz.watch.case import Case
from gradviz.watch.holders import Found
from gradviz.watch.model import Finding

from . import rules
from .choice import Choice, silenced
from .finding import HOLDERS, Rule

log = logging.getLogger("gradviz")

EVERYTHING = Choice()
ORDER = {"error": 0, "warning": 1, "info": 2}


@cache
def all_rules() -> tuple[Rule, ...]:
    """Every rule, by identifier."""
    found = []
    for module in pkgutil.walk_packages(rules.__path__, rules.__name__ + "."):
        rule = getattr(importlib.import_module(module.name), "RULE", None)
        if rule is not None:
            found.append(rule)
    return tuple(sorted(found, key=lambda rule: rule.identifier))


def examine(
    recorder, source, roots, choice: Choice = EVERYTHING, found: Found | None = None
) -> list[Finding]:
    """What is wrong now, worst first; also written into the trace, with a mark on each node it
    names.

    ``source`` gives the evidence (``source.case(roots, found)``).
    """
    findings = look(source.case(roots, found), choice)
    recorder.set_findings(findings)
    mark(recorder, findings)
    return findings


def look(case: Case, choice: Choice = EVERYTHING) -> list[Finding]:
    """What ``choice`` wants to know of what is wrong, worst first. A rule that fails is logged and
    says nothing; a line that says ``# gradviz: ignore`` is not talked about.
    """
    findings: list[Finding] = []
    for rule in all_rules():
        try:
            findings += rule.look(case)
        except Exception:
            log.debug("rule %s failed", rule.identifier, exc_info=True)
    wanted = [f for f in findings if choice.wants(f) and not is_past(f, case)]
    return settle([finding for finding in wanted if not silenced(finding, case.cells)])


def is_past(finding: Finding, case) -> bool:
    """It is about a run of a cell that was run again; but a leak lasts as long as its graph."""
    return finding.cell in case.superseded and not finding.kind.startswith("leak.")


def settle(findings: list[Finding]) -> list[Finding]:
    """Without repetition, worst first. What one rule says about a line is said once, of the worst
    that it found there; the others are named as holders too.
    """
    best: dict[tuple, Finding] = {}
    for finding in sorted(findings, key=lambda f: ORDER[f.severity]):
        nowhere = tuple(finding.holders[:1]) if finding.line is None else ()
        key = finding.rule, finding.cell, finding.file, finding.line, nowhere
        first = best.setdefault(key, finding)
        if first is not finding:
            first.holders = list(dict.fromkeys([*first.holders, *finding.holders]))[:HOLDERS]
            first.node_ids = list(dict.fromkeys([*first.node_ids, *finding.node_ids]))
    return sorted(best.values(), key=lambda f: (ORDER[f.severity], -f.bytes, -f.nodes, f.rule))


def mark(recorder, findings):
    """Name the findings on the nodes of the trace; weigh what leaks keep in the newest cell."""
    named: dict[int, list[str]] = {}
    for finding in findings:
        for id in finding.node_ids:
            named.setdefault(id, []).append(finding.rule)
    with recorder.lock:
        for id, row in recorder.trace.nodes.items():
            wanted = list(dict.fromkeys(named.get(id, ())))
            if row.findings != wanted:
                row.findings = wanted
                recorder.put(row)
        if recorder.trace.cells:
            leaks = [
                f.bytes for f in findings if f.kind.startswith("leak.") and f.severity != "info"
            ]
            recorder.trace.cells[-1].bytes["kept"] = sum(leaks)
