"""``memory()``: how many bytes are what, now; after each cell; at the peak."""

from __future__ import annotations

from gradviz.export.words import size
from gradviz.sources.interest import Interest
from gradviz.sources.weight import KINDS, weigh
from gradviz.texts import text
from gradviz.watch.holders import walk

from .answer import Answer, table
from .moment import Moment, asking, now

MAKERS = 3


class Memory(Answer):
    """``kinds``: bytes by kind, ``total`` their sum. ``modules``: path -> kind -> bytes.
    ``cells``: (execution count, bytes by kind) after each cell. ``steps``: (cell, line, bytes saved
    when it began) of the backward passes that were weighed. ``peak``: the same of the largest, its
    bytes first, or None; ``makers``: (operation, place, bytes) of what had saved most then.
    """

    def __init__(self, weights, cells, steps=(), peak=None, where="", makers=()):
        rows = [
            {"kind": text(f"ask.memory.{kind}"), "bytes": weights.kinds[kind]} for kind in KINDS
        ]
        drawn = [row | {"bytes": size(row["bytes"])} for row in rows if row["bytes"]]
        said = [text("ask.memory.head", total=size(weights.total), nodes=weights.nodes)]
        after = [] if peak is None else [text("ask.memory.peak", bytes=size(peak[0]), place=where)]
        after += [text("ask.memory.maker", name=n, place=p, bytes=size(b)) for n, p, b in makers]
        if not weights.complete:
            after.append(text("ask.memory.part"))
        super().__init__("\n".join(filter(None, [*said, table(drawn)])), rows, drawn, after)
        self.kinds, self.total, self.modules = weights.kinds, weights.total, weights.modules
        self.cells, self.steps, self.peak, self.makers = cells, list(steps), peak, list(makers)


def memory() -> Memory:
    """Bytes of parameters, gradients, optimiser state, saved tensors, retained gradients, buffers
    that ``retain_graph`` keeps, and others: every storage that a name leads to, counted once.
    """
    return memory_at(now(asking()))


def memory_at(moment: Moment) -> Memory:
    """The bytes at a moment; for callers that know it."""
    source, ledger = moment.source, moment.source.ledger
    weights = weigh(walk(moment.roots, Interest()), ledger.kept_roots())
    trace = source.recorder.trace
    cells = [(cell.count, dict(cell.bytes)) for cell in trace.cells if cell.bytes]
    weighed = [sweep for sweep in ledger.sweeps if sweep.bytes]
    if not weighed:
        return Memory(weights, cells)
    places = [source.places.place(*sweep.note[:2]) if sweep.note else None for sweep in weighed]
    steps = [
        (place.cell if place else None, place.line if place else None, sweep.bytes)
        for sweep, place in zip(weighed, places, strict=True)
    ]
    at = max(range(len(steps)), key=lambda i: steps[i][2])
    cell, line, most = steps[at]
    makers = [(name, _where(moment, place), held) for place, name, held in source.makers()]
    where = _where(moment, places[at])
    return Memory(weights, cells, steps, (most, cell, line), where, makers[:MAKERS])


def _where(moment, place):
    return text("notebook.place.none") if place is None else moment.where(place)
