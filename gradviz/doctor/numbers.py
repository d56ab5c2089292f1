"""Numbers that went wrong: which held tensors have NaN or infinity."""

from __future__ import annotations

import math

import numpy as np

from gradviz.watch.case import Case, Held

WHOLE = 4_000_000


def usable(values) -> bool:
    """An array of floats that is small enough to be looked through."""
    return values is not None and values.dtype.kind in "fc" and values.size <= WHOLE


def scaled(case: Case) -> bool:
    """A gradient scaler is in use: infinities in gradients are its business."""
    return any("_growth_factor" in holding.thing.__dict__ for holding in case.objects)


def arrived(graph) -> dict[int, float]:
    """Serial -> norm of the gradient that came there (at most: the sum over what it came from),
    of the nodes and leaves of a graph, in backward passes that were measured; NaN where one is not
    known.
    """
    out: dict[int, float] = {}
    for seq in {seq for seq, _ in graph.norms}:
        for slot, source, _ in graph.inputs(seq):
            if (seq, slot) in graph.norms:
                norm = graph.norms[seq, slot]
                out[source] = out.get(source, 0.0) + (math.nan if norm is None else norm)
    return out


def results(case: Case):
    """(held, has NaN, has infinity) of named results, oldest first."""
    seen = set()
    found: list[Held] = [
        h
        for h in case.held
        if h.facts.attached and h.category in ("name", "attribute", "container")
    ]
    for held in sorted(found, key=lambda h: (h.facts.id, len(h.path))):
        values = case.graph.values(held.facts.id) if held.facts.id not in seen else None
        seen.add(held.facts.id)
        if usable(values):
            yield held, bool(np.isnan(values).any()), bool(np.isinf(values).any())
