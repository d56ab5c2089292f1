"""``save_trace`` and ``open_trace``: what was seen, in one file, to be looked at anywhere."""

from __future__ import annotations

import copy
from pathlib import Path

from gradviz.export.html import page
from gradviz.export.picture import Picture
from gradviz.export.svg import svg
from gradviz.export.text import summary
from gradviz.watch.archive import Archive, read, write

from .moment import asking, now

BYTES = 256_000_000


class Opened:
    """A trace from a file: ``trace``, arrays of ``value(name)`` and ``grad(name)``, ``html()``.

    Shown in a notebook it draws its graph; it needs no engine and no kernel that made it.
    """

    def __init__(self, archive: Archive):
        self._archive = archive
        self.trace = archive.trace
        self.findings = archive.trace.findings

    def value(self, node: int | str):
        """The array of a node, by id or name; None when it was not saved. KeyError for a name that
        nothing has.
        """
        return self._archive.values.get(self._id(node))

    def grad(self, node: int | str):
        """The gradient's array of a node; as :meth:`value`."""
        return self._archive.grads.get(self._id(node))

    def html(self) -> str:
        """One self-contained page with the interactive graph."""
        return page(self.trace)

    def _id(self, node):
        return self._archive.named(node) if isinstance(node, str) else node

    def __repr__(self):
        return summary(Picture.of(self.trace))

    def _repr_svg_(self):
        return svg(Picture.of(self.trace))


def save_trace(file="gradviz.gvz") -> Path:
    """Write what is in view, the cells, the findings, and the arrays of what still lives (up to
    256 MB, the newest first) into ``file``; its path. OSError when it cannot be written.
    """
    moment = now(asking())
    recorder = moment.source.recorder
    with recorder.lock:
        found = Archive(copy.deepcopy(recorder.trace))
    left = BYTES
    for id, value, grad in moment.source.arrays():
        for arrays, array in ((found.values, value), (found.grads, grad)):
            if array is not None and array.nbytes <= left:
                left -= array.nbytes
                arrays[id] = array
    return write(file, found)


def open_trace(file) -> Opened:
    """Open a file that ``save_trace`` wrote. ValueError when it is none; OSError when it cannot be
    read.
    """
    return Opened(read(file))
