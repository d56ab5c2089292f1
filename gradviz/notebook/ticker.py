"""A clock that runs only while a cell runs and somebody looks; it stands still where Python has no
threads, as in a browser.
"""

from __future__ import annotations

import contextvars
import threading


class Ticker:
    """Calls ``tick`` every ``period`` seconds on a daemon thread between ``start`` and ``stop``."""

    def __init__(self, tick, period: float):
        self.tick, self.period = tick, period
        self._thread = None
        self._ended = threading.Event()

    @property
    def alive(self) -> bool:
        """True while the thread runs."""
        return self._thread is not None and self._thread.is_alive()

    def start(self):
        """Begin; what is sent belongs to the cell that is running now."""
        if self.alive:
            return
        self._ended = threading.Event()
        context = contextvars.copy_context()
        thread = threading.Thread(
            target=context.run, args=(self._run, self._ended), name="gradviz-ticker", daemon=True
        )
        try:
            thread.start()
        except (
            RuntimeError
        ):  # no threads here: views are brought up to date when the cell has ended
            return
        self._thread = thread

    def stop(self):
        """End, and wait for a tick under way."""
        self._ended.set()
        thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self, ended):
        while not ended.wait(self.period):
            self.tick()
