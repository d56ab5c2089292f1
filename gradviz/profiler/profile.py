"""``profile`` and ``record_function``."""

from __future__ import annotations

import functools
import json
import pathlib
import time

from ..engine import events
from . import trace
from .averages import EventList
from .recorder import Recorder
from .schedule import RECORDING, ProfilerAction, always


class profile:
    """``with profile() as prof:`` then ``prof.key_averages().table()``; with a ``schedule``, call
    ``prof.step()`` after each step, and ``on_trace_ready(prof)`` gets every recorded round."""

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
        execution_trace_observer=None,
        acc_events=False,
        use_cuda=None,
        custom_trace_id_callback=None,
    ):
        self.schedule, self.on_trace_ready = schedule or always, on_trace_ready
        self.record_shapes, self.profile_memory = record_shapes, profile_memory
        self._scheduled = schedule is not None
        self.step_num, self.current_action = 0, self.schedule(0)
        self._recorder, self._step, self._metadata = None, None, {}

    # ------------------------------------------------------------ recording
    def start(self):
        """Begin to watch, as the plan says."""
        if self.current_action in RECORDING:
            self._begin()
        self._open_step()

    def stop(self):
        """Watch no more."""
        self._close_step()
        if self.current_action in RECORDING:
            self._end()
            self._ready()

    def step(self):
        """One training step is over."""
        self._close_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        if before is ProfilerAction.RECORD_AND_SAVE:
            self._end()
            self._ready()
            before = ProfilerAction.NONE
        if before not in RECORDING and self.current_action in RECORDING:
            self._begin()
        elif before in RECORDING and self.current_action not in RECORDING:
            self._end()
        self._open_step()

    def _begin(self):
        self._recorder = recorder = Recorder(self.record_shapes, self.profile_memory)
        recorder.before = events.door.observer
        if recorder.before is not None:
            events.detach(recorder.before)
        events.attach(recorder)

    def _end(self):
        recorder = self._recorder
        recorder.finish()
        events.detach(recorder)
        if recorder.before is not None:
            events.attach(recorder.before)

    def _ready(self):
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def _open_step(self):
        if self._scheduled:
            self._step = record_function(f"ProfilerStep#{self.step_num}")
            self._step.__enter__()

    def _close_step(self):
        if self._step is not None:
            self._step.__exit__(None, None, None)
            self._step = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    # ------------------------------------------------------------ what was recorded
    def events(self):
        """All events, in the order in which they began; AssertionError before there are any."""
        if self._recorder is None:
            raise AssertionError("Profiler must be initialized before accessing events")
        found = EventList(sorted(self._recorder.events, key=lambda e: e.start))
        by_id = {e.id: e for e in found}
        for e in found:
            e.cpu_children = []
        for e in found:
            if e.parent is not None:
                e.cpu_parent = by_id[e.parent]
                e.cpu_parent.cpu_children.append(e)
        return found

    def key_averages(
        self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False
    ):
        """The events by name, and by shapes when asked."""
        return self.events().key_averages(group_by_input_shape)

    def add_metadata(self, key, value):
        """Text that the trace is to carry under ``key``."""
        self._metadata[key] = str(value)

    def add_metadata_json(self, key, value):
        """The same for ``value`` that is JSON text; ValueError when it is not."""
        self._metadata[key] = json.loads(value)

    def export_chrome_trace(self, path):
        """Write the events as a trace for ``chrome://tracing``."""
        trace.write(self.events(), path, self._metadata)


class record_function:
    """A named block; usable as a decorator too."""

    def __init__(self, name, args=None):
        self.name, self._block = name, None

    def __enter__(self):
        self._block = events.block(self.name).__enter__()
        return self

    def __exit__(self, *_):
        if self._block is None:
            raise AssertionError("Expected record to be set")
        self._block.__exit__()

    def __call__(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with record_function(self.name):
                return function(*args, **kwargs)

        return wrapped


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """A handler that writes each recorded round as a trace into a folder."""

    def handler(prof):
        folder = pathlib.Path(dir_name)
        folder.mkdir(parents=True, exist_ok=True)
        ending = ".pt.trace.json" + (".gz" if use_gzip else "")
        prof.export_chrome_trace(folder / f"{worker_name or 'gradviz'}.{time.time_ns()}{ending}")

    return handler
