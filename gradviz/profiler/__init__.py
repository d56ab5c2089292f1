"""``gradviz.profiler``: counts and times of recorded operations, forward and backward, as in
``torch.profiler``.

It watches through the engine's door. The time of a backward node is its own; that of a forward
operation is the time since the
event before it, so it holds the user's Python in between. Operations on untracked tensors are not
seen.
"""

from __future__ import annotations

import enum
import time

from ..engine import events

__all__ = [
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "tensorboard_trace_handler",
]


class ProfilerActivity(enum.Enum):
    """What is watched."""

    CPU = 0
    CUDA = 2


class Entry:
    """One row: key, count and microseconds."""

    __slots__ = ("count", "key", "self_cpu_time_total")

    def __init__(self, key):
        self.key, self.count, self.self_cpu_time_total = key, 0, 0.0

    @property
    def name(self):
        """The key."""
        return self.key

    @property
    def cpu_time_total(self):
        """Microseconds in all."""
        return self.self_cpu_time_total

    @property
    def cpu_time(self):
        """Microseconds a call."""
        return self.self_cpu_time_total / max(self.count, 1)

    def __repr__(self):
        return f"<{self.key}: {self.count} calls, {self.self_cpu_time_total:.1f} us>"


class Averages(list):
    """Rows by key; ``table()`` prints them."""

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_name_column_width=55,
        header=None,
        top_level_events_only=False,
    ):
        """The rows as text, ordered by ``sort_by``."""
        rows = sorted(self, key=lambda e: getattr(e, sort_by or "cpu_time_total", 0), reverse=True)[
            :row_limit
        ]
        lines = [
            f"{'Name':<{max_name_column_width}}  {'Calls':>8}  {'CPU total':>12}  "
            f"{'CPU time avg':>12}"
        ]
        for e in rows:
            lines.append(
                f"{e.key[:max_name_column_width]:<{max_name_column_width}}  {e.count:>8}  "
                f"{e.cpu_time_total:>10.1f}us  "
                f"{e.cpu_time:>10.1f}us"
            )
        return "\n".join(lines)


class _Watcher(events.Observer):
    """Counts what it sees, and passes everything on to the observer that was there before."""

    def __init__(self, entries, before):
        self.entries, self.before = entries, before
        self.last = time.perf_counter()
        self.entered = {}

    def _add(self, key, seconds):
        entry = self.entries.get(key)
        if entry is None:
            entry = self.entries[key] = Entry(key)
        entry.count += 1
        entry.self_cpu_time_total += seconds * 1e6

    def operation(self, output, inputs):
        now = time.perf_counter()
        node = events.node_of(output[0] if isinstance(output, tuple) else output)
        name = getattr(getattr(node, "op", None), "name", None) or type(node).__name__
        self._add(f"aten::{name}", now - self.last)
        self.last = now

    def node_entered(self, sweep, node, grads):
        self.entered[id(node)] = time.perf_counter()

    def node_left(self, sweep, node, grads):
        now = time.perf_counter()
        self._add(
            f"autograd::engine::evaluate_function: {type(node).__name__}",
            now - self.entered.pop(id(node), now),
        )
        self.last = now

    def accumulated(self, sweep, leaf, grad):
        now = time.perf_counter()
        self._add(
            "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", now - self.last
        )
        self.last = now

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        before = object.__getattribute__(self, "__dict__").get("before")
        if (
            before is None
            or name.startswith("_")
            or name in ("entries", "before", "last", "entered")
        ):
            return found
        other = getattr(before, name)

        def both(*args):
            other(*args)
            return found(*args)

        return both


class profile:
    """``with profile() as prof:`` then ``prof.key_averages().table()``."""

    def __init__(
        self,
        *,
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        acc_events=False,
        use_cuda=None,
    ):
        self.entries = {}
        self.on_trace_ready = on_trace_ready

    def start(self):
        """Begin to watch."""
        self.before = events.door.observer
        if self.before is not None:
            events.detach(self.before)
        self.watcher = _Watcher(self.entries, self.before)
        events.attach(self.watcher)

    def stop(self):
        """Watch no more."""
        events.detach(self.watcher)
        if self.before is not None:
            events.attach(self.before)
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self):
        """One training step is over: accepted, all steps are counted together."""

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def key_averages(
        self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False
    ):
        """The rows by key."""
        return Averages(self.entries.values())

    def events(self):
        """The rows by key."""
        return self.key_averages()


class record_function:
    """A named block; usable as a decorator too."""

    def __init__(self, name, args=None):
        self.name = name

    def __enter__(self):
        self.began = time.perf_counter()
        return self

    def __exit__(self, *_):
        watcher = events.door.observer
        if isinstance(watcher, _Watcher):
            watcher._add(self.name, time.perf_counter() - self.began)

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)

        return wrapped


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A plan of which steps to record: accepted, every step is recorded."""
    return lambda step: None


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """A handler that writes the table of a profile into a folder."""

    def handler(prof):
        import pathlib

        folder = pathlib.Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{worker_name or 'profile'}.txt").write_text(
            prof.key_averages().table(), encoding="utf-8"
        )

    return handler
