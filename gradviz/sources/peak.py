"""What is saved when a backward pass begins: that is where memory peaks. Weighed now and then, with
a small share of the time that passes.
"""

from __future__ import annotations

import time

from . import reading
from .budget import Budget
from .graph import reach, saved_bytes

NODES, MAKERS = 3_000, 8
SAVED = 0.01
SHARE = 0.01


class Peak:
    """``weigh(roots)`` gives the bytes that the graph of ``roots`` has saved, 0 when there is no
    time to look. ``makers``: of the largest so far, (note, class, bytes) of the lines and
    operations that had saved most.
    """

    def __init__(self):
        self.makers: list[tuple] = []
        self._most = 0
        self._budget = Budget(SHARE, SAVED)

    def weigh(self, roots) -> int:
        """Bytes of saved tensors behind ``roots`` (nodes; leaves hold nothing)."""
        if not self._budget.has_some():
            return 0
        started = time.perf_counter()
        found = reach([root for root in roots if hasattr(root, "seq")], NODES)
        total = saved_bytes(found.nodes.values())
        if total > self._most:
            self._most, self.makers = total, _makers(found.nodes)
        self._budget.since(started)
        return total


def _makers(nodes):
    """The lines and operations whose saved tensors weigh most; a storage belongs to its first."""
    sizes: dict[tuple, int] = {}
    counted: set[int] = set()
    for seq in sorted(nodes):
        node = nodes[seq]
        key = getattr(node, "note", None), reading.class_name(node)
        for array in reading.saved_arrays(node) or ():
            whole, size = reading.memory(array)
            if whole not in counted:
                counted.add(whole)
                sizes[key] = sizes.get(key, 0) + size
    heaviest = sorted(sizes.items(), key=lambda item: -item[1])[:MAKERS]
    return [(note, name, size) for (note, name), size in heaviest]
