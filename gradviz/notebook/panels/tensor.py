"""``gradviz.TensorView``: the numbers of one tensor, or of two."""

from __future__ import annotations

import weakref

import traitlets

from gradviz.export.words import figure
from gradviz.sources import reading
from gradviz.sources.sheet import sheet
from gradviz.texts import text
from gradviz.watch.plain import plain

from .live import LivePanel


class TensorView(LivePanel):
    """Value and gradient of ``what`` as numbers, heat map and histogram.

    ``what``: a tensor, which is not kept alive, or what ``to_json`` gave. ``other``: a tensor of
    the same shape to compare with. Traits: ``index`` (the slice of the leading dimensions),
    ``shown`` (value, grad, other, difference), ``log`` (colours by the logarithm). Read anew
    after each cell, and by ``refresh``. Raises TypeError for anything else, ValueError when the
    shapes differ.
    """

    kind = "tensor"
    index = traitlets.List(traitlets.Int()).tag(sync=True)
    shown = traitlets.Enum(("value", "grad", "other", "difference"), "value").tag(sync=True)
    log_scale = traitlets.Bool(False).tag(sync=True)

    def __init__(self, what, other=None, label="", **settings):
        self._label, self._tensor, self._other = label, None, None
        if isinstance(what, dict):
            super().__init__(what, **settings)
            return
        if not reading.is_tensor(what):
            raise TypeError(text("notebook.panel.not_a_tensor", type=type(what).__name__))
        self._tensor = weakref.ref(what)
        self._other = None if other is None else weakref.ref(other)
        super().__init__(**settings)

    def read(self):
        """The sheet of the tensor; when it has died, what was last known."""
        tensor = self._tensor()
        if tensor is None:
            return self._values
        other = self._other() if self._other is not None else None
        return plain(sheet(tensor, other, self.index, self._label))

    @traitlets.observe("index")
    def _resliced(self, change):
        if self._tensor is not None:
            self.refresh()

    def lines(self):
        """Facts and statistics."""
        said = self._values
        head = f"{said['label'] or text('ui.panel.tensor')} {tuple(said['shape'])} {said['dtype']}"
        rows = [head]
        for name in ("value", "grad", "other", "difference"):
            if said[name]:
                stats = said[name]["stats"]
                facts = {key: stats[key] for key in ("minimum", "mean", "maximum", "norm")}
                told = " ".join(
                    f"{text('ui.inspect.' + key)} {figure(float(one))}"
                    for key, one in facts.items()
                    if one is not None
                )
                rows.append(f"{text('ui.panel.' + name)}: {told} NaN {stats['nan']}")
        return rows
