"""``gradviz.show`` and ``gradviz.export_html``."""

from __future__ import annotations

import sys
import uuid
from pathlib import Path

from gradviz.ask.moment import asking, visible
from gradviz.export.html import page
from gradviz.export.picture import Picture
from gradviz.export.text import summary
from gradviz.sources import reading
from gradviz.texts import text
from gradviz.watch.holders import Roots

from .cells import roots_of
from .extension import current, load
from .session import Session
from .views import bundle, front_end, publish, still


class Shown:
    """What ``show`` returns: it names a view that is on the screen already, and pins no tensor."""

    def __init__(self, extension, display):
        self._extension, self._display = extension, display
        self._cell = extension.cells.number

    def __repr__(self):
        return text("notebook.opened")

    def _repr_mimebundle_(self, include=None, exclude=None):
        return bundle(self._display)

    def _ipython_display_(self):
        """Shown once more when asked in a later cell; in its own cell it is there already."""
        if self._cell != self._extension.cells.number:
            self._cell = self._extension.cells.number
            self._extension.displays.show_again(self._display)


def show(tensor=None):
    """Show the graph of ``tensor`` here (default: everything in view), live where widgets run.

    In a notebook a view appears under the cell and grows with the graph; in a terminal the graph is
    printed. Returns a light handle that keeps no tensor alive. Raises TypeError for anything but a
    tensor.
    """
    _check(tensor)
    if tensor is not None and reading.edge(tensor) is None:
        print(text("notebook.no_graph"))
        return None
    shell = shell_of()
    if shell is None or not front_end(shell):
        recorder, target, _ = graph_of(shell, tensor)
        with recorder.lock:
            print(summary(Picture.of(recorder.trace, target)))
        return None
    try:
        extension = load(shell)
    except RuntimeError:  # something else watches the engine: a picture is still to be had
        recorder, target, _ = graph_of(shell, tensor)
        publish(still(recorder, target), uuid.uuid4().hex)
        return None
    follower = None
    if tensor is not None:
        follower = extension.session.follower(tensor, roots_of(shell))
    display = extension.displays.open(follower, placement="inline", **extension.magics.settings())
    return Shown(extension, display)


def export_html(file="gradviz.html", tensor=None) -> Path:
    """Write the graph of ``tensor`` (default: everything in view) as one page; its path.

    The page is interactive and needs no kernel and no network. Raises TypeError for anything but a
    tensor, OSError when the file cannot be written.
    """
    _check(tensor)
    recorder, target, detail = graph_of(shell_of(), tensor, at_once=True)
    with recorder.lock:
        content = page(recorder.trace, detail, target)
    path = Path(file).expanduser().resolve()
    path.write_text(content, encoding="utf-8")
    return path


def _check(tensor):
    if tensor is not None and not reading.is_tensor(tensor):
        raise TypeError(text("notebook.not_a_tensor", type=type(tensor).__name__))


def settings_of(given: dict) -> dict:
    """The traits of a new widget: what was ``given``, else what was chosen for this notebook."""
    shell = shell_of()
    extension = current(shell) if shell else None
    chosen = extension.magics.settings() if extension else {}
    return {name: chosen[name] for name in ("language", "theme") if name in chosen} | given


def shell_of():
    """The shell that runs us, without importing IPython where it is not."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def graph_of(shell, tensor, at_once=False):
    """The recorder of ``tensor``'s graph (or of everything in view), its node, and ``detail``;
    ``at_once``: one for the main thread, which reads arrays in the middle of a cell too.

    Where no session watches, a fresh one reads what hangs on the tensor.
    """
    extension = current(shell) if shell else None
    session = extension.session if extension else Session(lambda filename: None)
    if tensor is None:
        return session.recorder, None, session.source.detail
    follower = session.follower(tensor, roots_of(shell) if shell else Roots(visible(asking())))
    return follower.recorder, follower.target, follower.read if at_once else follower.detail
