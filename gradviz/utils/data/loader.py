"""``DataLoader``: batches of a data set, in the calling process."""

from __future__ import annotations

from ...ops.declare import FUNCTIONS
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler, _int64


def get_worker_info():
    """None: batches are made in the calling process."""
    return None


class _Infinite:
    """The sampler of a stream: None, over and over."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Iterates over batches. ``num_workers`` is accepted; the work is done here, in the same
    order."""

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

    def __iter__(self):
        # a pass draws its base seed from the generator, as a pass with workers would
        FUNCTIONS["empty"]((), dtype=_int64()).random_(generator=self.generator)
        return self._batches_of_stream() if self._stream else self._batches()

    def _batches(self):
        if self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
            return
        several = getattr(self.dataset, "__getitems__", None)
        for indices in self.batch_sampler:
            rows = several(indices) if callable(several) else [self.dataset[i] for i in indices]
            yield self.collate_fn(rows)

    def _batches_of_stream(self):
        stream = iter(self.dataset)
        if self.batch_size is None:
            for sample in stream:
                yield self.collate_fn(sample)
            return
        batch = []
        for sample in stream:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.collate_fn(batch)

    def __len__(self):
        if not self._stream:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        n = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
