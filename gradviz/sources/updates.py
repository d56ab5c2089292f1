"""How far each step moves each weight: a sample of a weight when its gradient has arrived, compared
with the same elements when the next backward begins.
"""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np

from . import reading
from .values import norm

SAMPLE, LEAST = 256, 16
KEPT, LEAVES = 20, 500


class Updates:
    """``ratios``: serial of a leaf -> norm of its last changes over its norm before them."""

    def __init__(self):
        self.ratios: dict[int, deque] = {}
        self._before: dict[int, tuple] = {}

    def sample(self, leaf):
        """Remember some elements of ``leaf``, if it is a matrix or more in host memory."""
        array, id = reading.value(leaf), reading.leaf_id(leaf)
        if array.__class__ is np.ndarray and array.dtype.kind == "f" and array.ndim > 1:
            if array.size >= LEAST and id not in self._before and len(self._before) < LEAVES:
                self._before[id] = weakref.ref(leaf), _some(array)

    def compare(self):
        """How far the remembered leaves have moved; what did not move tells nothing."""
        waiting, self._before = self._before, {}
        for id, (ref, before) in waiting.items():
            leaf = ref()
            after = _some(reading.value(leaf)) if leaf is not None else before
            size = norm(before)
            if size and after.shape == before.shape and (after != before).any():
                if len(self.ratios) >= LEAVES and id not in self.ratios:
                    del self.ratios[next(iter(self.ratios))]
                ratio = norm(after - before) / size
                self.ratios.setdefault(id, deque(maxlen=KEPT)).append(ratio)


def _some(array):
    return array.flat[:: max(1, array.size // SAMPLE)]
