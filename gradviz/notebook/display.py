"""``gradviz.show`` and ``gradviz.export_html``."""

from __future__ import annotations

import sys
from pathlib import Path

from gradviz.engine import events
from gradviz.engine.tensor import Tensor
from gradviz.export.html import page
from gradviz.export.picture import Picture
from gradviz.export.text import summary
from gradviz.texts import text

from .cells import roots_of
from .extension import current, load
from .session import Session
from .views import front_end


class Shown:
    """What ``show`` returns: it names a view that is on the screen already, and pins no tensor."""

    def __init__(self, extension, display):
        self._extension, self._display = extension, display
        self._cell = extension.cells.number

    def __repr__(self):
        return text("notebook.opened")

    def _repr_mimebundle_(self, include=None, exclude=None):
        return self._extension.displays.bundle(self._display)

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
    shell = _shell()
    if tensor is not None and events.edge(tensor) is None:
        print(text("notebook.no_graph"))
        return None
    if shell is not None and front_end(shell):
        load(shell)
    session = _fresh_session()
    target = session.enter(tensor)
    if shell is None or not front_end(shell):
        with session.recorder.lock:
            print(summary(Picture.of(session.recorder.trace, target)))
        return None
    extension = current(shell)
    display = extension.displays.open(target, layout="inline", **extension.magics.settings())
    return Shown(extension, display)


def export_html(file="gradviz.html", tensor=None) -> Path:
    """Write the graph of ``tensor`` (default: everything in view) as one page; its path.

    The page is interactive and needs no kernel and no network. Raises TypeError for anything but a
    tensor, OSError when the file cannot be written.
    """
    _check(tensor)
    session = _fresh_session()
    target = session.enter(tensor)
    with session.recorder.lock:
        content = page(session.recorder.trace, session.source.detail, target)
    path = Path(file).expanduser().resolve()
    path.write_text(content, encoding="utf-8")
    return path


def _check(tensor):
    if tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(text("notebook.not_a_tensor", type=type(tensor).__name__))


def _shell():
    """The shell that runs us, without importing IPython where it is not."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def _fresh_session():
    """The shell's session brought up to date; outside a shell one that watches nothing."""
    shell = _shell()
    extension = current(shell) if shell else None
    if extension is None:
        return Session(lambda filename: None)
    extension.session.refresh(roots_of(shell))
    return extension.session
