"""``memory()``: how many bytes are what, now; after each cell; at the peak."""

from __future__ import annotations

from gradviz.export.words import size
from gradviz.sources.interest import Interest
from gradviz.sources.weight import KINDS, weigh
from gradviz.texts import text
from gradviz.watch.holders import walk

from .answer import Answer, table
from .moment import Moment, asking, now

SHOWN = 12


class Memory(Answer):
    """``kinds``: bytes by kind, ``total`` their sum. ``modules``: path -> kind -> bytes.
    ``cells``: (execution count, bytes by kind) after each cell. ``peak``: (bytes, cell, line) of
    the largest backward pass that was weighed, or None.
    """

    def __init__(self, weights, cells, peak, where):
        rows = [
            {"kind": text(f"ask.memory.{kind}"), "bytes": weights.kinds[kind]} for kind in KINDS
        ]
        drawn = [row | {"bytes": size(row["bytes"])} for row in rows if row["bytes"]]
        said = [text("ask.memory.head", total=size(weights.total), nodes=weights.nodes)]
        after = [] if peak is None else [text("ask.memory.peak", bytes=size(peak[0]), place=where)]
        if not weights.complete:
            after.append(text("ask.memory.part"))
        super().__init__("\n".join(filter(None, [*said, table(drawn)])), rows, drawn, after)
        self.kinds, self.total, self.modules = weights.kinds, weights.total, weights.modules
        self.cells, self.peak = cells, peak


def memory() -> Memory:
    """Bytes of parameters, gradients, optimiser state, saved tensors, retained gradients, buffers
    that ``retain_graph`` keeps, and others: every storage that a name leads to, counted once.
    """
    return memory_at(now(asking()))


def memory_at(moment: Moment) -> Memory:
    """The bytes at a moment; for callers that know it."""
    source, ledger = moment.source, moment.source.ledger
    weights = weigh(walk(moment.roots, Interest()), ledger.retained_roots())
    trace = source.recorder.trace
    cells = [(cell.count, dict(cell.bytes)) for cell in trace.cells if cell.bytes]
    best = max(ledger.sweeps, key=lambda sweep: sweep.bytes, default=None)
    if best is None or not best.bytes:
        return Memory(weights, cells, None, "")
    place = source.places.place(*best.note[:2]) if best.note else None
    where = text("notebook.place.none") if place is None else moment.where(place)
    peak = best.bytes, place.cell if place else None, place.line if place else None
    return Memory(weights, cells, peak, where)
