"""Averages gradients over processes while backward goes on.

Every parameter tells when its gradient is there. When all of a bucket are, and those of the buckets
before it, its all-reduce starts; the last one waits for all and writes the averages back. After the
first backward the buckets are made anew, in the order in which gradients came.
"""

from __future__ import annotations

import os
import sys
import time
import weakref

from ...backend import xp
from ...distributed import ReduceOp, all_gather_object, all_reduce, broadcast_object_list
from ...engine import events
from ...engine.dispatch import wrap
from ...engine.errors import advised
from .buckets import FIRST_CAP, MIB, GradBucket, assign

UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error "
    "indicates that your module has parameters that were not used in producing loss. You can "
    "enable "
    "unused parameter detection by passing the keyword argument `find_unused_parameters=True` to "
    "`torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` function "
    "outputs "
    "participate in calculating loss. \nIf you already have done the above, then the "
    "distributed data "
    "parallel module wasn't able to locate the output tensors in the return value of your module's "
    "`forward` function. Please include the loss function and the structure of the return value of "
    "`forward` of your module when reporting this issue (e.g. list, dict, iterable)."
)
INDICES = "\nParameter indices which did not receive grad for rank {}: {}"
NAMES = "\nParameters which did not receive grad for rank {}: {}"
DEBUG = (
    "\n In addition, you can set the environment variable TORCH_DISTRIBUTED_DEBUG to either "
    "INFO or "
    "DETAIL to print out information about which particular parameters did not receive gradient on "
    "this rank as part of this error"
)
TWICE = (
    "Expected to mark a variable ready only once. This error is caused by one of the following "
    "reasons: "
    "1) Use of a module parameter outside the `forward` function. Please make sure model "
    "parameters are "
    "not shared across multiple concurrent forward-backward passes. or try to use "
    "_set_static_graph() "
    "as a workaround if this module graph does not change during training loop.2) Reused "
    "parameters in "
    "multiple reentrant backward passes. For example, if you use multiple `checkpoint` "
    "functions to "
    "wrap the same part of your model, it would result in the same set of parameters been used by "
    "different reentrant backward passes multiple times, and hence marking a variable ready "
    "multiple "
    "times. DDP does not support such use cases in default. You can try to use "
    "_set_static_graph() as "
    "a workaround if your module graph does not change over iterations."
)


class Reducer:
    """The parameters (by name) of one module and the buckets of their gradients."""

    def __init__(self, named, group, cap_mb, find_unused):
        self.names, self.parameters = [n for n, _ in named], [p for _, p in named]
        self.group, self.find_unused = group, find_unused
        first = FIRST_CAP if cap_mb is None else cap_mb * MIB
        self._caps = (first, (25 if cap_mb is None else cap_mb) * MIB)
        sizes = [(k, p.nbytes, p.dtype) for k, p in enumerate(self.parameters)]
        self.buckets = assign(sizes, self._caps if find_unused else (sys.maxsize,))[::-1]
        self.hook, self.expecting, self._rebuilt = None, False, find_unused
        self._ready = self._arrived = ()
        self.timeline = []
        self.active, self.divide_by_all = None, True
        self._index = {id(p): k for k, p in enumerate(self.parameters)}
        self._handles = [
            p.register_post_accumulate_grad_hook(_announcer(weakref.ref(self), k))
            for k, p in enumerate(self.parameters)
        ]

    # ------------------------------------------------------------ one iteration
    def check_finished(self):
        """RuntimeError when gradients of the backward before are still missing."""
        if not self.expecting or not self._arrived:
            return
        missing = [k for k in range(len(self.parameters)) if k not in self._ready]
        rank, names = self.group.rank(), [self.names[k] for k in missing]
        told = UNFINISHED
        if os.environ.get("TORCH_DISTRIBUTED_DEBUG", "OFF").upper() in ("INFO", "DETAIL"):
            told += NAMES.format(rank, ", ".join(names))
        told += INDICES.format(rank, " ".join(map(str, missing)))
        if NAMES[:20] not in told:
            told += DEBUG
        raise advised(RuntimeError(told), "unused_parameters", names=", ".join(names))

    def expect(self, outputs):
        """A forward is over; ``outputs`` are its tensors."""
        self._ready, self._arrived, self._started = set(), {}, []
        self._counts = [len(bucket) for bucket in self.buckets]
        self._where = {k: b for b, bucket in enumerate(self.buckets) for k in bucket}
        self.expecting, self._began = True, time.perf_counter()
        self._unused = set()
        if self.find_unused:
            reached = _leaves_of(outputs)
            self._unused = {k for k, p in enumerate(self.parameters) if id(p) not in reached}

    def arrived(self, k):
        """The gradient of parameter ``k`` is complete."""
        if not self.expecting:
            return
        if not self._arrived:
            for missing in sorted(self._unused):
                self._mark(missing)
        self._arrived[k] = time.perf_counter() - self._began
        self._mark(k)
        for _, work in self._started:
            work.done()
        if len(self._started) == len(self.buckets):
            self._finish()

    def _mark(self, k):
        if k in self._ready:
            raise RuntimeError(TWICE)
        self._ready.add(k)
        self._counts[self._where[k]] -= 1
        while len(self._started) < len(self.buckets) and not self._counts[len(self._started)]:
            self._start(len(self._started))

    def _start(self, b):
        parameters = [self.parameters[k] for k in self.buckets[b]]
        bucket = GradBucket(b, parameters, b == len(self.buckets) - 1)
        self._started.append((bucket, _Running(bucket, self.hook, self.group)))

    def _finish(self):
        self.expecting = False
        used = self._used_anywhere()
        share = self._share_of_active()
        for bucket, work in self._started:
            found = work.wait() if share == 1 else work.wait() * share
            bucket.give_back(found, lambda p: id(p) not in self._index or used[self._index[id(p)]])
        self._note()
        if not self._rebuilt:
            self._rebuild()

    def _share_of_active(self):
        """What makes an average over all processes one over those that have inputs."""
        if self.active is None or self.divide_by_all:
            return 1
        self.active.wait()
        return self.group.size() / self.active.result()[0].item()

    def shadow(self):
        """The part of a process without inputs in a backward of the others."""
        for members in self.buckets:
            parameters = [self.parameters[k] for k in members]
            size = sum(p.numel() for p in parameters)
            zeros = wrap(xp.zeros(size, parameters[0]._a.dtype, like=parameters[0]._a))
            all_reduce(zeros, ReduceOp.AVG, self.group)
        if self.find_unused:
            all_reduce(wrap(xp.zeros(len(self.parameters), "i4")), group=self.group)
        if not self._rebuilt:
            self._arrived = dict.fromkeys(reversed(range(len(self.parameters))))
            self._rebuild()

    def _used_anywhere(self):
        count = len(self.parameters)
        if not self.find_unused:
            return [True] * count
        used = wrap(xp.array([k not in self._unused for k in range(count)], "i4"))
        all_reduce(used, group=self.group)
        return used.tolist()

    def _rebuild(self):
        order = [list(self._arrived)]
        broadcast_object_list(order, self.group.ranks[0], self.group)
        sizes = [(k, self.parameters[k].nbytes, self.parameters[k].dtype) for k in order[0]]
        self.buckets, self._rebuilt = assign(sizes, self._caps), True

    def _note(self):
        """What happened when, as plain data; seconds since the forward ended."""
        self.timeline = [
            {
                "rank": self.group.rank(),
                "bucket": bucket.index(),
                "parameters": [self.names[k] for k in self.buckets[bucket.index()]],
                "bytes": bucket.buffer().nbytes,
                "arrived": [self._arrived.get(k) for k in self.buckets[bucket.index()]],
                "started": work.started - self._began,
                "ended": work.ended - self._began,
            }
            for bucket, work in self._started
        ]
        self._started = []


class _Running:
    """One bucket under way: an all-reduce, or what a communication hook started."""

    def __init__(self, bucket, hook, group):
        self.started, self.ended = time.perf_counter(), None
        self._work = self._future = None
        if hook is None:
            buffer = bucket.buffer()
            self._work = all_reduce(buffer, ReduceOp.AVG, group, async_op=True)
            self._future = self._work.get_future()
        else:
            state, function = hook
            self._future = function(state, bucket)
        self._future.add_done_callback(self._end)

    def _end(self, _):
        self.ended = time.perf_counter()

    def done(self):
        """Give the transport a chance to go on."""
        return self._work is None or self._work.is_completed()

    def wait(self):
        found = self._future.wait()
        return found[0] if isinstance(found, (list, tuple)) else found


def _announcer(reducer, k):
    """A hook that keeps nothing alive."""

    def announce(_):
        own = reducer()
        if own is not None:
            own.arrived(k)

    return announce


def _leaves_of(tensors):
    """Identities of the leaves that the graphs of ``tensors`` reach."""
    found, seen, stack = set(), set(), []
    for t in tensors:
        node = events.node_of(t)
        if node is None:
            found.add(id(t))
        else:
            stack.append(node)
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        for source in events.inputs(node):
            if source.__class__ is tuple:
                stack.append(source[0])
            elif source is not None:
                found.add(id(source))
    return found


def check_same_model(parameters, group):
    """RuntimeError when the processes have different parameters."""
    every = [None] * group.size()
    all_gather_object(every, [list(p.shape) for p in parameters], group)
    first = every[0]
    for rank, shapes in enumerate(every):
        if len(shapes) != len(first):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank 0 has {len(first)} params, "
                f"while rank {rank} has inconsistent {len(shapes)} params."
            )
        for k, (theirs, sizes) in enumerate(zip(shapes, first, strict=True)):
            if theirs != sizes:
                raise RuntimeError(
                    f"[{rank}]: params[{k}] in this process with sizes {theirs} appears not to "
                    f"match "
                    "sizes of the same param in process 0."
                )
