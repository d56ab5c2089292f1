"""The order in which samples are drawn."""

from __future__ import annotations

import itertools
import math
from typing import Generic, TypeVar

from ...ops.declare import FUNCTIONS
from ...ops.random import Generator

T = TypeVar("T", covariant=True)


class Sampler(Generic[T]):
    """An iterable of indices, or of lists of them."""

    def __iter__(self):
        raise NotImplementedError


def _fresh():
    generator = Generator()
    generator.manual_seed(int(FUNCTIONS["empty"]((), dtype=_int64()).random_().item()))
    return generator


def _int64():
    from ...engine.dtypes import int64

    return int64


class SequentialSampler(Sampler):
    """0, 1, 2, …"""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order, or ``num_samples`` drawn with replacement."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement, self._num_samples, self.generator = (
            data_source,
            replacement,
            num_samples,
            generator,
        )
        if not isinstance(replacement, bool):
            raise TypeError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                "num_samples should be a positive integer value, but got "
                f"num_samples={self.num_samples}"
            )

    @property
    def num_samples(self):
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, count = len(self.data_source), self.num_samples
        generator = _fresh() if self.generator is None else self.generator
        if self.replacement:
            for _ in range(count // 32):
                yield from FUNCTIONS["randint"](
                    high=n,
                    size=(32,),
                    dtype=_int64(),
                    generator=generator,
                    low=0,
                    device=generator.device,
                ).tolist()
            yield from FUNCTIONS["randint"](
                high=n,
                size=(count % 32,),
                dtype=_int64(),
                generator=generator,
                low=0,
                device=generator.device,
            ).tolist()
            return
        for _ in range(count // n):
            yield from FUNCTIONS["randperm"](
                n, generator=generator, device=generator.device
            ).tolist()
        yield from FUNCTIONS["randperm"](n, generator=generator, device=generator.device).tolist()[
            : count % n
        ]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for i in FUNCTIONS["randperm"](len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with the given weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={num_samples}"
            )
        if not isinstance(replacement, bool):
            raise ValueError(
                f"replacement should be a boolean value, but got replacement={replacement}"
            )
        from ...engine.dtypes import float64

        self.weights = FUNCTIONS["as_tensor"](weights, dtype=float64)
        if self.weights.dim() != 1:
            raise ValueError(
                "weights should be a 1d sequence but given weights have shape "
                f"{tuple(self.weights.shape)}"
            )
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        drawn = FUNCTIONS["multinomial"](
            self.weights, self.num_samples, self.replacement, generator=self.generator
        )
        yield from iter(drawn.tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of ``batch_size`` indices of another sampler."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(
                f"batch_size should be a positive integer value, but got batch_size={batch_size}"
            )
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        stream = iter(self.sampler)
        while batch := list(itertools.islice(stream, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        n = len(self.sampler)
        return (
            n // self.batch_size if self.drop_last else (n + self.batch_size - 1) // self.batch_size
        )


class DistributedSampler(Sampler):
    """The share of one of several processes; ``set_epoch`` changes the order."""

    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        num_replicas, rank = _world(num_replicas, rank)
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.epoch, self.drop_last, self.shuffle, self.seed = 0, drop_last, shuffle, seed
        if drop_last and len(dataset) % num_replicas != 0:
            self.num_samples = math.ceil((len(dataset) - num_replicas) / num_replicas)
        else:
            self.num_samples = math.ceil(len(dataset) / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        n = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = FUNCTIONS["randperm"](n, generator=generator, device=generator.device).tolist()
        else:
            order = list(range(n))
        if self.drop_last:
            order = order[: self.total_size]
        else:
            order = list(itertools.islice(itertools.cycle(order), self.total_size))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Shuffle differently from now on."""
        self.epoch = epoch


def _world(num_replicas, rank):
    if num_replicas is None or rank is None:
        from importlib import import_module

        distributed = import_module("gradviz.distributed")
        if not distributed.is_available():
            raise RuntimeError("Requires distributed package to be available")
        num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
        rank = distributed.get_rank() if rank is None else rank
    return num_replicas, rank
