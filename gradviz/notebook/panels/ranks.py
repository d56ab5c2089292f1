"""``gradviz.RankTimeline``: the processes of a job, when their gradients came and travelled."""

from __future__ import annotations

import weakref

from gradviz.distributed import get_rank, is_initialized
from gradviz.export.words import size
from gradviz.texts import text
from gradviz.watch.plain import plain
from gradviz.watch.ranks import Rank, read, together

from .live import LivePanel


class RankTimeline(LivePanel):
    """The last backward of each process: when its gradients came, when the all-reduce of each
    bucket ran, and how much of that lay beside backward.

    ``what``: the reports that ``rank_report`` gave, one a process, in any order; a
    ``DistributedDataParallel``, which is not kept alive: this process, read anew after each cell;
    or what ``to_json`` gave. ``selected``: the first parameter of the chosen bucket. Raises
    TypeError for anything else, ValueError when a report is missing or comes twice.
    """

    kind = "ranks"

    def __init__(self, what, **settings):
        saved = what if isinstance(what, dict) else None
        self._ranks: list[Rank] = []
        self._model = None
        if hasattr(what, "timeline"):
            self._model = weakref.ref(what)
        elif saved is None:
            if isinstance(what, str) or not hasattr(what, "__iter__"):
                raise TypeError(text("notebook.panel.no_reports", type=type(what).__name__))
            self._ranks = together(what)
        super().__init__(saved, **settings)

    def read(self):
        """One entry a process."""
        model = self._model() if self._model else None
        if model is not None:
            rank = get_rank() if is_initialized() else 0
            report = {"rank": rank, "size": 1, "graph": {}, "timeline": model.timeline()}
            self._ranks = [read(report)]
        return {"ranks": [_told(rank) for rank in self._ranks]}

    def lines(self):
        """A process a line."""
        return [
            text(
                "notebook.panel.rank",
                rank=rank["rank"],
                buckets=len(rank["buckets"]),
                bytes=size(sum(bucket["bytes"] for bucket in rank["buckets"])),
                ms=f"{rank['computed'] * 1e3:.3g}",
                share=round(rank["hidden"] * 100),
            )
            for rank in self._values.get("ranks", [])
        ]


def _told(rank):
    found = plain(rank) | {"computed": rank.computed, "hidden": rank.hidden}
    found["nodes"] = len(found.pop("graph").get("nodes", ()))
    return found
