"""One shell, watched: joins the engine's source, the recorder, the doctor and the open views."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from gradviz.doctor import examine
from gradviz.export.words import finding_key
from gradviz.sources.engine import EngineSource
from gradviz.watch.recorder import Recorder

from .ticker import Ticker

log = logging.getLogger("gradviz")

PERIOD = 0.05
DRAIN_SECONDS = 0.006


class Session:
    """Follows cells from ``begin`` to ``end``; ``cell_of(filename)`` gives an execution count."""

    def __init__(self, cell_of: Callable[[str], int | None]):
        self.recorder = Recorder()
        self.source = EngineSource(self.recorder, cell_of)
        self.views: list = []
        self.seen: dict = {}
        self.running = False
        self.ticker = Ticker(self._tick, PERIOD)
        self._settling = threading.Lock()
        self.watching = False

    def watch(self):
        """Attach to the engine. Raises RuntimeError when somebody else watches it."""
        if not self.watching:
            self.source.attach()
            self.watching = True

    def rest(self):
        """Stop watching and close every view."""
        self.ticker.stop()
        for view in self.views[:]:
            self.remove(view)
        if self.watching:
            self.source.detach()
            self.watching = False

    def add(self, view):
        """Show the graph in ``view`` too, at once when a cell is running."""
        self.views = [v for v in self.views if not v.closed] + [view]
        if self.running:
            self.ticker.start()

    def remove(self, view):
        """Close ``view``."""
        if view in self.views:
            self.views.remove(view)
        view.close()

    def begin(self, count: int, cell_id: str | None, text: str):
        """A cell starts."""
        if not self.watching:
            return
        self.recorder.begin_cell(count, cell_id, text)
        self.running = True
        if self.views:
            self.ticker.start()

    def end(self, roots, error: BaseException | None) -> list:
        """The cell is over: the findings as they are now."""
        if not self.watching:
            return []
        self.ticker.stop()
        self.running = False
        self.refresh(roots, error)
        self.recorder.end_cell(f"{type(error).__name__}: {error}" if error else "")
        findings = examine(self.recorder, self.source, roots)
        self.recorder.set_findings(findings)
        self.seen |= {finding_key(finding): finding for finding in findings}
        self._push(last=True)
        return findings

    def enter(self, tensor) -> int | None:
        """The id of ``tensor``'s node, with everything it was computed from in the recorder."""
        return None if tensor is None else self.source.enter(tensor)

    def refresh(self, roots, error: BaseException | None = None):
        """Bring names, values and gradients up to date; on the main thread only."""
        with self._settling:
            self.source.drain(float("inf"))
            self.source.settle(roots, error)

    def _tick(self):
        try:
            with self._settling:
                self.source.drain(DRAIN_SECONDS)
            self._push(last=False)
        except Exception:
            log.debug("a tick of the view failed", exc_info=True)

    def _push(self, last):
        for view in self.views[:]:
            view.push(last)
