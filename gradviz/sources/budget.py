"""A share of the time that passes, for looking at what a program does while it runs."""

from __future__ import annotations

import time


class Budget:
    """``share``: how much of the time that passes may be spent, saved up to ``saved`` seconds."""

    __slots__ = ("_then", "left", "saved", "share")

    def __init__(self, share: float, saved: float):
        self.share, self.saved = share, saved
        self.left, self._then = saved, time.perf_counter()

    def has_some(self) -> bool:
        """Whether anything is left now."""
        now = time.perf_counter()
        self.left = min(self.saved, self.left + self.share * (now - self._then))
        self._then = now
        return self.left > 0

    def since(self, started: float):
        """What has been done since ``started``, a time of ``perf_counter``, was done with it."""
        self.left -= time.perf_counter() - started
