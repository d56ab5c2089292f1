"""What every gradviz widget shares: the bundle as text, settings, replies while a cell runs."""

from __future__ import annotations

import json
import os
import weakref
from functools import cache
from importlib.resources import files

import anywidget
import traitlets

from gradviz.texts import follow_page, text

MISSING = "export default {{ render({{ el }}) {{ el.textContent = {said}; }} }};"


@cache
def script():
    """The view's ES module: its text, because a watched file would keep every widget alive.

    With ``ANYWIDGET_HMR=1`` (development) the path, so that the browser reloads it on change.
    """
    file = files("gradviz") / "static" / "widget.js"
    if not file.is_file():
        return MISSING.format(said=json.dumps(text("notebook.not_built")))
    return str(file) if os.environ.get("ANYWIDGET_HMR") == "1" else file.read_text(encoding="utf-8")


SHARE = {"flex": "1 1 300px", "min_width": "0"}  # of a row that it shares with others
_open: weakref.WeakSet = weakref.WeakSet()


def open_views() -> list[View]:
    """Every widget of ours that is open, in this process."""
    return [view for view in _open if not view.closed]


class View(anywidget.AnyWidget):
    """A widget with the traits of docs/protocol.md; a message ``t`` goes to ``on_<t>_message``."""

    _esm = script()
    language = traitlets.Enum(("auto", "en", "zh"), "auto").tag(sync=True)
    theme = traitlets.Enum(("auto", "light", "dark"), "auto").tag(sync=True)
    placement = traitlets.Enum(("inline", "dock", "page"), "inline").tag(sync=True)
    height = traitlets.Int(420).tag(sync=True)
    bundle = traitlets.Unicode("").tag(sync=True)
    panel = traitlets.Unicode("graph", read_only=True).tag(sync=True)

    def __init__(self, **settings):
        super().__init__(**{"layout": dict(SHARE)} | settings)
        _open.add(self)
        self.on_msg(self._receive)
        self._answer_on_the_asking_shell()

    def still(self) -> dict:
        """What stands for the widget where widgets do not run, by MIME type."""
        return {}

    def _repr_mimebundle_(self, **options):
        found = super()._repr_mimebundle_(**options)
        data = found[0] if isinstance(found, tuple) else found
        return (data or {}) | self.still()

    def _answer_on_the_asking_shell(self):
        """Let ipykernel 7.4 hear the page while a cell runs.

        It would route an answer to the shell that published last, which is the busy one; here the
        shell that the page asked for is kept. Without this, messages wait for the cell to end.
        """
        comm = self.comm
        if comm is not None and hasattr(comm, "_reply_subshell_for"):
            comm._reply_subshell_for = lambda data, default: default

    def _receive(self, widget, content, buffers):
        kind = content.get("t") if isinstance(content, dict) else None
        handler = getattr(self, f"on_{kind}_message", None) if isinstance(kind, str) else None
        if handler is None:
            return
        follow_page(content.get("language"))
        try:
            handler(content)
        except (KeyError, TypeError, ValueError) as error:
            self.log.warning("gradviz: a message of the page was not understood: %r", error)

    def on_ping_message(self, content):
        """Say that Python hears."""
        self.send({"t": "pong", "n": int(content.get("n", 0))})

    def on_language_message(self, content):
        """The person chose a language in the page."""
        self.language = content["language"]

    @property
    def closed(self) -> bool:
        """True once the channel to the page is gone."""
        return self.comm is None
