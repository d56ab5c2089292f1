"""Gradients as they flow: the norm on every edge of the newest sweep, kept only while somebody
looks.
"""

from __future__ import annotations

from .values import norm

EDGES = 20_000


class Flow:
    """``norms``: (target, slot) -> norm of what the newest sweep sent along that edge."""

    def __init__(self):
        self.norms: dict[tuple[int, int], float] = {}

    def begin(self, sweep):
        """A sweep starts; older norms are of no use any more."""
        self.norms = {}

    def left(self, node, grads):
        """``node`` has sent ``grads`` along its edges."""
        if len(self.norms) > EDGES:
            return
        for slot, grad in enumerate(grads):
            if grad is not None:
                self.norms[node.seq, slot] = norm(getattr(grad, "_a", grad))
