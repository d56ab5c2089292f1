"""The backward player: plays a recording forth and back, and drives a paused sweep where there is
one.
"""

from __future__ import annotations

import math
import threading

import traitlets

from gradviz.watch.plain import dumps, plain
from gradviz.watch.recording import PAUSED, Recording

from .base import View


class PlayerView(View):
    """Shows a ``Recording``; with a ``driver`` (a stepper) it can run on.

    Traits: ``position`` (steps shown as done; setting it plays or rewinds), ``done`` and ``total``
    (steps that ran, steps in all), ``state`` (paused, finished, aborted, failed), ``breakpoints``
    (ids of nodes to pause before), ``break_on_nan``, ``break_norm`` (pause above it; 0: never),
    ``recording`` (JSON).

    ``busy()`` says that a cell is running: what the page asks for then is put off.
    """

    position = traitlets.Int(0).tag(sync=True)
    done = traitlets.Int(0, read_only=True).tag(sync=True)
    total = traitlets.Int(0, read_only=True).tag(sync=True)
    state = traitlets.Unicode(PAUSED, read_only=True).tag(sync=True)
    breakpoints = traitlets.List(traitlets.Int()).tag(sync=True)
    break_on_nan = traitlets.Bool(True).tag(sync=True)
    break_norm = traitlets.Float(0.0).tag(sync=True)
    recording = traitlets.Unicode("", read_only=True).tag(sync=True)
    _driver = None

    def __init__(self, recording: Recording, driver=None, busy=lambda: False, **settings):
        self._told, self._driver, self._busy = recording, driver, busy
        self._running = threading.Lock()
        super().__init__(**{"height": 420} | settings)
        self.set_trait("panel", "player")
        self._tell()
        if driver is None:
            self.position = len(recording.steps)

    # -- what a person's code may do ----------------------------------------------------------
    def step(self, count: int = 1):
        """Run ``count`` nodes, or until the sweep is over. Raises what the sweep raises."""
        self._drive(len(self._told.steps) + count)

    def play(self):
        """Run until a breakpoint or the end. Raises what the sweep raises."""
        self._drive(None)

    def finish(self):
        """Run to the end, past every breakpoint. Raises what the sweep raises."""
        while self.state == PAUSED:
            self._drive(None)

    def abort(self):
        """Leave every gradient as it was before the first step."""
        if self._driver is not None:
            self._driver.abort()
            self.position = 0
            self._tell()

    def to_json(self) -> dict:
        """The recording as JSON values; ``gradviz.BackwardPlayer`` takes it back."""
        return self._told.to_json()

    def close(self):
        """End the widget; a sweep that is paused is aborted."""
        self.abort()
        super().close()

    # -- driving ---------------------------------------------------------------------------
    def _drive(self, to):
        driver = self._driver
        if driver is None or self.state != PAUSED:
            return
        with self._running:
            since = len(self._told.steps)
            driver.stop_at = set(self.breakpoints)
            driver.stop_nan = self.break_on_nan
            driver.stop_norm = self.break_norm or math.inf
            try:
                driver.play(to)
            finally:
                self._tell(since)

    def _tell(self, since=None):
        """Bring the traits up to date; ``since``: only the steps from there on are news."""
        told = self._told
        if since is None or told.state != PAUSED:
            self.set_trait("recording", dumps(told.to_json()))
        else:
            steps = plain(told.steps[since:])
            self.send({"t": "steps", "since": since, "steps": steps})
        self.set_trait("total", len(told.plan))
        self.set_trait("done", len(told.steps))
        self.set_trait("state", told.state)
        if since is not None:
            self.position = len(told.steps)

    @traitlets.observe("position")
    def _moved(self, change):
        """A position beyond what ran runs on; one before it only rewinds the picture."""
        if change["new"] > self.done and self._driver is not None and self.state == PAUSED:
            if not self._is_put_off():
                self._drive(change["new"])

    def _is_put_off(self):
        """A page's wish while a cell runs: the engine is the cell's."""
        if threading.current_thread() is threading.main_thread() or not self._busy():
            return False
        self.send({"t": "busy"})
        return True

    # -- what the page asks -------------------------------------------------------------------
    def on_ready_message(self, content):
        """A page has been mounted: it is told everything."""
        self.send({"t": "recording", "recording": self.to_json()})

    def on_drive_message(self, content):
        """``to``: run until that many steps are done, or (absent) until a breakpoint or the end.

        An error of the sweep is in the recording then; there is no cell to raise it in.
        """
        if self._is_put_off():
            return
        try:
            self._drive(None if content.get("to") is None else int(content["to"]))
        except Exception:
            self.log.debug("gradviz: the sweep failed", exc_info=True)

    def on_abort_message(self, content):
        """Leave everything as it was."""
        if not self._is_put_off():
            self.abort()
