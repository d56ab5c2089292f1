"""Panels: widgets that show one plain value, live or saved."""

from __future__ import annotations

import html
import threading

import traitlets

from gradviz.texts import text
from gradviz.watch.model import SCHEMA
from gradviz.watch.plain import dumps, plain

from .base import View

LINES = 40


class Panel(View):
    """Shows ``data`` (JSON text), which ``put`` sets; ``selected`` is the name of what a person
    chose, and can be linked with that of another widget.

    A subclass names its page part in ``kind`` and may answer what the page asks in ``asked``.
    ``busy()`` says that a cell is running: what would run code is put off then.
    """

    kind = ""
    data = traitlets.Unicode("", read_only=True).tag(sync=True)
    selected = traitlets.Unicode("").tag(sync=True)

    def __init__(self, data=None, busy=lambda: False, **settings):
        self._values: dict = {}
        self._busy = busy
        super().__init__(**{"height": 320} | settings)
        self.set_trait("panel", self.kind)
        if data is not None:
            self.load(data)

    def put(self, values: dict):
        """Show ``values``: dataclasses, dicts, lists, numbers, text."""
        self._values = {"schema": SCHEMA, "panel": self.kind} | plain(values)
        self.set_trait("data", dumps(self._values))

    def load(self, data: dict):
        """Show what ``to_json`` gave. Raises ValueError for anything else."""
        if data.get("schema") != SCHEMA or data.get("panel") != self.kind:
            raise ValueError(text("notebook.panel.bad_data", kind=self.kind, schema=SCHEMA))
        self.put({key: data[key] for key in data if key not in ("schema", "panel")})

    def to_json(self) -> dict:
        """What is shown, as JSON values; the class takes it back as its first argument."""
        return self._values

    def lines(self) -> list[str]:
        """What is shown as lines of text, for where widgets do not run."""
        return []

    def still(self):
        """The lines, as text and as HTML."""
        self.to_json()
        said = "\n".join(self.lines()[:LINES]) or f"gradviz: {self.kind}"
        return {"text/plain": said, "text/html": f"<pre>{html.escape(said)}</pre>"}

    def asked(self, content: dict):
        """The page asks for something; a subclass answers."""

    def on_ask_message(self, content):
        """What the page asks for, unless a cell is running."""
        if threading.current_thread() is not threading.main_thread() and self._busy():
            self.send({"t": "busy"})
            return
        self.asked(content)
