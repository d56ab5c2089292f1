"""``gradviz.Cockpit``: metrics of a training as it goes, and a button for one more step."""

from __future__ import annotations

import traitlets

from gradviz.export.words import figure
from gradviz.texts import text

from .live import LivePanel

MOST = 5_000
AT_ONCE = 100


class Cockpit(LivePanel):
    """Curves of what ``log`` was given, events in between, buttons that call ``step``.

    ``step``: a function without arguments; what it returns, a dict of numbers, is logged. The
    buttons call it between cells. Or what ``to_json`` gave. Trait ``count``: steps so far.
    """

    kind = "cockpit"
    count = traitlets.Int(0, read_only=True).tag(sync=True)

    def __init__(self, step=None, **settings):
        saved = step if isinstance(step, dict) else None
        if not (step is None or callable(step) or isinstance(step, dict)):
            raise TypeError(text("notebook.panel.not_callable", type=type(step).__name__))
        self._step = None if saved else step
        self._series: dict[str, list] = {}
        self._events: list[dict] = []
        super().__init__(saved, **settings)

    def log(self, **metrics):
        """One more step with ``metrics``: numbers or one-element tensors."""
        self.set_trait("count", self.count + 1)
        for name, value in metrics.items():
            number = float(value.item() if hasattr(value, "item") else value)
            self._series.setdefault(name, []).append([self.count, number])
            del self._series[name][:-MOST]
        self.touch()

    def event(self, words: str):
        """Something happened at this step: a scaler that skipped, a new learning rate."""
        self._events = [*self._events[-MOST:], {"at": self.count, "text": str(words)}]
        self.touch()

    def run(self, steps: int = 1):
        """Call ``step`` so many times. Raises what it raises; TypeError when there is none."""
        if self._step is None:
            raise TypeError(text("notebook.panel.no_step"))
        for _ in range(steps):
            found = self._step()
            self.log(**(found if isinstance(found, dict) else {}))

    def read(self):
        """Curves and events."""
        runs = self._step is not None
        return {"series": self._series, "events": self._events, "runs": runs, "error": ""}

    def asked(self, content):
        """A button: run steps. An error is shown; there is no cell to raise it in."""
        try:
            self.run(min(AT_ONCE, max(1, int(content.get("steps", 1)))))
            self.refresh()
        except Exception as error:
            self.put(self.read() | {"error": f"{type(error).__name__}: {error}"})

    def lines(self):
        """The newest value of each curve."""
        series = self._values.get("series", {})
        return [f"{name}: {figure(float(points[-1][1]))}" for name, points in series.items()]
