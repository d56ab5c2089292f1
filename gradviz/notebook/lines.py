"""The one line under a cell that names what it left behind; it goes when the leak goes."""

from __future__ import annotations

import html
import re
import uuid

from gradviz.export import words
from gradviz.export.words import finding_key
from gradviz.texts import text

CODE = re.compile(r"`([^`]+)`")
STYLE = (
    "border-left:3px solid #c026d3;padding:2px 8px;font-size:13px;"
    "font-family:var(--jp-ui-font-family,system-ui,sans-serif)"
)


class Lines:
    """Says new findings under the cell that just ended with ``publish(data, display_id, update)``.

    Without ``publish`` (a terminal) the line is printed and cannot be taken back; ``silent`` says
    nothing. ``draw(finding)`` gives a MIME bundle with the graph in which an error arose, or None:
    it stands below the line, and both below the traceback.
    """

    def __init__(self, publish=None, silent=False, draw=None):
        self._publish, self.silent, self._draw = publish, silent, draw
        self._shown: dict[str, set] = {}

    def show(self, findings):
        """Say what is new, and take back the lines whose findings are all gone."""
        serious = words.serious(findings)
        now = {finding_key(finding) for finding in serious}
        known = set().union(*self._shown.values())
        self._take_back(now)
        fresh = [finding for finding in serious if finding_key(finding) not in known]
        if fresh and not self.silent:
            self._say(fresh)

    def _say(self, fresh):
        display_id = uuid.uuid4().hex
        self._shown[display_id] = {finding_key(finding) for finding in fresh}
        fresh = sorted(fresh, key=lambda finding: not is_error(finding))
        if self._publish is None:
            print(line_text(fresh))
            return
        data = bundle(fresh)
        drawn = self._draw(fresh[0]) if self._draw is not None and is_error(fresh[0]) else None
        for kind, shown in (drawn or {}).items():
            data[kind] += f"\n{shown}"
        self._publish(data, display_id, update=False)

    def _take_back(self, now):
        for display_id, keys in list(self._shown.items()):
            if not keys & now:
                del self._shown[display_id]
                if self._publish is not None:
                    self._publish({"text/plain": "", "text/html": ""}, display_id, update=True)


def is_error(finding) -> bool:
    """Whether it explains the error that ended a cell."""
    return finding.rule.startswith("GV5")


def bundle(findings) -> dict[str, str]:
    """The line as plain text and as HTML in which nothing of the person's is markup."""
    said = line_text(findings)
    marked = CODE.sub(r"<code>\1</code>", html.escape(said))
    rule = html.escape(findings[0].rule)
    marked = marked.replace(rule, f"<b>{rule}</b>", 1)
    return {
        "text/plain": said.replace("`", ""),
        "text/html": f'<div style="{STYLE}">{marked}</div>',
    }


def line_text(findings) -> str:
    """One line for one or more findings: the first in full, the others counted."""
    first, others = findings[0], len(findings) - 1
    fields = {"rule": first.rule, "message": words.message(first), "fix": words.fix(first)}
    if first.line is None:
        said = text("notebook.line_nowhere", **fields)
    else:
        place = words.place(first.cell, first.line, first.file)
        said = text("notebook.line", place=place, **fields)
    if others:
        key = "notebook.more.one" if others == 1 else "notebook.more.many"
        said += f" ({text(key) if others == 1 else text(key, count=others)})"
    return " ".join(said.split())
