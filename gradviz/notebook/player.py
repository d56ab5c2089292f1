"""``gradviz.BackwardPlayer`` and ``%gradviz step``."""

from __future__ import annotations

import json
from pathlib import Path

from gradviz.engine.tensor import Tensor
from gradviz.sources.reading import is_tensor
from gradviz.sources.stepper import Stepper
from gradviz.sources.stepping import MOST, Stepping
from gradviz.sources.torch_stepper import TorchStepper
from gradviz.texts import text
from gradviz.watch.recorder import Recorder
from gradviz.watch.recording import Recording, load
from gradviz.widgets.player import PlayerView

from .display import graph_of, settings_of, shell_of
from .displayed import Displayed
from .extension import current
from .views import still

DETAILS = 400


class BackwardPlayer(Displayed, PlayerView):
    """Steps through ``what.backward()``, or plays a recording of one.

    ``what``: a tensor, whose sweep is paused before its first node and run by ``step``, ``play``,
    ``finish``, ``position`` or the page; or what ``to_json`` gave, as a dict or in a JSON file.
    ``gradient`` and ``retain_graph`` as in ``backward``; ``quiz``: the page asks what goes out of
    each step before it tells, and counts what is guessed right. ``settings`` are traits.

    A sweep in the player frees nothing before it is finished, one of real PyTorch what has run;
    ``abort`` or ``close`` leaves every gradient as it was. Raises what ``backward`` raises for a
    tensor; TypeError for anything else;
    ValueError for more than 2,000 nodes, or a recording of another schema.
    """

    def __init__(self, what, gradient=None, retain_graph=False, quiz=False, **settings):
        settings = settings_of(settings)
        if is_tensor(what):
            stepper = paused(what, gradient, retain_graph)
            stepper.recording.quiz = quiz
            super().__init__(stepper.recording, stepper, _busy, **settings)
        else:
            told = recorded(what)
            told.quiz = told.quiz or quiz
            super().__init__(told, **settings)

    def still(self):
        """The graph as a picture and as text."""
        recorder = Recorder()
        for row in self._told.nodes:
            recorder.put(row)
        for edge in self._told.edges:
            recorder.put_edge(edge)
        return still(recorder, None)


def paused(tensor, gradient=None, retain_graph=False) -> Stepping:
    """A stepper before its first step, with the names of the notebook on its picture."""
    kind = Stepper if isinstance(tensor, Tensor) else TorchStepper
    try:
        stepper = kind(tensor, gradient, retain_graph)
    except ValueError as error:
        raise ValueError(text("notebook.step.too_many", most=MOST)) from error
    recorder, _, detail = graph_of(shell_of(), tensor, at_once=True)
    told = stepper.recording
    with recorder.lock:
        told.nodes = list(recorder.trace.nodes.values())
        told.edges = list(recorder.trace.edges.values())
        newest = sorted(recorder.trace.nodes, reverse=True)[:DETAILS]
        found = {id: detail(id) for id in newest}
    told.details = {id: one for id, one in found.items() if one is not None}
    return stepper


def recorded(what) -> Recording:
    """A recording from ``Recording``, its JSON values, or the path of a JSON file."""
    if isinstance(what, Recording):
        return what
    if isinstance(what, str | Path):
        what = json.loads(Path(what).read_text(encoding="utf-8"))
    if not isinstance(what, dict):
        raise TypeError(text("notebook.step.not_a_recording", type=type(what).__name__))
    return load(what)


def _busy() -> bool:
    """Whether a cell is running."""
    shell = shell_of()
    extension = current(shell) if shell else None
    return extension is not None and extension.session.running
