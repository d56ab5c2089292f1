"""``leaks()``: everything that is kept and should not be, now."""

from __future__ import annotations

from gradviz.doctor import Choice, look
from gradviz.export import words
from gradviz.texts import text
from gradviz.watch.model import Finding

from .answer import Answer
from .moment import Moment, asking, now


class Findings(Answer):
    """``findings``: the model's :class:`~gradviz.watch.model.Finding` objects, worst first."""

    def __init__(self, findings: list[Finding], moment: Moment, none: str):
        said = [words.paragraph(finding, moment.where(finding)) for finding in findings]
        super().__init__("\n".join(said) or text(none), [_row(f, moment) for f in findings])
        self.findings = findings

    def __bool__(self):
        return bool(self.findings)

    def _head(self):
        """Nothing that the rows tell."""
        return "" if self.rows else super()._head()


def leaks(everything: bool = False) -> Findings:
    """What keeps graphs alive that nobody needs, with the holder, the line and what to write.

    ``everything``: remarks too, not only warnings and errors. True when there is a leak.
    """
    return leaks_at(now(asking()), everything)


def leaks_at(moment: Moment, everything: bool = False) -> Findings:
    """The leaks at a moment; for callers that know it."""
    found = look(moment.source.case(moment.roots), Choice(select=("leak",)))
    found = [finding for finding in found if moment.choice.wants(finding)]
    found = found if everything else words.serious(found)
    return Findings(found, moment, "ask.leaks.none" if moment.watched else "ask.leaks.unwatched")


def _row(finding, moment):
    return {
        "rule": finding.rule,
        "severity": text(f"ask.severity.{finding.severity}"),
        "message": words.message(finding),
        "place": moment.where(finding),
        "holders": words.held_by(finding),
        "nodes": finding.nodes,
        "bytes": finding.bytes,
        "fix": words.fix(finding),
    }
