"""``gradviz.DerivativeTower``: a function and its derivatives, for lessons."""

from __future__ import annotations

import traitlets

from gradviz.sources.tower import tower
from gradviz.texts import text
from gradviz.watch.plain import plain

from .live import LivePanel

NAMES = ("f", "f′", "f″", "f‴", "f⁗", "f⁽⁵⁾", "f⁽⁶⁾")


class DerivativeTower(LivePanel):
    """Curves of f, f′, f″ … and how the graph grows with each.

    ``function``: takes a tensor and gives one number for each of its numbers; or what ``to_json``
    gave. Traits: ``order`` (1 to 6), ``low``, ``high``, ``point`` (where the values are told);
    setting one draws anew, so they can be linked with sliders. Raises what ``function`` raises.
    """

    kind = "tower"
    order = traitlets.Int(2, min=1, max=6).tag(sync=True)
    low = traitlets.Float(-3.0).tag(sync=True)
    high = traitlets.Float(3.0).tag(sync=True)
    point = traitlets.Float(0.0).tag(sync=True)

    def __init__(self, function, **settings):
        self._function = None
        if isinstance(function, dict):
            super().__init__(function, **settings)
            return
        self._function = function
        super().__init__(**settings)

    def read(self):
        """The tower of the function."""
        return plain(tower(self._function, self.low, self.high, self.order))

    @traitlets.observe("order", "low", "high")
    def _changed(self, change):
        if self._function is not None and self._values:
            self.refresh()

    def lines(self):
        """How many nodes each order takes."""
        return [
            NAMES[one["order"]] + ": " + text("ui.panel.graph_of", n=one["nodes"])
            for one in self._values["floors"]
        ]
