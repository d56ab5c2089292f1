"""Widgets that show themselves: with a still picture beside them, and able to be frozen."""

from __future__ import annotations

import uuid

from .display import shell_of
from .extension import current
from .views import publish


class Displayed:
    """For a widget of ours: a client that only stores outputs gets what needs no
    widget, and ``%gradviz freeze`` finds it.
    """

    def _ipython_display_(self):
        shell = shell_of()
        extension = current(shell) if shell else None
        if extension is None:
            publish(self._repr_mimebundle_(), uuid.uuid4().hex)
        else:
            extension.displays.adopt(self, extension.cells.plain_client)
