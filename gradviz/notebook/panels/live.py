"""Panels that follow the notebook: after each cell they read their source anew."""

from __future__ import annotations

import logging
import time
import weakref

from gradviz.notebook.display import settings_of, shell_of
from gradviz.notebook.displayed import Displayed
from gradviz.notebook.extension import current, load
from gradviz.notebook.views import front_end
from gradviz.widgets.panel import Panel

PERIOD = 0.1
log = logging.getLogger("gradviz")


def session_of():
    """The session of the shell that runs us, begun when there is none; None without a shell."""
    shell = shell_of()
    if shell is None:
        return None
    extension = current(shell)
    if extension is None and front_end(shell):
        extension = load(shell)
    return extension.session if extension else None


def busy() -> bool:
    """Whether a cell is running."""
    shell = shell_of()
    extension = current(shell) if shell else None
    return extension is not None and extension.session.running


class LivePanel(Displayed, Panel):
    """A panel with a source, which ``read`` reads; without one it shows saved ``data``.

    While a cell runs it is shown anew ten times a second at most; when the cell has ended, once
    more.
    """

    def __init__(self, data=None, live=True, **settings):
        self._shown_at, self._stale = 0.0, False
        super().__init__(data, busy, **settings_of(settings))
        self.live = live and data is None
        if self.live:
            self.refresh()
            session = session_of()
            if session is not None:
                session.after_cell.add(Refresh(self))

    def read(self) -> dict:
        """The values to show, from the source."""
        return {}

    def refresh(self):
        """Read the source and show what it says."""
        if self.live and not self.closed:
            self._shown_at, self._stale = time.monotonic(), False
            self.put(self.read())

    def touch(self):
        """The source has changed; show it, unless that was done a moment ago."""
        self._stale = True
        if time.monotonic() - self._shown_at > PERIOD:
            self.refresh()

    def to_json(self):
        """What is shown, up to date."""
        if self._stale:
            self.refresh()
        return super().to_json()


class Refresh:
    """Refreshes a panel, which it does not keep alive; tells by False that it is gone."""

    def __init__(self, panel):
        self._panel = weakref.ref(panel)

    def __call__(self) -> bool:
        panel = self._panel()
        if panel is None or panel.closed:
            return False
        try:
            panel.refresh()
        except Exception:
            log.debug("a panel could not be refreshed", exc_info=True)
        return True
