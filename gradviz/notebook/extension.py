"""``%load_ext gradviz``: puts session, cell events and magics on a shell; takes them off."""

from __future__ import annotations

import contextlib

from gradviz.ask.moment import Moment, provide, provided
from gradviz.export.picture import fault
from gradviz.texts import text

from .cells import Cells, roots_of
from .lines import Lines
from .magics import GradvizMagics
from .views import Displays, drawn, front_end, publish

ATTRIBUTE = "_gradviz_extension"


class Extension:
    """What is on one shell: ``session``, ``cells``, ``lines``, ``displays``, ``magics``."""

    def __init__(self, shell, quiet=False):
        self.shell = shell
        self.cells = Cells(shell, self.cell_ended)
        self.session = self.cells.session
        self.displays = Displays(self.session)
        self.lines = Lines(publish if front_end(shell) else None, quiet, self.culprit)
        self.magics = GradvizMagics(shell, self)

    def load(self):
        """Begin to watch. Raises RuntimeError when something else watches the engine."""
        self.session.watch()
        self.cells.register()
        self.shell.register_magics(self.magics)
        provide(self.moment)

    def moment(self) -> Moment | None:
        """What questions may know; None when this shell is not watched now."""
        session = self.session
        if not session.watching:
            return None
        return Moment(session.source, roots_of(self.shell), choice=session.choice)

    def unload(self):
        """Take everything off the shell again and let it go."""
        self.cells.unregister()
        self.displays.freeze()
        self.session.rest()
        self.magics.unload()
        if provided() == self.moment:
            provide(None)
        remove_magics(self.shell, self.magics)

    def culprit(self, finding) -> dict | None:
        """The graph in which the error of a finding arose, as a still picture."""
        recorder = self.session.recorder
        with recorder.lock:
            picture = fault(recorder.trace, finding.node_ids)
        return drawn(picture) if picture is not None else None

    def cell_ended(self, findings):
        """After each cell: the line under it, and pictures where no page listens."""
        self.lines.show(findings)
        self.displays.redraw_unheard(self.cells.plain_client)


def load(shell, quiet: bool = False) -> Extension:
    """The extension of ``shell``, put on it if it was not; ``quiet`` says nothing under cells."""
    extension = current(shell)
    if extension is None:
        extension = Extension(shell, quiet)
        extension.load()
        setattr(shell, ATTRIBUTE, extension)
    return extension


def current(shell) -> Extension | None:
    """The extension that is on ``shell``."""
    return getattr(shell, ATTRIBUTE, None)


def load_ipython_extension(shell):
    """Called by ``%load_ext gradviz``."""
    try:
        load(shell)
    except RuntimeError:
        print(text("notebook.busy"))


def unload_ipython_extension(shell):
    """Called by ``%unload_ext gradviz``."""
    extension = current(shell)
    if extension is not None:
        delattr(shell, ATTRIBUTE)
        extension.unload()


def remove_magics(shell, magics):
    """IPython has no way to unregister; take the names and the instance out of its tables."""
    manager = shell.magics_manager
    for names in (manager.magics["line"], manager.magics["cell"]):
        for name in [n for n, call in names.items() if getattr(call, "__self__", None) is magics]:
            del names[name]
    manager.registry.pop(type(magics).__name__, None)
    with contextlib.suppress(ValueError):
        shell.configurables.remove(magics)
    with contextlib.suppress(ValueError):
        shell.input_transformers_cleanup.remove(magics.transform)
