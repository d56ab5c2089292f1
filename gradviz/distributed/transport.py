"""What carries arrays between processes: sends, receives, and the collectives composed of them.

Everything starts at once and returns a ``Pending``; nothing here waits. Arrays are flat and
contiguous.
"""

from __future__ import annotations

import itertools

from .reduction import combined


class Pending:
    """Something under way: ``poll()`` says whether it is done, then ``value()`` is there."""

    source = None

    def poll(self):
        """Whether it is done; makes progress."""
        return True

    def value(self):
        """What came."""
        return None

    def missing(self):
        """The ranks that are waited for, where they are known."""
        return ()


class Ready(Pending):
    """Done from the start."""

    def __init__(self, found=None):
        self._found = found

    def value(self):
        return self._found


class Several(Pending):
    """Several at once; ``join`` makes one value of theirs."""

    def __init__(self, parts, join=list):
        self._parts, self._join = parts, join

    def poll(self):
        done = [part.poll() for part in self._parts]
        return all(done)

    def value(self):
        return self._join([part.value() for part in self._parts])

    def missing(self):
        return sorted({rank for part in self._parts for rank in part.missing()})


class Transport:
    """The processes ``0 … size - 1`` of one group, seen from ``rank``; ``on_device``: it carries
    arrays of a GPU as they are."""

    on_device = False

    def __init__(self, rank, size):
        self.rank, self.size = rank, size
        self._serial = itertools.count()

    # ------------------------------------------------------------ what a transport must do
    def send(self, array, to, tag):
        """Hand ``array`` to the ranks ``to``."""
        raise NotImplementedError

    def receive(self, like, source, tag):
        """The array of the size and dtype of ``like`` that ``source`` (None: anybody) sends."""
        raise NotImplementedError

    def part(self, ranks, name):
        """The transport of a subgroup, for its members; None for the others. All ranks call it."""
        raise NotImplementedError

    def check(self, waited):
        """Called now and then while something is waited for: raises when a rank is gone."""

    def close(self):
        """Leave the group."""

    # ------------------------------------------------------------ collectives
    def _others(self):
        return [r for r in range(self.size) if r != self.rank]

    def _key(self):
        """The same in every process, since all do the same in the same order."""
        return f"c{next(self._serial)}"

    def gather_all(self, array):
        """The arrays of all ranks, in their order."""
        key = self._key()
        sent = self.send(array, self._others(), key)
        return self._all([sent], array, [array] * self.size, key)

    def reduce_all(self, array, op):
        """One array out of those of all ranks."""
        parts = self.gather_all(array)
        return Several([parts], lambda found: combined(found[0], op))

    def broadcast(self, array, source):
        """The array of ``source``."""
        key = self._key()
        if self.rank == source:
            return Several([self.send(array, self._others(), key)], lambda _: array)
        return self.receive(array, source, key)

    def gather(self, array, to):
        """The arrays of all ranks at rank ``to``; None elsewhere."""
        key = self._key()
        if self.rank != to:
            return self.send(array, [to], key)
        return Several(
            [Ready(array) if r == to else self.receive(array, r, key) for r in range(self.size)]
        )

    def scatter(self, arrays, like, source):
        """This rank's entry of the list that ``source`` gives."""
        key = self._key()
        if self.rank != source:
            return self.receive(like, source, key)
        sent = [self.send(arrays[r], [r], key) for r in self._others()]
        return Several([*sent, Ready(arrays[source])], lambda found: found[-1])

    def exchange(self, arrays, likes):
        """Entry ``r`` of ``arrays`` goes to rank ``r``; what came, by rank."""
        key = self._key()
        sent = [self.send(arrays[r], [r], key) for r in self._others()]
        return self._all(sent, arrays[self.rank], likes, key)

    def _all(self, sent, own, likes, key):
        came = [
            Ready(own) if r == self.rank else self.receive(likes[r], r, key)
            for r in range(self.size)
        ]
        return Several([*sent, *came], lambda found: found[len(sent) :])


class Alone(Transport):
    """A group of one process: everything is there already."""

    def __init__(self):
        super().__init__(0, 1)

    def send(self, array, to, tag):
        return Ready()

    def part(self, ranks, name):
        return Alone() if ranks == [0] else None
