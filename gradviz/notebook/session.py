"""One shell, watched: joins the engine's source, the recorder, the doctor and the open views."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from gradviz.doctor import Choice, examine
from gradviz.export.words import finding_key
from gradviz.sources.engine import EngineSource
from gradviz.watch.recorder import Recorder

from .follow import Follower
from .ticker import Ticker

log = logging.getLogger("gradviz")

PERIOD = 0.05
DRAIN_SECONDS = 0.0015
VIEWS = 12
ALWAYS = 100
GROWTH = 1.05


class Session:
    """Follows cells from ``begin`` to ``end``; ``cell_of(filename)`` gives an execution count.

    ``seen`` has every finding so far by its key, the newest of each; leaks only while they last.
    ``sparing``: after a hundred cells look only now and then, so that a long program takes time in
    proportion to its cells; an error is always looked at. ``choice``: which findings are told.
    ``after_cell``: what to call when a cell was looked at; what returns False is dropped.
    """

    def __init__(self, cell_of: Callable[[str], int | None]):
        self.recorder = Recorder()
        self.source = EngineSource(self.recorder, cell_of)
        self.views: dict = {}
        self.seen: dict = {}
        self.after_cell: set = set()
        self.running = self.watching = self.sparing = False
        self.choice = Choice()
        self._next_look = ALWAYS
        self.ticker = Ticker(self._tick, PERIOD)
        self._lock = threading.RLock()

    def watch(self):
        """Attach to the engine. Raises RuntimeError when somebody else watches it."""
        if not self.watching:
            self.source.attach()
            self.watching = True

    def rest(self):
        """Stop watching and close every view."""
        self.ticker.stop()
        for view in list(self.views):
            self.remove(view)
        if self.watching:
            self.source.detach()
            self.watching = False

    def follower(self, tensor, roots) -> Follower:
        """A follower of ``tensor``'s graph, names from ``roots``; on the main thread."""
        with self._lock:
            made = Follower(tensor, self.source, self.recorder)
            self._look([made], roots)
        return made

    def add(self, view, follower: Follower | None = None):
        """Keep ``view`` up to date, at once when a cell is running.

        Only the newest views are: older ones, often of a cell that was run again, stay as they are.
        """
        open_ones = {v: f for v, f in self.views.items() if not v.closed}
        inline = [v for v in open_ones if v.placement == "inline"]
        for old in inline[: max(0, len(inline) + 1 - VIEWS)]:
            del open_ones[old]
        self.views = open_ones | {view: follower}
        self.source.want_norms = True
        if self.running:
            self.ticker.start()

    def remove(self, view):
        """Close ``view``."""
        self.views.pop(view, None)
        self.source.want_norms = bool(self.views)
        view.close()

    def begin(self, count: int, cell_id: str | None, text: str):
        """A cell starts."""
        if not self.watching:
            return
        self.recorder.begin_cell(count, cell_id, text)
        self.running = True
        self.source.begin()
        if self.views:
            self.ticker.start()

    def end(self, roots, error: BaseException | None) -> list:
        """The cell is over: the findings as they are now."""
        if not self.watching:
            return []
        self.source.end()
        self.ticker.stop()
        self.running = False
        if not self._is_due(error):
            return self._pass_over()
        with self._lock:
            findings = self._settle(roots, error)
        stays = {key: one for key, one in self.seen.items() if not one.kind.startswith("leak.")}
        self.seen = stays | {finding_key(finding): finding for finding in findings}
        self._push(last=True)
        self.after_cell = {call for call in self.after_cell if call()}
        return findings

    def _is_due(self, error):
        """Whether to look at what the cell left, or leave it to one of the next."""
        count = len(self.recorder.trace.cells)
        if self.sparing and error is None and count < self._next_look and count > ALWAYS:
            return False
        self._next_look = count * GROWTH
        return True

    def _pass_over(self):
        with self._lock:
            self.source.drain(float("inf"))
            self.recorder.end_cell()
        return list(self.recorder.trace.findings)

    def _settle(self, roots, error):
        self.source.drain(float("inf"))
        found = self.source.settle(roots, error)
        self.recorder.end_cell(f"{type(error).__name__}: {error}" if error else "")
        findings = examine(self.recorder, self.source, roots, self.choice, found)
        self.recorder.set_findings(findings)
        self._look(self._followers(), roots)
        return findings

    def _look(self, followers, roots):
        """Let each follower read its tensor's graph with the names of now."""
        if not followers:
            return
        self.source.look(roots)
        try:
            for follower in followers:
                follower.look()
                follower.follow()
        finally:
            self.source.release()

    def _followers(self):
        return [follower for follower in self.views.values() if follower is not None]

    def _tick(self):
        try:
            with self._lock:
                self.source.drain(DRAIN_SECONDS)
                for follower in self._followers():
                    follower.follow()
            self._push(last=False)
        except Exception:
            log.debug("a tick of the view failed", exc_info=True)

    def _push(self, last):
        for view in list(self.views):
            view.push(last)
