"""What is saved when a backward pass begins: that is where memory peaks. Weighed now and then, with
a small share of the time that passes.
"""

from __future__ import annotations

import time

from .graph import reach, saved_bytes

NODES = 3_000
SAVED = 0.01
SHARE = 0.01


class Peak:
    """``weigh(roots)`` gives the bytes that the graph of ``roots`` has saved, 0 when there is no
    time to look.
    """

    def __init__(self):
        self._left = SAVED
        self._then = time.perf_counter()

    def weigh(self, roots) -> int:
        """Bytes of saved tensors behind ``roots`` (nodes; leaves hold nothing)."""
        now = time.perf_counter()
        self._left = min(SAVED, self._left + SHARE * (now - self._then))
        self._then = now
        if self._left <= 0:
            return 0
        found = reach([root for root in roots if hasattr(root, "seq")], NODES)
        total = saved_bytes(found.nodes.values())
        self._left -= time.perf_counter() - now
        return total
