"""``with watching():`` follow a part of a script or a test, where no notebook does it."""

from __future__ import annotations

import linecache
from contextlib import contextmanager

from gradviz.engine import events
from gradviz.sources.engine import EngineSource
from gradviz.texts import text
from gradviz.watch.holders import Roots
from gradviz.watch.places import Files
from gradviz.watch.recorder import Recorder

from .moment import Moment, asking, provide, provided


class Watching:
    """What was seen since it began; every file of the person's counts as one cell.

    ``file_of(cell)`` gives the file's name back.
    """

    def __init__(self):
        self.recorder = Recorder()
        self._files: dict[str, int] = {}
        self._mine = Files()
        self.source = EngineSource(self.recorder, self._cell_of)

    def _cell_of(self, filename):
        """The number of a file; its text becomes that of a cell when it is first asked for."""
        known = self._files.get(filename)
        if known is None and self._mine.is_mine(filename):
            lines = linecache.getlines(filename)
            if lines:
                known = self._files[filename] = len(self._files) + 1
                top = lines[0] if lines[0].strip() else "#\n"  # only cells lose blank lines there
                self.recorder.begin_cell(known, None, "".join([top, *lines[1:]]))
        return known

    def is_mine(self, filename: str) -> bool:
        """Whether a file is the person's: not ours, not installed."""
        return not filename.startswith("<") and self._mine.is_mine(filename)

    def file_of(self, cell: int | None) -> str:
        """The name of the file that counts as ``cell``, or ''."""
        return next((name for name, number in self._files.items() if number == cell), "")

    def moment(self) -> Moment:
        """For questions: nothing but what the asking code sees is known."""
        for note in [sweep.note for sweep in self.source.ledger.sweeps]:
            if note:
                self._cell_of(note[0].co_filename)
        return Moment(self.source, Roots(), file_of=self.file_of)


@contextmanager
def watching():
    """Follow what runs inside: questions and assertions then know lines, backward passes and steps.

    Yields the :class:`Watching`. Raises RuntimeError when something watches the engine already, as
    a notebook does after ``%load_ext gradviz``: there the questions are answered without it.
    """
    if events.door.observer is not None:
        raise RuntimeError(text("ask.watched_already"))
    watch, before = Watching(), provided()
    frame = asking()
    if frame is not None:
        watch._cell_of(frame.f_code.co_filename)
    watch.source.attach()
    watch.source.begin()
    provide(watch.moment)
    try:
        yield watch
    finally:
        provide(before)
        watch.source.detach()
