"""``gradviz.GradFlow``: how gradients reach each layer, step by step."""

from __future__ import annotations

import weakref

import traitlets

from gradviz.export.words import figure
from gradviz.sources.training import copies, flow_step, put_updates
from gradviz.texts import text

from .live import LivePanel

MOST = 5_000  # parameters times steps


class GradFlow(LivePanel):
    """Norm, update ratio, dead units and NaN of each parameter over steps, as a heat map.

    ``model``: a module, which is not kept alive, or what ``to_json`` gave. With ``optimizer`` every
    ``step`` is recorded by itself; without, call ``record`` after ``backward``. Traits: ``shown``
    (grad, update, dead, weight), ``clip`` (a threshold drawn at the total norm; 0: none),
    ``selected`` (name of a parameter).
    """

    kind = "flow"
    shown = traitlets.Enum(("grad", "update", "dead", "weight"), "grad").tag(sync=True)
    clip = traitlets.Float(0.0).tag(sync=True)

    def __init__(self, model, optimizer=None, **settings):
        self._steps: list = []
        self._number, self._before, self._handles = 0, {}, []
        if isinstance(model, dict):
            super().__init__(model, **settings)
            return
        if not hasattr(model, "named_parameters"):
            raise TypeError(text("notebook.panel.not_a_module", type=type(model).__name__))
        self._model = weakref.ref(model)
        super().__init__(**settings)
        if optimizer is not None:
            recorder = weakref.WeakMethod(self.record), weakref.WeakMethod(self._stepped)
            self._handles = [
                optimizer.register_step_pre_hook(_calls(recorder[0])),
                optimizer.register_step_post_hook(_calls(recorder[1])),
            ]

    def record(self):
        """Write the gradients of now down as one more step."""
        model = self._model()
        if model is None:
            return
        named = list(model.named_parameters())
        self._number += 1
        kept = max(2, MOST // max(1, len(named)))
        self._steps = [*self._steps[-kept + 1 :], flow_step(self._number, named)]
        self._before = copies(named) if self._handles else {}
        self.touch()

    def _stepped(self):
        model = self._model()
        if model is not None and self._steps:
            put_updates(self._steps[-1], list(model.named_parameters()), self._before)
            self._before = {}
            self._stale = True

    def read(self):
        """The steps so far."""
        return {"steps": self._steps}

    def close(self):
        """End the panel and take its hooks off the optimizer."""
        for handle in self.__dict__.get("_handles", ()):
            handle.remove()
        super().close()

    def lines(self):
        """The newest step."""
        steps = self._values.get("steps", [])
        layers = steps[-1]["layers"] if steps else {}
        return [f"{name}: {figure(float(one['grad'] or 0))}" for name, one in layers.items()]


def _calls(ref):
    """A hook of the optimizer that does not keep the panel alive."""

    def hook(optimizer, args, kwargs):
        method = ref()
        if method is not None:
            method()

    return hook
