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
    if not any(usable(values) and values.any() for values in grads.values()):
        return
    for relu in case.graph.made_by("ReluBackward", "ClampMinBackward", "ThresholdBackward"):
        note = case.graph.note(relu)
        leaves = [
            leaf
            for leaf in _feeding(case, relu)
            if usable(grads.get(leaf)) and grads[leaf].size >= UNITS
        ]
        if leaves and note[:2] not in told and not any(np.any(grads[leaf]) for leaf in leaves):
            told.add(note[:2])
            output = case.graph.values(relu)
            if usable(output) and output.any():
                continue
            sure = usable(output) and output.shape[-1:] >= (MANY,)
            severity = "warning" if sure else "info"
            holders = [f"{case.named(leaf)}.grad" for leaf in leaves]
            yield RULE.found(case, holders, case.place(note), None, leaves, severity)


def _feeding(case, relu):
    """Leaves between a ReLU and the one before it."""
    out, level = [], [relu]
    for _ in range(HOPS):
        below = [(i, leaf) for node in level for _, i, leaf in case.graph.inputs(node)]
        out += [i for i, leaf in below if leaf]
        level = [i for i, leaf in below if not leaf and not case.graph.op(i).startswith("Relu")]
    return list(dict.fromkeys(out))


RULE = Rule("GV406", "num.dead-relu", "warning", look)
