"""GV401: a gradient is not a number."""

import math

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.history import best_first
from gradviz.doctor.numbers import arrived, results, scaled, usable


def look(case):
    """A leaf has a gradient with NaN or infinity, and no gradient scaler that would expect it."""
    lines = {}
    if scaled(case):
        return
    for held in best_first([h for h in case.held if h.facts.leaf and h.facts.grad]):
        values = case.graph.grad_values(held.facts.id)
        account = case.ledger.leaves.get(held.facts.own)
        if account is None or not account.run or not usable(values) or np.isfinite(values).all():
            continue
        sweep = case.ledger.sweep(account.run[-1][0])
        if (
            sweep is not None
            and sweep.note
            and not any(h.path == held.path for h in lines.get(sweep.note[:2], (0, []))[1])
        ):
            lines.setdefault(sweep.note[:2], (sweep, []))[1].append(held)
    first = _first(case, [h for _, group in lines.values() for h in group])
    for sweep, group in lines.values():
        holders = [f"{held.path}.grad" for held in group]
        place, fields = case.place(sweep.note), {}
        if first is not None:
            graph, node = first
            place = case.place(graph.note(node)) or place
            fields = {"variant": "first", "op": graph.op(node)}
        yield RULE.found(case, holders, place, None, [h.facts.id for h in group], **fields)


def _first(case, group):
    """(graph, node): what was given a finite gradient and sent on one that is not, to a leaf of
    ``group``, in a backward that was measured; where the values themselves are finite (else GV402
    and GV403 say where to look).
    """
    wanted = {held.facts.own for held in group}
    if wanted and any(nan or infinite for _, nan, infinite in results(case)):
        return None
    for graph in (case.past, case.graph) if wanted else ():
        known = ((seq, norm) for (seq, _), norm in graph.norms.items() if norm is not None)
        sent = {seq for seq, norm in known if not math.isfinite(norm)}
        came = arrived(graph) if sent else {}
        for seq in sorted(sent, reverse=True):
            if math.isfinite(came.get(seq, 0.0)) and graph.below(seq)[1] & wanted:
                return graph, seq
    return None


RULE = Rule("GV401", "num.nan-grad", "error", look)
