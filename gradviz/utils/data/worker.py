"""What a worker of a ``DataLoader`` does, in a process or a thread of its own."""

from __future__ import annotations

import pickle
import queue
import random
import sys
import threading
import traceback
from dataclasses import dataclass
from typing import Any

from ...backend import xp
from ...engine.events import door
from ...ops.random import manual_seed
from .fetch import Recipe

CHECK_EVERY = 5.0
RESUME = "resume"

_here = threading.local()


@dataclass
class WorkerInfo:
    """Who a worker is: its number, how many there are, its seed, its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str = "multiprocessing"


def get_worker_info():
    """The ``WorkerInfo`` of the worker that calls; None outside of workers."""
    return getattr(_here, "info", None)


class KeyErrorMessage(str):
    """Text of a KeyError that is printed as it is, not quoted."""

    def __repr__(self):
        return str(self)


class Failure:
    """An exception of a worker with its traceback as text."""

    def __init__(self, where):
        self.kind, error, trace = sys.exc_info()
        self.name = self.kind.__name__
        self.text = "".join(traceback.format_exception(self.kind, error, trace))
        self.where = where

    def reraise(self):
        """Raise it here: the same type where that can be made from a text, else RuntimeError."""
        said = f"Caught {self.name} {self.where}.\nOriginal {self.text}"
        if self.kind is KeyError:
            raise KeyError(KeyErrorMessage(said))
        try:
            error = self.kind(said)
        except Exception:
            raise RuntimeError(said) from None
        raise error


class Ended:
    """A worker's stream is over."""


@dataclass
class Task:
    """Everything a worker needs to begin."""

    recipe: Recipe
    id: int
    base_seed: int
    worker_method: str


def in_process(task, tasks, results, parent_alive):
    """The main function of a worker process: quiet, seeded by its number, ends with its parent."""
    door.observer = None
    seed = task.base_seed + task.id
    random.seed(seed)
    manual_seed(seed)
    xp.random.seed(numpy_seed(task.base_seed, task.id))
    try:
        serve(task, tasks.get, lambda answer: _send(results, answer, task), parent_alive)
    except (KeyboardInterrupt, BrokenPipeError):
        pass


def _send(results, answer, task):
    """What cannot be pickled is told as an error instead of ending the worker."""
    try:
        results.send(answer)
    except (AttributeError, TypeError, pickle.PicklingError):
        number, data = answer
        failure = data if isinstance(data, Failure) else Failure(_where(task))
        failure.kind = RuntimeError
        results.send((number, failure))


def numpy_seed(base_seed, worker_id):
    """Four words that differ for every worker, as PyTorch mixes them."""
    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return xp.random.SeedSequence(entropy).generate_state(4)


def serve(task, get, put, alive):
    """Answer tasks (number, index) with (number, data) until None comes."""
    recipe, where = task.recipe, _where(task)
    seed = task.base_seed + task.id
    _here.info = WorkerInfo(
        task.id, recipe.workers, seed, recipe.dataset, worker_method=task.worker_method
    )
    fetch, broken = None, None
    try:
        if recipe.worker_init is not None:
            recipe.worker_init(task.id)
        fetch = recipe.fetcher()
    except Exception:
        broken = Failure(where)
    while alive():
        try:
            order = get(timeout=CHECK_EVERY)
        except queue.Empty:
            continue
        if order is None:
            return
        if order == RESUME:
            put((RESUME, None))
            fetch = recipe.fetcher()
            continue
        number, index = order
        put((number, broken or _fetched(fetch, index, recipe.stream, where)))


def _where(task):
    kind = "thread" if task.worker_method == "thread" else "process"
    return f"in DataLoader worker {kind} {task.id}"


def _fetched(fetch, index, stream, where):
    try:
        return fetch(index)
    except StopIteration:
        return Ended() if stream else Failure(where)
    except Exception:
        return Failure(where)
