"""``gradviz.MemoryLedger``: memory by cell, and over a stretch of code."""

from __future__ import annotations

from contextlib import contextmanager

from gradviz.export.words import size
from gradviz.sources.memory import Meter
from gradviz.watch.memory import Measured

from .live import LivePanel, session_of


class MemoryLedger(LivePanel):
    """Stacked bytes of parameters, gradients, optimizer state and what is saved for backward.

    Without more, what graphs held after each cell. After ``with ledger.measure(model, optimizer):``
    also the moments inside: forward, backward and step marked, what was alive at the peak, and what
    checkpointing each part of the model would have saved. ``data``: what ``to_json`` gave.
    """

    kind = "ledger"

    def __init__(self, data=None, **settings):
        self._measured: Measured | None = None
        super().__init__(data, **settings)

    def read(self):
        """Bytes by cell, and what was measured."""
        session = session_of()
        cells = session.recorder.trace.status()["cells"] if session else []
        return {"cells": cells, "measured": self._measured}

    @contextmanager
    def measure(self, model=None, optimizer=None):
        """Measure the code inside; ``model`` names its parts, the state of ``optimizer`` counts."""
        meter = Meter(model, optimizer)
        meter.start()
        try:
            yield self
        finally:
            meter.stop()
            self._measured = meter.measured
            self.refresh()

    def lines(self):
        """The peak and what was alive then, or the bytes of the newest cells."""
        measured = self._values.get("measured")
        if measured:
            return [f"{one['name']}: {size(one['bytes'])}" for one in measured["alive"]]
        cells = self._values.get("cells", [])[-10:]
        return [f"In [{one['count']}]: {size(sum(one['bytes'].values()))}" for one in cells]
