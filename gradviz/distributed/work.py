"""The handle of a collective that is under way."""

from __future__ import annotations

import time

from ..engine.events import door
from ..futures import Future

LOOK_AROUND = 0.25
LONGEST_PAUSE = 2e-3


class DistError(RuntimeError):
    """Something went wrong between processes."""


class DistBackendError(DistError):
    """A collective did not end."""


class Work:
    """``wait()`` for it; ``finish(value)`` is called once, when the value is there."""

    def __init__(self, name, pending, transport, timeout, finish, nbytes=0):
        self.name, self.nbytes = name, nbytes
        self.started, self.ended = time.perf_counter(), None
        self._pending, self._transport, self._timeout = pending, transport, timeout
        self._finish, self._result, self._error = finish, None, None
        self._future = None

    def is_completed(self):
        """Whether it is done; makes progress."""
        if self.ended is None and self._pending.poll():
            self._complete()
        return self.ended is not None

    def _complete(self):
        self.ended = time.perf_counter()
        self._result = self._finish(self._pending)
        self._finish = self._pending = None
        if door.observer is not None:
            door.observer.communicated(self.name, self.nbytes, self.started, self.ended)
        if self._future is not None:
            self._future.set_result(self._result)

    def wait(self, timeout=None):
        """True when it is done; DistBackendError when it takes longer than the group's timeout,
        RuntimeError when a rank that is waited for is gone."""
        limit = self._timeout if timeout is None else timeout.total_seconds()
        began = looked = time.monotonic()
        pause = 0.0
        while not self.is_completed():
            now = time.monotonic()
            if now - looked > LOOK_AROUND:
                looked = now
                self._look_around(now - began, limit)
            time.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5 + 1e-6)
        return True

    def _look_around(self, seconds, limit):
        waited = self._pending.missing()
        try:
            self._transport.check(waited)
            if seconds > limit:
                whom = f" from rank {', '.join(map(str, waited))}" if waited else ""
                raise DistBackendError(
                    f"Timed out waiting {limit * 1000:.0f}ms for {self.name} operation to complete"
                    + whom
                )
        except RuntimeError as error:
            self._error = error
            raise

    def result(self):
        """The tensors of a work that is done."""
        self.wait()
        return self._result

    def is_success(self):
        """Whether it is done and nothing went wrong."""
        return self.is_completed() and self._error is None

    def exception(self):
        """What went wrong, or None."""
        return self._error

    def source_rank(self):
        """Who sent, for a receive."""
        return self._result

    def get_future(self):
        """A future of the list of tensors that are filled."""
        if self._future is None:
            self._future = Future(pull=self.wait)
            if self.ended is not None:
                self._future.set_result(self._result)
        return self._future
