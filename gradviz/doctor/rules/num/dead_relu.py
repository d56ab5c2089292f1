"""GV406: a layer of rectified units never fires, so its weights get no gradient."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import usable

HOPS = 4
UNITS = 2
MANY = 8  # a few units may all be negative by chance


def look(case):
    """All gradients of the weights that feed a ReLU are exactly zero, while later layers learn; for
    sure when its result is still there and zero.
    """
    told = set()
    grads = {
        h.facts.own: case.graph.grad_values(h.facts.id)
        for h in case.held
        if h.facts.leaf and h.facts.grad
    }
    learns = any(usable(values) and values.any() for values in grads.values())
    for graph in (case.graph, case.past) if grads else ():
        for relu in graph.made_by("ReluBackward", "ClampMinBackward", "ThresholdBackward"):
            line = case.cells.line(case.place(graph.note(relu)))
            leaves = [
                leaf
                for leaf in _feeding(graph, relu)
                if usable(grads.get(leaf)) and grads[leaf].size >= UNITS
            ]
            if not leaves or line in told or any(np.any(grads[leaf]) for leaf in leaves):
                continue
            output = graph.values(relu)
            sure = usable(output) and not output.any() and output.shape[-1:] >= (MANY,)
            told.add(line)
            if sure or (learns and not (usable(output) and output.any())):
                holders = [f"{case.named(leaf)}.grad" for leaf in leaves]
                place = case.place(graph.note(relu))
                severity = "warning" if sure else "info"
                yield RULE.found(case, holders, place, None, leaves, severity)


def _feeding(graph, relu):
    """Leaves between a ReLU and the one before it."""
    out, level = [], [relu]
    for _ in range(HOPS):
        below = [(i, leaf) for node in level for _, i, leaf in graph.inputs(node)]
        out += [i for i, leaf in below if leaf]
        level = [i for i, leaf in below if not leaf and not graph.op(i).startswith("Relu")]
    return list(dict.fromkeys(out))


RULE = Rule("GV406", "num.dead-relu", "warning", look)
