"""What stepping through a backward pass has in common for both engines: breakpoints and numbers."""

from __future__ import annotations

import math

import numpy as np

from gradviz.watch.model import Stats
from gradviz.watch.recording import PAUSED, Recording, Step

from .values import norm, stats

MOST = 2_000
TOLD_FULLY = 400


class Stepping:
    """A backward pass that is paused between two nodes. ``recording`` grows with each ``step``.

    ``stop_at``: ids of nodes to pause before; ``stop_norm``: a norm above which to pause,
    ``stop_nan``: pause when a gradient is not finite.
    """

    def __init__(self, recording: Recording):
        self.recording = recording
        self.stop_at: set[int] = set()
        self.stop_nan, self.stop_norm = True, math.inf
        self._tainted: set[int] = set()

    def step(self) -> Step | None:
        """Run one node. Raises what the pass raises; the recording then says ``failed``."""
        raise NotImplementedError

    @property
    def paused(self) -> bool:
        """True while there is something left to run."""
        return self.recording.state == PAUSED

    @property
    def following(self) -> int | None:
        """The id of the node that runs next."""
        done = len(self.recording.steps)
        plan = self.recording.plan
        return plan[done] if self.paused and done < len(plan) else None

    def play(self, to: int | None = None) -> int:
        """Run until ``to`` steps are done (default: all) or a breakpoint; how many are done."""
        goal = len(self.recording.plan) if to is None else to
        while self.paused and len(self.recording.steps) < goal:
            step = self.step()
            if (step is not None and step.stop) or self.following in self.stop_at:
                break
        return len(self.recording.steps)

    def stats(self, array) -> Stats:
        """Numbers of a gradient, an array of the host; of a long pass only norms."""
        array = np.asarray(array)
        if len(self.recording.plan) > TOLD_FULLY:
            return Stats(tuple(array.shape), str(array.dtype), norm=norm(array))
        return stats(array, str(array.dtype))

    def why_stop(self, step) -> str:
        """The breakpoint that ``step`` hits. Where a gradient was not finite when it was sent here,
        its origin has stopped the pass already.
        """
        explained = step.node in self._tainted
        self._tainted.update(one.target for one in step.sent if _unsound(one.grad))
        grads = [*step.arrived, *(one.grad for one in step.sent)]
        if self.stop_nan and not explained and any(map(_unsound, grads)):
            return "nan"
        norms = [grad.norm for grad in grads if grad is not None and grad.norm is not None]
        return "norm" if any(norm > self.stop_norm for norm in norms) else ""


def _unsound(found) -> bool:
    """Whether a gradient is there and is not finite."""
    if found is None:
        return False
    return bool(found.nan or found.inf or (found.norm and not math.isfinite(found.norm)))
