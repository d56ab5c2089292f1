"""Collective operations of a group of processes."""

from __future__ import annotations

import enum
import functools
import itertools
import os
from urllib.parse import urlparse

from ..backend import xp
from ..engine.views import bump
from .store import Folder

_NOT_READY = (
    "Default process group has not been initialized, please make sure to call init_process_group."
)


class ReduceOp(enum.Enum):
    """How arrays of several processes become one."""

    SUM = "sum"
    AVG = "avg"
    PRODUCT = "product"
    MIN = "min"
    MAX = "max"


_COMBINE = {
    ReduceOp.SUM: xp.add,
    ReduceOp.AVG: xp.add,
    ReduceOp.PRODUCT: xp.multiply,
    ReduceOp.MIN: xp.minimum,
    ReduceOp.MAX: xp.maximum,
}


class Group:
    """The processes that work together: ``rank`` of ``size``."""

    def __init__(self, rank, size, folder, backend):
        self.rank, self.size, self.folder, self.backend = rank, size, folder, backend
        self._serial = itertools.count()

    def key(self, tag=None):
        """The key of the next exchange; the same in every process, since all do the same in the
        same order."""
        return f"n{next(self._serial)}" if tag is None else tag

    def exchange(self, array, tag=None):
        """The arrays of all processes, by rank."""
        array = xp.ascontiguousarray(array)
        return [array] if self.size == 1 else self.folder.exchange(self.key(tag), array)


_group = None


def group():
    """The group of this process; ValueError before ``init_process_group``."""
    if _group is None:
        raise ValueError(_NOT_READY)
    return _group


def is_available():
    """Always: files are enough."""
    return True


def is_initialized():
    """Whether ``init_process_group`` was called."""
    return _group is not None


def init_process_group(
    backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, **kwargs
):
    """Join a group. ``init_method``: ``file:///path`` that all processes share, or none for a
    single process."""
    global _group
    if _group is not None:
        raise ValueError("trying to initialize the default process group twice!")
    rank = int(os.environ.get("RANK", 0)) if rank < 0 else rank
    size = int(os.environ.get("WORLD_SIZE", 1)) if world_size < 0 else world_size
    seconds = 300.0 if timeout is None else timeout.total_seconds()
    folder = None
    if size > 1:
        place = urlparse(init_method or "env://")
        if place.scheme != "file":
            raise NotImplementedError(
                "gradviz exchanges tensors through files only: pass "
                "init_method='file:///a/common/path'"
            )
        folder = Folder(place.path + ".exchange", rank, size, seconds)
    _group = Group(rank, size, folder, backend or "gloo")
    barrier()


def destroy_process_group(group=None):
    """Leave the group."""
    global _group
    if _group is not None and _group.folder is not None:
        _group.folder.close()
    _group = None


def get_rank(group=None):
    """The number of this process in its group."""
    return _here().rank


def get_world_size(group=None):
    """How many processes work together."""
    return _here().size


def get_backend(group=None):
    """The name given to ``init_process_group``."""
    return _here().backend


def _here():
    return group()


def barrier(group=None):
    """Wait until all processes are here."""
    _here().exchange(xp.zeros(0))


def combined(arrays, op=ReduceOp.SUM):
    """Arrays of all processes as one."""
    found = functools.reduce(_COMBINE[op], arrays)
    return found / found.dtype.type(len(arrays)) if op is ReduceOp.AVG else found


def _put(tensor, array):
    tensor._a[...] = array
    bump(tensor)


def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """``tensor`` becomes the sum (or ``op``) of those of all processes, everywhere."""
    _put(tensor, combined(_here().exchange(tensor._a), op))


def reduce(tensor, dst=0, op=ReduceOp.SUM, group=None, async_op=False):
    """``all_reduce`` of which only process ``dst`` keeps the result."""
    found = combined(_here().exchange(tensor._a), op)
    if _here().rank == dst:
        _put(tensor, found)


def broadcast(tensor, src=0, group=None, async_op=False):
    """``tensor`` becomes that of process ``src``, everywhere."""
    own = _here()
    arrays = own.exchange(tensor._a)
    if own.rank != src:
        _put(tensor, arrays[src])


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Fill ``tensor_list`` with the tensors of all processes."""
    for target, array in zip(tensor_list, _here().exchange(tensor._a), strict=True):
        _put(target, array)


def gather(tensor, gather_list=None, dst=0, group=None, async_op=False):
    """``all_gather`` of which only process ``dst`` keeps the result."""
    arrays = _here().exchange(tensor._a)
    if _here().rank == dst:
        for target, array in zip(gather_list, arrays, strict=True):
            _put(target, array)


def scatter(tensor, scatter_list=None, src=0, group=None, async_op=False):
    """``tensor`` becomes this process's entry of the list that process ``src`` gives."""
    own = _here()
    mine = xp.stack([t._a for t in scatter_list]) if own.rank == src else xp.zeros(0)
    _put(tensor, own.exchange(mine)[src][own.rank])
