"""``gradviz.Findings``: what the doctor says, and what it said before."""

from __future__ import annotations

from gradviz.export import words
from gradviz.watch.plain import plain

from .live import LivePanel, session_of

REMEMBERED = 200


class Findings(LivePanel):
    """Findings by kind, heaviest first, with a history of when each came and went.

    ``data``: what ``to_json`` gave; without it the notebook's findings, read anew after each cell.
    ``selected``: the name that the chosen finding is about.
    """

    kind = "findings"

    def __init__(self, data=None, **settings):
        self._history: dict = {}
        super().__init__(data, **settings)

    def read(self):
        """The findings of now and the history."""
        session = session_of()
        trace = session.recorder.trace if session else None
        findings = list(trace.findings) if trace else []
        self._remember(findings, trace.cell if trace else None)
        return {"findings": findings, "history": list(self._history.values())[-REMEMBERED:]}

    def _remember(self, findings, cell):
        now = {words.finding_key(finding): finding for finding in findings}
        for key, finding in now.items():
            told = {"rule": finding.rule, "message": plain(finding.message), "came": cell}
            entry = self._history.setdefault(key, told)
            entry |= {"bytes": finding.bytes, "went": None}
        for key, entry in self._history.items():
            if key not in now and entry["went"] is None:
                entry["went"] = cell

    def lines(self):
        """Each finding in a line."""
        lang = words.language()
        return [
            f"{one['rule']} {one['message'].get(lang) or one['message'].get('en', '')}"
            for one in self._values.get("findings", [])
        ]
