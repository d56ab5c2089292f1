"""Several processes that train together: what each says of itself, side by side. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field

from gradviz.texts import text


@dataclass(slots=True)
class Bucket:
    """Gradients that travelled together. Times are seconds since the forward ended: when each
    parameter's gradient came (None: it was not used), when the all-reduce began and ended.
    """

    number: int
    parameters: list[str]
    bytes: int
    arrived: list[float | None]
    started: float
    ended: float


@dataclass(slots=True)
class Rank:
    """One process: ``rank`` of ``size``, its last backward's buckets, its graph as a trace's
    JSON."""

    rank: int
    size: int
    buckets: list[Bucket] = field(default_factory=list)
    graph: dict = field(default_factory=dict)

    @property
    def computed(self) -> float:
        """When the last gradient had come."""
        return max((t for b in self.buckets for t in b.arrived if t is not None), default=0.0)

    @property
    def hidden(self) -> float:
        """The share of the time of all-reduces that lay beside backward, between 0 and 1."""
        total = sum(b.ended - b.started for b in self.buckets)
        beside = sum(max(0.0, min(b.ended, self.computed) - b.started) for b in self.buckets)
        return beside / total if total > 0 else 0.0


def read(report: dict) -> Rank:
    """A ``Rank`` from the plain data of one process; KeyError or TypeError when it is none."""
    buckets = [
        Bucket(
            int(row["bucket"]),
            [str(name) for name in row["parameters"]],
            int(row["bytes"]),
            [None if t is None else float(t) for t in row["arrived"]],
            float(row["started"]),
            float(row["ended"]),
        )
        for row in report["timeline"]
    ]
    return Rank(int(report["rank"]), int(report["size"]), buckets, dict(report["graph"]))


def together(reports) -> list[Rank]:
    """The processes of one job in order; ValueError when one is missing or comes twice."""
    ranks = sorted((read(report) for report in reports), key=lambda r: r.rank)
    if not ranks or [r.rank for r in ranks] != list(range(ranks[0].size)):
        found = ", ".join(str(r.rank) for r in ranks)
        raise ValueError(text("notebook.ranks_wrong", found=found))
    return ranks
