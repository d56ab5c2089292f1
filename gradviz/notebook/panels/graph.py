"""``gradviz.Graph``: the graph explorer as a widget to compose with others."""

from __future__ import annotations

from gradviz.export.html import bundle
from gradviz.notebook.display import graph_of, settings_of, shell_of
from gradviz.notebook.displayed import Displayed
from gradviz.notebook.views import still
from gradviz.sources import reading
from gradviz.texts import text
from gradviz.watch.plain import dumps
from gradviz.watch.recorder import Recorder
from gradviz.watch.trace import Trace, load
from gradviz.widgets.graph import GraphView

from .live import session_of


class Graph(Displayed, GraphView):
    """The graph of ``what``: a tensor (not kept alive), None (all that is in view), or a saved
    trace: a ``Trace``, or the JSON values of ``Trace.to_json``.

    A graph of the notebook is live: it grows while cells run. Traits: ``selected`` (name of the
    chosen node, to be linked with other panels), ``placement``, ``height``, ``language``,
    ``theme``. Raises TypeError for anything else, ValueError for a trace of another schema.
    """

    def __init__(self, what=None, **settings):
        self._target = None
        settings = settings_of(settings)
        if what is None or reading.is_tensor(what):
            session = session_of()
            recorder, self._target, detail, follower = _live(session, what)
            live = follower or (session and session.source)
            asks = (live.attempt, live.weigh) if live else ()
            super().__init__(recorder, detail, *asks, **settings)
            if session is not None:
                session.add(self, follower)
            return
        if not isinstance(what, dict | Trace):
            raise TypeError(text("notebook.not_a_tensor", type=type(what).__name__))
        recorder = Recorder()
        recorder.replace(load(what) if isinstance(what, dict) else what)
        frozen = dumps(bundle(recorder.trace))
        super().__init__(recorder, recorder.trace.details.get, bundle=frozen, **settings)

    def to_json(self) -> dict:
        """The trace as JSON values; ``gradviz.Graph`` takes it back."""
        return self._recorder.to_json()

    def still(self):
        """The graph as a picture and as text."""
        return still(self._recorder, self._target)


def _live(session, tensor):
    """(recorder, target, detail, follower) of what is in view or of a tensor."""
    if tensor is None and session is not None:
        return session.recorder, None, session.source.detail, None
    if session is None:
        return (*graph_of(shell_of(), tensor), None)
    from gradviz.notebook.cells import roots_of

    follower = session.follower(tensor, roots_of(shell_of()))
    return follower.recorder, follower.target, follower.detail, follower
