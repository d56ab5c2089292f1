"""``gradviz.futures``: results that are to come, as in ``torch.futures``."""

from __future__ import annotations

import threading


class Future:
    """A value that somebody sets later. ``pull`` is called by ``wait`` to bring it about, where
    nobody else would."""

    def __init__(self, *, devices=None, pull=None):
        self._event, self._pull = threading.Event(), pull
        self._value = self._error = None
        self._callbacks = []

    def done(self):
        """Whether value or error is there."""
        return self._event.is_set()

    def wait(self):
        """The value; raises the error that was set."""
        if not self.done() and self._pull is not None:
            self._pull()
        self._event.wait()
        return self.value()

    def value(self):
        """The value of a future that is done; RuntimeError when it is not."""
        if not self.done():
            raise RuntimeError("Future is not done: wait() for it first")
        if self._error is not None:
            raise self._error
        return self._value

    def set_result(self, result):
        """Make the future done; RuntimeError when it is already."""
        self._finish(result, None)

    def set_exception(self, result):
        """Make the future done with an error."""
        self._finish(None, result)

    def _finish(self, value, error):
        if self.done():
            raise RuntimeError(
                "Future can only be marked completed once: Attempting to mark a completed "
                "Future as "
                "complete again. Note that a Future can only be marked completed once."
            )
        self._value, self._error = value, error
        self._event.set()
        callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback(self)

    def add_done_callback(self, callback):
        """Call ``callback(self)`` when it is done, at once when it is already."""
        if self.done():
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback):
        """A future of what ``callback(self)`` gives."""
        following = Future(pull=self.wait if self._pull is not None else None)

        def go_on(done):
            try:
                following.set_result(callback(done))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(go_on)
        return following


def collect_all(futures):
    """A future of the list of futures, done when all are."""
    together = Future(pull=lambda: [f.wait() for f in futures])
    left = len(futures)

    def one(_):
        nonlocal left
        left -= 1
        if not left:
            together.set_result(list(futures))

    if not futures:
        together.set_result([])
    for future in futures:
        future.add_done_callback(one)
    return together


def wait_all(futures):
    """The values of all futures, in order."""
    return [future.wait() for future in futures]
