"""Which line of the person's made which node of PyTorch, without a look at the node.

PyTorch numbers the nodes of a thread as they are made. So it is enough to read that number after a
call: every node made since the reading before belongs to the line of the call. Each gets a serial
of ours at once, in the order of everything else that is noted; the node itself is asked for its
number when somebody wants to see it, which is mostly never.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from gradviz.engine.node import serial

KEPT = 20_000
MANY = 100_000

_end = itemgetter(0)


class Lines:
    """Of the thread that is watched. ``end``: the number of the first node not heard of yet;
    ``tell``: hears of every node that is marked, while somebody watches.
    """

    def __init__(self):
        self.end = 0
        self.tell = None
        self._runs: list[tuple] = [(0, None, 0)]  # (end, serial less number, note)
        self._taken: set[int] = set()
        self._expected: tuple[int, int] | None = None

    def expect(self, number: int, note: int):
        """The node with the number, if it is made, is made by the line of ``note``."""
        if self._expected is None or self._expected[0] != number:
            self._expected = number, note

    def made(self, end: int, note: int):
        """The nodes up to the number ``end`` were made by the line of ``note``, but one that was
        expected.
        """
        expected, self._expected = self._expected, None
        if expected is not None and self.end <= expected[0] < end:
            self._made(expected[0], note)
            self._made(expected[0] + 1, expected[1])
        self._made(end, note)

    def _made(self, end, note):
        if end == self.end:
            return
        if end - self.end > MANY:
            self.skip(end - MANY)
        shift = _serials(end - self.end) - self.end
        run = end, shift, note
        if self._runs[-1][1:] == run[1:]:
            self._runs[-1] = run
        else:
            self._put(run)
        self.end = end

    def skip(self, end: int):
        """Of the nodes up to the number ``end`` nothing is known."""
        if end != self.end:
            self._put((end, None, 0))
            self.end = end

    def _put(self, run):
        self._runs.append(run)
        if len(self._runs) > 2 * KEPT:
            kept = self._runs[KEPT:]
            kept[0] = (kept[0][0], None, 0)
            oldest = next((end + shift for end, shift, _ in kept if shift is not None), 0)
            self._taken = {one for one in self._taken if one >= oldest}
            self._runs = kept

    def _run(self, number):
        runs = self._runs
        if len(runs) > 1 and runs[-2][0] <= number < runs[-1][0]:
            return runs[-1]
        at = bisect_right(runs, number, key=_end)
        return runs[at] if at < len(runs) else (0, None, 0)

    def serial(self, number: int) -> int | None:
        """The serial of the node with the number; None for one that was not heard of, or whose
        serial a node of another thread has.
        """
        shift = self._run(number)[1]
        return None if shift is None or number + shift in self._taken else number + shift

    def take(self, number: int) -> tuple[int, int] | None:
        """(serial, note) of the node with the number, which no other gets from now on."""
        found = self.serial(number)
        if found is None:
            return None
        self._taken.add(found)
        return found, self._run(number)[2]


def _serials(count):
    """The first of ``count`` serials in a row; other threads take some too."""
    while True:
        first = last = serial()
        for _ in range(count - 1):
            last = serial()
        if last - first == count - 1:
            return first


lines = Lines()
