"""One pass over a ``DataLoader``: here, or with workers."""

from __future__ import annotations

import itertools
import os
import warnings
import weakref

from ...engine.events import block
from ...ops.declare import FUNCTIONS
from .crew import Processes, Threads
from .sampler import _int64
from .worker import RESUME, Ended, Failure

_PINNED = (
    "'pin_memory' argument is set as true but no accelerator is found, then device pinned "
    "memory won't "
    "be used."
)
_TOO_LONG = (
    "Length of IterableDataset {} was reported to be {}(when accessing len(dataloader)), but {} "
    "samples "
    "have been fetched. "
)
_REPLICAS = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the "
    "IterableDataset replica at each worker. Please see "
    "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
)


class _BaseDataLoaderIter:
    def __init__(self, loader):
        if loader.pin_memory:
            warnings.warn(_PINNED, stacklevel=3)
        self._sampler, self._recipe = loader._index_sampler, loader._recipe()
        self._indices = iter(self._sampler)
        # drawn from the generator in every pass, so that passes with and without workers agree
        drawn = FUNCTIONS["empty"]((), dtype=_int64()).random_(generator=loader.generator)
        self._base_seed = drawn.item()
        self._yielded, self._told_length = 0, loader._told_length

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._sampler)

    def __next__(self):
        with block(f"enumerate(DataLoader)#{type(self).__name__}.__next__"):
            data = self._next_data()
        self._yielded += 1
        if self._told_length is not None and self._yielded > self._told_length:
            said = _TOO_LONG.format(self._recipe.dataset, self._told_length, self._yielded)
            warnings.warn(said + (_REPLICAS if self._recipe.workers else ""), stacklevel=2)
        return data

    def _next_data(self):
        raise NotImplementedError


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        if loader.timeout:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        self._fetch = self._recipe.fetcher()

    def _next_data(self):
        return self._fetch(next(self._indices))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Numbers go round the workers; what comes early waits for its turn (with ``in_order``)."""

    _crew = None

    def __init__(self, loader):
        super().__init__(loader)
        self._options = loader.prefetch_factor, loader.in_order
        self._persistent, self._timeout = loader.persistent_workers, loader.timeout
        if loader._threads:
            self._crew = Threads(self._recipe, self._base_seed)
        else:
            self._crew = Processes(self._recipe, self._base_seed, loader._context())
        # not __del__: what it needs must outlive a garbage collection that takes this object
        self._end = weakref.finalize(self, _dismissed, self._crew, os.getpid())
        self._end.atexit = False
        self._begin()

    def _begin(self):
        count, (prefetch, _) = self._recipe.workers, self._options
        self._active, self._load = [True] * count, [0] * count
        self._turns = itertools.cycle(range(count))
        self._sent = self._next = 0
        self._who, self._early = {}, {}
        for _ in range(prefetch * count):
            self._order()

    def _reset(self, loader):
        """Another pass with the same workers."""
        waiting = set(range(self._recipe.workers))
        for k in waiting:
            self._crew.order(k, RESUME)
        while waiting:
            k, (number, _) = self._receive()
            if number == RESUME:
                waiting.discard(k)
        self._indices, self._yielded = iter(self._sampler), 0
        self._told_length = loader._told_length
        self._begin()

    # ------------------------------------------------------------ orders
    def _order(self):
        k = self._worker()
        if k is None:
            return
        index = next(self._indices, self)
        if index is self:
            return
        self._crew.order(k, (self._sent, index))
        self._who[self._sent] = k
        self._load[k] += 1
        self._sent += 1

    def _worker(self):
        most, in_order = self._options
        for _ in self._active:
            k = next(self._turns)
            if self._active[k] and (in_order or self._load[k] < most):
                return k
        return None

    # ------------------------------------------------------------ answers
    def _next_data(self):
        while True:
            self._skip_lost()
            if self._next in self._early:
                return self._given(self._next, self._early.pop(self._next))
            if not self._who:
                if not self._persistent:
                    self._close()
                raise StopIteration
            k, (number, data) = self._receive()
            self._load[k] -= 1
            if isinstance(data, Ended):
                self._ended(k)
            elif number == self._next or not self._options[1]:
                return self._given(number, data)
            else:
                self._early[number] = data

    def _ended(self, k):
        """The stream of worker ``k`` is over; it may say so more than once."""
        if self._active[k]:
            self._active[k] = False
            if not self._persistent:
                self._crew.dismiss(k)
            self._order()

    def _skip_lost(self):
        """Numbers whose worker's stream ended before it came to them are never answered."""
        for number in [n for n, k in self._who.items() if not self._active[k]]:
            if number not in self._early:
                del self._who[number]
        while self._next < self._sent and self._next not in self._who:
            self._next += 1

    def _given(self, number, data):
        del self._who[number]
        self._order()
        if isinstance(data, Failure):
            data.reraise()
        return data

    def _receive(self):
        try:
            found = self._crew.receive(self._timeout or None)
        except RuntimeError:
            self._close()
            raise
        if found is None:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        return found

    def _close(self):
        self._crew = None
        self._end()


def _dismissed(crew, home):
    """End the workers; a process that was forked meanwhile has a copy of ``crew`` but no
    workers."""
    if home == os.getpid():
        crew.close()
