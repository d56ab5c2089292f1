"""From indices to a batch: by key, or the next ones of a stream."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass
class Recipe:
    """What is needed to make batches, wherever that happens."""

    dataset: Any
    collate: Callable
    batched: bool
    drop_last: bool
    stream: bool
    worker_init: Callable | None
    workers: int

    def fetcher(self):
        """A function from one entry of the sampler to data; StopIteration when a stream ends."""
        return (_FromStream if self.stream else _ByKey)(self)


class _ByKey:
    def __init__(self, recipe):
        self._dataset, self._collate = recipe.dataset, recipe.collate
        self._batched = recipe.batched

    def __call__(self, index):
        dataset = self._dataset
        if not self._batched:
            return self._collate(dataset[index])
        several = getattr(dataset, "__getitems__", None)
        return self._collate(several(index) if several else [dataset[i] for i in index])


class _FromStream:
    def __init__(self, recipe):
        self._stream, self._collate = iter(recipe.dataset), recipe.collate
        self._batched, self._drop_last, self._ended = recipe.batched, recipe.drop_last, False

    def __call__(self, index):
        if self._ended:
            raise StopIteration
        if not self._batched:
            return self._collate(next(self._stream))
        rows = list(itertools.islice(self._stream, len(index)))
        self._ended = len(rows) < len(index)
        if not rows or (self._drop_last and self._ended):
            raise StopIteration
        return self._collate(rows)
