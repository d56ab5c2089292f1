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
    told = set()
    for graph in (case.graph, case.past):
        for newest in graph.repeated(LAYERS):
            place = case.place(graph.note(newest))
            line = case.cells.line(place)
            found = _layers(graph, newest) if line not in told else ()
            if found:
                told.add(line)
                (last, _), (first, leaf), count = found
                fields = {"first": f"{first:.1e}", "last": f"{last:.1e}", "count": count}
                yield RULE.found(case, [f"{case.named(leaf)}.grad"], place, None, [leaf], **fields)


def _layers(graph, newest):
    """The (norm, serial) of the last and of the first layer's gradient, and how many layers there
    are, where it vanishes on the way.
    """
    links = graph.chain(newest) if graph.op(newest) in SQUASHING else []
    norms = [norm for link in links if (norm := _norm(graph, link)) is not None]
    if len(norms) < LAYERS or len({leaf for _, leaf in norms}) < LAYERS:
        return ()
    last, first = norms[0], norms[-1]
    return (last, first, len(links)) if last[0] > 0 and first[0] < RATIO * last[0] else ()


def _norm(graph, link):
    """(norm, serial) of the largest gradient of a matrix among the leaves between a layer and the
    one before it.
    """
    best, level = None, [link]
    for _ in range(HOPS):
        below = [(i, leaf) for node in level for _, i, leaf in graph.inputs(node)]
        for i, leaf in below:
            values = graph.grad_values(i) if leaf else None
            if usable(values) and values.ndim >= 2:
                best = max(best or (-1.0, i), (float(np.linalg.norm(values)), i))
        level = [i for i, leaf in below if not leaf and graph.op(i) not in SQUASHING]
    return best


RULE = Rule("GV404", "num.vanishing", "warning", look)
