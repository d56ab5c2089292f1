"""Gradients as they flow: the norm on every edge of the newest measured sweep, within a budget.

Measuring may take a share of the time that passes, saved up to ``SAVED`` seconds: a single backward
is always measured, the sweeps of a fast loop only now and then. What it takes is estimated.
"""

from __future__ import annotations

import math
import time

from gradviz.backend import DeviceArray

from .values import norm

EDGES = 20_000
SAVED = 0.02
SHARE, SHARE_SEEN = 0.04, 0.25
SECONDS_AN_EDGE, SECONDS_AN_ELEMENT = 5e-6, 5e-10


class Flow:
    """``norms``: (target, slot) -> norm of what the newest measured sweep sent along that edge.

    ``share``: of the time that passes, how much measuring may take.
    """

    def __init__(self):
        self.norms: dict[tuple[int, int], float] = {}
        self.share = SHARE
        self._left = SAVED
        self._then = time.perf_counter()

    def begin(self) -> bool:
        """A sweep starts; whether there is time to measure it."""
        now = time.perf_counter()
        self._left = min(SAVED, self._left + self.share * (now - self._then))
        self._then = now
        if self._left <= 0:
            return False
        self.norms = {}
        return True

    def spend(self, seconds: float):
        """So much of the time for measuring went elsewhere."""
        self._left -= seconds

    def left(self, node, grads):
        """``node`` has sent ``grads`` along its edges."""
        if len(self.norms) > EDGES:
            return
        for slot, grad in enumerate(grads):
            if grad is not None:
                array = getattr(grad, "_a", grad)
                if isinstance(array, DeviceArray):
                    continue  # reading it would wait for all work on the GPU
                self.norms[node.seq, slot] = _length(array)
                self._left -= SECONDS_AN_EDGE + SECONDS_AN_ELEMENT * array.size


def _length(array):
    """The norm; by the shortest way for the arrays that gradients usually are."""
    if array.dtype.char in "fd" and getattr(array, "flags", None) is not None:
        flat = array.ravel("K")  # a transposed gradient is not copied
        square = float(flat.dot(flat))
        if math.isfinite(square):
            return math.sqrt(square)
    return norm(array)
