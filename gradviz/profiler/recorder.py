"""The observer that notes when things began and ended."""

from __future__ import annotations

import functools
import itertools
import re
import threading
import time
from dataclasses import dataclass, field
from typing import NamedTuple

from ..engine import events
from .averages import Written

OPERATION, BACKWARD, ACCUMULATE, COMMUNICATION, BLOCK = (
    "cpu_op",
    "backward",
    "accumulate",
    "communication",
    "user_annotation",
)
EVALUATE = "autograd::engine::evaluate_function: "
SYNCHRONISING = {
    "item": "aten::item",
    "bool": "aten::item",
    "tolist": "aten::item",
    "numpy": "aten::numpy",
    "integer": "aten::item",
}


class Interval(NamedTuple):
    """From when to when, in microseconds."""

    start: float
    end: float

    def elapsed_us(self):
        """How long."""
        return self.end - self.start


@dataclass(slots=True)
class FunctionEvent(Written):
    """One thing that ran: seconds of ``perf_counter``, the number of the block around it."""

    id: int
    name: str
    kind: str
    start: float
    end: float = 0.0
    parent: int | None = None
    thread: int = 0
    sequence_nr: int = -1
    input_shapes: list = field(default_factory=list)
    cpu_memory_usage: int = 0
    inner: float = 0.0
    count: int = 1
    cpu_children: list = field(default_factory=list)
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    is_async: bool = False
    is_remote: bool = False
    scope: int = 0

    @property
    def key(self):
        """The name, under which events are counted together."""
        return self.name

    @property
    def time_range(self):
        """When it ran."""
        return Interval(self.start * 1e6, self.end * 1e6)

    @property
    def cpu_time_total(self):
        """Microseconds."""
        return (self.end - self.start) * 1e6

    cpu_time = cpu_time_total

    @property
    def self_cpu_memory_usage(self):
        """Bytes without the events inside."""
        return self.cpu_memory_usage - sum(e.cpu_memory_usage for e in self.cpu_children)

    @property
    def self_cpu_time_total(self):
        """Microseconds without the events inside."""
        return max(0.0, self.cpu_time_total - self.inner * 1e6)


class Recorder(events.Observer):
    """Notes events, and passes everything on to the observer that was there before."""

    everything = True

    def __init__(self, shapes, memory):
        self.shapes, self.memory, self.before = shapes, memory, None
        self.events, self._open, self._ids = [], [], itertools.count(1)
        self.last = time.perf_counter()

    # ------------------------------------------------------------ keeping
    def _note(self, name, kind, start, end, **more):
        parent = self._open[-1] if self._open else None
        event = FunctionEvent(
            next(self._ids),
            name,
            kind,
            start,
            end,
            None if parent is None else parent.id,
            threading.get_ident(),
            **more,
        )
        if parent is not None:
            parent.inner += end - start
        self.events.append(event)
        self.last = time.perf_counter()

    def open(self, name, kind, sequence_nr=-1):
        """Something begins; events until ``close`` lie in it."""
        parent = self._open[-1].id if self._open else None
        event = FunctionEvent(
            next(self._ids),
            name,
            kind,
            time.perf_counter(),
            parent=parent,
            thread=threading.get_ident(),
            sequence_nr=sequence_nr,
        )
        self.events.append(event)
        self._open.append(event)
        self.last = event.start

    def close(self):
        """The innermost thing that is open ends."""
        if not self._open:
            return
        event = self._open.pop()
        event.end = self.last = time.perf_counter()
        if self._open:
            self._open[-1].inner += event.end - event.start

    def finish(self):
        """End what is still open."""
        while self._open:
            self.close()

    # ------------------------------------------------------------ events of the engine
    def block_entered(self, name):
        self.open(name, BLOCK)

    def block_left(self, name):
        self.close()

    def operation(self, output, inputs):
        node = events.node_of(output[0] if isinstance(output, tuple) else output)
        self._ran(type(node).__name__, output, inputs, getattr(node, "seq", -1))

    def untracked(self, name, output, inputs):
        self._ran(name, output, inputs, -1)

    def _ran(self, made, output, inputs, sequence_nr):
        name = _operation(made)
        if any(output is x for x in inputs):
            name += "_"
        self._note(
            name,
            OPERATION,
            self.last,
            time.perf_counter(),
            sequence_nr=sequence_nr,
            input_shapes=[[] if t is None else list(t.shape) for t in inputs]
            if self.shapes
            else [],
            cpu_memory_usage=events.allocated(output, inputs) if self.memory else 0,
        )

    def cut(self, source, result, how):
        if how in SYNCHRONISING:
            self._note(SYNCHRONISING[how], OPERATION, self.last, time.perf_counter())

    def node_entered(self, sweep, node, grads):
        for name in (EVALUATE + type(node).__name__, type(node).__name__):
            self.open(name, BACKWARD, getattr(node, "seq", -1))

    def node_left(self, sweep, node, grads):
        for _ in range(2):
            if self._open and self._open[-1].kind == BACKWARD:
                self.close()

    def accumulated(self, sweep, leaf, grad):
        name, started, now = "torch::autograd::AccumulateGrad", self.last, time.perf_counter()
        self._note(EVALUATE + name, ACCUMULATE, started, now)
        self._open.append(self.events[-1])
        self._note(name, ACCUMULATE, started, now)
        self._open.pop()

    def backward_failed(self, sweep, error):
        while self._open and self._open[-1].kind == BACKWARD:
            self.close()

    def communicated(self, what, nbytes, started, ended):
        more = {"cpu_memory_usage": nbytes} if self.memory else {}
        self._note(f"gradviz::{what}", COMMUNICATION, started, ended, **more)


@functools.cache
def _operation(node):
    """PyTorch's name of the operation that makes a node: ``aten::log_softmax``."""
    stem = re.sub(r"Backward(s|\d*)", "", node)
    return "aten::" + re.sub(r"(?<=.)(?=[A-Z][a-z])", "_", stem).lower()


def _passing(name, own):
    def both(self, *args):
        if self.before is not None:
            getattr(self.before, name)(*args)
        return own(self, *args)

    return both


for _name in [n for n, f in vars(events.Observer).items() if callable(f)]:
    setattr(Recorder, _name, _passing(_name, getattr(Recorder, _name)))
