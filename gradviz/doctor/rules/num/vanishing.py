"""GV404: the gradient vanishes on its way through many saturating layers."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import usable

SQUASHING = ("SigmoidBackward0", "TanhBackward0", "SoftmaxBackward0")
LAYERS = 5
RATIO = 1e-4
HOPS = 5


def look(case):
    """Five or more sigmoids or tanhs of one line, and the first layer's gradient is tiny beside the
    last one's.
    """
    for newest in case.graph.repeated(LAYERS):
        links = case.graph.chain(newest) if case.graph.op(newest) in SQUASHING else []
        norms = [norm for link in links if (norm := _norm(case, link)) is not None]
        if len(norms) < LAYERS or len({leaf for _, leaf in norms}) < LAYERS:
            continue
        (last, _), (first, leaf) = norms[0], norms[-1]
        if last > 0 and first < RATIO * last:
            place = case.place(case.graph.note(newest))
            fields = {"first": f"{first:.1e}", "last": f"{last:.1e}", "count": len(links)}
            yield RULE.found(case, [f"{case.named(leaf)}.grad"], place, None, [leaf], **fields)


def _norm(case, link):
    """(norm, serial) of the largest gradient of a matrix among the leaves between a layer and the
    one before it.
    """
    best, level = None, [link]
    for _ in range(HOPS):
        below = [(i, leaf) for node in level for _, i, leaf in case.graph.inputs(node)]
        for i, leaf in below:
            values = case.graph.grad_values(i) if leaf else None
            if usable(values) and values.ndim >= 2:
                best = max(best or (-1.0, i), (float(np.linalg.norm(values)), i))
        level = [i for i, leaf in below if not leaf and case.graph.op(i) not in SQUASHING]
    return best


RULE = Rule("GV404", "num.vanishing", "warning", look)
