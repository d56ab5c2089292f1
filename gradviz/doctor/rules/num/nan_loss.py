"""GV402: a loss is not a number."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import results, usable

MOST = 10_000


def look(case):
    """A named scalar result is NaN; the oldest tensor with a name that it was computed from and
    that has NaN too is where to look.
    """
    for held, nan, _ in results(case):
        if nan and held.facts.shape == ():
            first = _first(case, held.facts.id)
            fields = {"name": held.path}
            if first is not None:
                code = first.facts.place.code.strip()
                fields |= {"variant": "first", "first": first.path, "code": code}
            ids = [held.facts.id] + ([first.facts.id] if first else [])
            yield RULE.found(case, [held.path], held.facts.place, None, ids, **fields)
            return


def _first(case, id):
    """The oldest held tensor below the node ``id`` that has NaN and a place, or None."""
    seen, waiting, found = {id}, [id], None
    while waiting and len(seen) < MOST:
        for _, below, _ in case.graph.inputs(waiting.pop()):
            if below in seen:
                continue
            seen.add(below)
            waiting.append(below)
            values = case.graph.values(below)
            if usable(values) and np.isnan(values).any() and (found is None or below < found):
                found = below
    if found is None:
        return None
    return next((held for held in case.paths_to(found) if held.facts.place is not None), None)


RULE = Rule("GV402", "num.nan-loss", "error", look)
