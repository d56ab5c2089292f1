"""``DataLoader``: batches of a data set."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from multiprocessing.context import BaseContext

from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .fetch import Recipe
from .passes import _MultiProcessingDataLoaderIter, _SingleProcessDataLoaderIter
from .sampler import BatchSampler, RandomSampler, SequentialSampler

_MANY = (
    "This DataLoader will create {} worker processes in total. Our suggested max number of "
    "worker in "
    "current system is {}{}, which is smaller than what this DataLoader is going to create. "
    "Please be "
    "aware that excessive worker creation might get DataLoader running slow or even freeze, "
    "lower the "
    "worker number to avoid potential slowness/freeze if necessary."
)
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Infinite:
    """The sampler of a stream: None, over and over."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Iterates over batches.

    ``num_workers`` processes make them ahead of time, ``prefetch_factor`` each; with
    ``multiprocessing_context="thread"`` they are threads. ValueError for options that do not go
    together; RuntimeError while iterating when a worker dies or ``timeout`` seconds pass; an error
    in a worker is raised here with its traceback.
    """

    _told_length = _iterator = None
    _ready = False

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        self._check(num_workers, timeout, prefetch_factor, persistent_workers)
        if num_workers > 0 and prefetch_factor is None:
            prefetch_factor = 2
        self.dataset, self.num_workers, self.prefetch_factor = dataset, num_workers, prefetch_factor
        self.pin_memory, self.pin_memory_device, self.timeout = (
            pin_memory,
            pin_memory_device,
            timeout,
        )
        self.worker_init_fn, self.persistent_workers, self.in_order = (
            worker_init_fn,
            persistent_workers,
            in_order,
        )
        self.multiprocessing_context, self.generator = multiprocessing_context, generator
        self._threads = multiprocessing_context == "thread"
        self._check_context()
        self._stream = isinstance(dataset, IterableDataset)
        if self._stream:
            self._check_stream(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        batch_size, drop_last = self._check_batches(
            batch_size, shuffle, sampler, drop_last, batch_sampler
        )
        if sampler is None:
            sampler = (
                _Infinite()
                if self._stream
                else RandomSampler(dataset, generator=generator)
                if shuffle
                else SequentialSampler(dataset)
            )
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = (
            batch_size,
            drop_last,
            sampler,
            batch_sampler,
        )
        self.collate_fn = collate_fn or (
            default_convert if batch_sampler is None else default_collate
        )
        if num_workers > 0:
            self.check_worker_number_rationality()
        self._ready = True

    @staticmethod
    def _check(num_workers, timeout, prefetch_factor, persistent_workers):
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable "
                "multiprocessing."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing.let "
                "num_workers > 0 to enable multiprocessing, "
                "otherwise set prefetch_factor to None."
            )
        if prefetch_factor is not None and prefetch_factor < 0:
            raise ValueError("prefetch_factor option should be non-negative")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")

    @staticmethod
    def _check_stream(shuffle, sampler, batch_sampler):
        if shuffle not in (False, None):
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified shuffle option, but got "
                f"shuffle={shuffle}"
            )
        if sampler is not None:
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified sampler option, but got "
                f"sampler={sampler}"
            )
        if batch_sampler is not None:
            raise ValueError(
                "DataLoader with IterableDataset: expected unspecified batch_sampler option, but "
                "got "
                f"batch_sampler={batch_sampler}"
            )

    @staticmethod
    def _check_batches(batch_size, shuffle, sampler, drop_last, batch_sampler):
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, "
                    "sampler, and drop_last"
                )
            return None, False
        if batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        return batch_size, drop_last

    def __setattr__(self, name, value):
        if self._ready and name in _FIXED:
            raise ValueError(f"{name} attribute should not be set after DataLoader is initialized")
        super().__setattr__(name, value)

    # ------------------------------------------------------------ workers
    def _check_context(self):
        context = self.multiprocessing_context
        if context is None:
            return
        if self.num_workers == 0:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading "
                "(num_workers > "
                f"0), but got num_workers={self.num_workers}"
            )
        methods = multiprocessing.get_all_start_methods()
        if isinstance(context, str) and not self._threads and context not in methods:
            raise ValueError(
                f"multiprocessing_context option should specify a valid start method in "
                f"{methods!r}, "
                f"but got multiprocessing_context={context!r}"
            )
        if not isinstance(context, (str, BaseContext)):
            raise TypeError(
                "multiprocessing_context option should be a valid context object or a string "
                f"specifying the start method, but got multiprocessing_context={context}"
            )

    def _context(self):
        context = self.multiprocessing_context
        return context if isinstance(context, BaseContext) else multiprocessing.get_context(context)

    def check_worker_number_rationality(self):
        """Warn when there are more workers than processors."""
        asked = hasattr(os, "sched_getaffinity")
        most = len(os.sched_getaffinity(0)) if asked else os.cpu_count()
        if most is not None and self.num_workers > most:
            aside = "" if asked else " (`cpuset` is not taken into account)"
            warnings.warn(_MANY.format(self.num_workers, most, aside), stacklevel=3)

    def _recipe(self):
        return Recipe(
            self.dataset,
            self.collate_fn,
            self.batch_sampler is not None,
            self.drop_last,
            self._stream,
            self.worker_init_fn,
            self.num_workers,
        )

    # ------------------------------------------------------------ passes
    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if not self.persistent_workers:
            return _MultiProcessingDataLoaderIter(self)
        if self._iterator is None or self._iterator._crew is None:
            self._iterator = _MultiProcessingDataLoaderIter(self)
        else:
            self._iterator._reset(self)
        return self._iterator

    def __len__(self):
        if not self._stream:
            return len(self._index_sampler)
        n = self._told_length = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
