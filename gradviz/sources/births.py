"""Which node's backward recorded which operations: the second graph of ``create_graph``."""

from __future__ import annotations

from bisect import bisect_right

KEPT = 20_000


class Births:
    """Ranges of serials, each with the node whose backward made them; the newest are kept."""

    def __init__(self):
        self._first: list[int] = []
        self._known: list[tuple[int, int]] = []
        self._running: tuple[object, int] = (None, 0)

    def entered(self, sweep, serial: int):
        """A node of ``sweep`` is about to run; operations get numbers above ``serial``."""
        self._running = sweep, serial

    def left(self, sweep, node: int, serial: int):
        """It has run, and was ``node``."""
        running, first = self._running
        self._running = None, 0
        if running is not sweep or serial <= first + 1:
            return
        self._first.append(first)
        self._known.append((serial, node))
        if len(self._first) > KEPT:
            del self._first[: KEPT // 2], self._known[: KEPT // 2]

    def creator(self, serial: int) -> int | None:
        """The node whose backward made the operation ``serial``."""
        at = bisect_right(self._first, serial) - 1
        return self._known[at][1] if at >= 0 and serial < self._known[at][0] else None
