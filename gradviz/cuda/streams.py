"""Queues of work on a GPU, and points in them."""

from __future__ import annotations

from ..engine.device import Device, cuda, library, resolve

_current: dict[int, Stream] = {}


def _index(device):
    return library().current if device is None else resolve(Device(device)).index


class Stream:
    """A queue of work on a GPU: what is asked for under ``with cuda.stream(s):`` goes there."""

    def __init__(self, device=None, priority=0, **_):
        self.device_index = _index(device)
        self.priority = priority
        with library().on(self.device_index):
            self._raw = library().new_stream(priority)

    @property
    def device(self):
        """The GPU of the queue."""
        return cuda(self.device_index)

    def query(self):
        """Whether all work is done; waits to be sure."""
        self.synchronize()
        return True

    def synchronize(self):
        """Wait for all work in the queue."""
        library().wait(None, self.record_event()._raw)

    def record_event(self, event=None):
        """An event at the end of the queue."""
        event = Event() if event is None else event
        event.record(self)
        return event

    def wait_event(self, event):
        """Let later work wait for an event."""
        library().wait(self._raw, event._raw)

    def wait_stream(self, stream):
        """Let later work wait for what is now in another queue."""
        self.wait_event(stream.record_event())

    def __enter__(self):
        self._context = stream(self)
        self._context.__enter__()
        return self

    def __exit__(self, *error):
        return self._context.__exit__(*error)

    def __repr__(self):
        return f"<torch.cuda.Stream device={self.device}>"


class _Default(Stream):
    def __init__(self, index):
        self.device_index, self.priority, self._raw = index, 0, None


class Event:
    """A point in a queue: ``record()``, ``wait()``, ``synchronize()``, ``elapsed_time(end)``."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self._timed = enable_timing
        self._recorded = False
        self._raw = library().new_event(enable_timing)

    def record(self, stream=None):
        """Put the event at the end of a queue, the current one unless told."""
        stream = current_stream() if stream is None else stream
        library().record(self._raw, stream._raw)
        self._recorded = True

    def wait(self, stream=None):
        """Let later work of a queue wait for the event."""
        (current_stream() if stream is None else stream).wait_event(self)

    def query(self):
        """Whether all work before the event is done; waits to be sure."""
        self.synchronize()
        return True

    def synchronize(self):
        """Wait for all work before the event."""
        if self._recorded:
            library().wait(None, self._raw)

    def elapsed_time(self, end_event):
        """Milliseconds between two recorded events. ValueError unless both are recorded and
        timed.
        """
        if not (self._timed and end_event._timed):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not (self._recorded and end_event._recorded):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        end_event.synchronize()
        return library().elapsed(self._raw, end_event._raw)

    def __repr__(self):
        return "<torch.cuda.Event>" if self._recorded else "<torch.cuda.Event uninitialized>"


class stream:
    """``with cuda.stream(s):`` sends work to ``s`` inside the block; nothing for None."""

    def __init__(self, stream):
        self.stream = stream

    def __enter__(self):
        if self.stream is None:
            return
        index = self.stream.device_index
        self._before = _current.get(index)
        self._context = library().stream(self.stream._raw)
        self._context.__enter__()
        _current[index] = self.stream

    def __exit__(self, *error):
        if self.stream is None:
            return
        self._context.__exit__(*error)
        if self._before is None:
            del _current[self.stream.device_index]
        else:
            _current[self.stream.device_index] = self._before


def default_stream(device=None):
    """The queue of a GPU to which work goes unless told otherwise."""
    return _Default(_index(device))


def current_stream(device=None):
    """The queue to which work on a GPU goes now."""
    index = _index(device)
    return _current.get(index) or _Default(index)


def set_stream(stream_):
    """Send work to a queue from now on; nothing for None."""
    if stream_ is not None:
        stream(stream_).__enter__()
