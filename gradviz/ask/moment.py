"""The moment of a question: who watches, and what the asking code can see."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

from gradviz.doctor import Choice
from gradviz.export import words
from gradviz.sources.engine import EngineSource
from gradviz.watch.holders import Roots
from gradviz.watch.places import Files
from gradviz.watch.recorder import Recorder
from gradviz.watch.referents import locals_of

_files = Files()
_provider: Callable[[], Moment | None] | None = None


@dataclass
class Moment:
    """``source`` with its recorder, ``roots`` where a walk begins; ``watched`` is False when nobody
    has followed the program so far; ``file_of``: the file that stands for a cell, or '';
    ``choice``: which findings are wanted.
    """

    source: EngineSource
    roots: Roots
    watched: bool = True
    file_of: Callable[[int | None], str] = lambda cell: ""
    choice: Choice = Choice()

    def where(self, place) -> str:
        """A place, or anything with a cell and a line, in words."""
        file = self.file_of(place.cell)
        cell = None if file else place.cell
        return words.place(cell, place.line, file or getattr(place, "file", ""))


def provide(provider: Callable[[], Moment | None] | None):
    """Who knows what is watched: a notebook's extension, or ``watching()``. None forgets it."""
    global _provider
    _provider = provider


def provided() -> Callable[[], Moment | None] | None:
    """Who was told to :func:`provide`."""
    return _provider


def now(frame=None) -> Moment:
    """The moment as ``frame`` sees it (default: the person's innermost frame)."""
    return within(visible(frame or asking()))


def within(names: dict) -> Moment:
    """The moment, with ``names`` besides those of the notebook."""
    found = _provider() if _provider is not None else None
    if found is None:
        found = Moment(EngineSource(Recorder(), lambda filename: None), Roots(), False)
    found.source.drain(float("inf"))
    roots = replace(found.roots, user_ns={**found.roots.user_ns, **names})
    return replace(found, roots=roots)


def asking():
    """The innermost frame that is the person's, None when there is none."""
    frame = sys._getframe(1)
    while frame is not None and not _files.is_mine(frame.f_code.co_filename):
        frame = frame.f_back
    return frame


def visible(frame):
    """The names of the module that asks, and of its functions that are running."""
    names: dict = {}
    while frame is not None:
        if _files.is_mine(frame.f_code.co_filename):
            names = {**frame.f_globals, **dict(locals_of(frame)), **names}
        frame = frame.f_back
    return names
