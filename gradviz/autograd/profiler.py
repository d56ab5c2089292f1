"""``torch.autograd.profiler``: the older names of ``gradviz.profiler``."""

from __future__ import annotations

import contextlib

from ..profiler import EventList, FunctionEvent, FunctionEventAvg, record_function
from ..profiler import profile as _profile

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "emit_itt",
    "emit_nvtx",
    "kineto_available",
    "profile",
    "record_function",
]


def kineto_available():
    """True: ``profile`` works."""
    return True


class profile(_profile):
    """``with profile() as prof:`` counts and times recorded operations; with ``enabled=False`` it
    does nothing, and ``prof`` is None. Other options are accepted. RuntimeError when it is entered
    a second time.
    """

    def __init__(self, enabled=True, *, use_device=None, use_cpu=True, use_kineto=True, **options):
        super().__init__(**options)
        self.enabled, self._entered = enabled, False

    def __enter__(self):
        if not self.enabled:
            return None
        if self._entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        self._entered = True
        return super().__enter__()

    def __exit__(self, *exc):
        if self.enabled:
            super().__exit__(*exc)

    @property
    def function_events(self):
        """All events; none before there are any."""
        return EventList() if self._recorder is None else self.events()

    def key_averages(self, group_by_input_shape=False, *_, **__):
        """The events by name, and by shapes when asked."""
        return self.function_events.key_averages(group_by_input_shape)

    def total_average(self):
        """All events as one."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self):
        """Microseconds of all events."""
        return self.function_events.self_cpu_time_total

    def table(self, sort_by=None, row_limit=100, **options):
        """The events as text."""
        return self.function_events.table(sort_by, row_limit, **options)

    def __repr__(self):
        return repr(self.function_events)

    def __str__(self):
        return self.table()


class emit_nvtx(contextlib.nullcontext):
    """Accepted where there is a GPU: no tool is told."""

    def __init__(self, enabled=True, record_shapes=False):
        super().__init__(self)
        self.enabled = enabled

    def __enter__(self):
        if self.enabled:
            from ..cuda import synchronize

            synchronize()
        return self


class emit_itt(contextlib.nullcontext):
    """Accepted: there is no tool to tell."""

    def __init__(self, enabled=True, record_shapes=False):
        super().__init__(self)
