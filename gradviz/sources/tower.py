"""f, f′, f″ … by differentiating the graph of the derivative again."""

from __future__ import annotations

from collections import Counter

import numpy as np

from gradviz.engine import events
from gradviz.engine.backward import grad
from gradviz.engine.dispatch import wrap
from gradviz.texts import text
from gradviz.watch.tower import Floor, Tower

from . import reading
from .graph import reach

POINTS = 161
MOST = 6


def tower(function, low: float, high: float, order: int) -> Tower:
    """The tower of ``function``, which takes and gives a tensor elementwise, from ``low`` to
    ``high``; nobody watches it being made. Raises what ``function`` raises; ValueError when it
    gives another shape.
    """
    with events.unwatched():
        return _tower(function, low, high, order)


def _tower(function, low, high, order):
    points = np.linspace(low, high, POINTS)
    x = wrap(points.copy())
    x.requires_grad_()
    found, y = Tower(points.tolist()), function(x)
    if getattr(y, "shape", None) != x.shape:
        raise ValueError(text("notebook.panel.elementwise"))
    for level in range(min(order, MOST) + 1):
        found.floors.append(_floor(level, y))
        if level < order:
            flat = reading.node_of(y) is None
            y = None if flat else grad(y.sum(), (x,), create_graph=True, allow_unused=True)[0]
        if y is None:
            found.floors.append(Floor(level + 1, [0.0] * POINTS))
            found.note = "constant"
            break
    return found


def _floor(level, y):
    node = reading.node_of(y)
    nodes = reach([node]).nodes.values() if node is not None else ()
    names = Counter(one.name() for one in nodes)
    values = [float(v) if np.isfinite(v) else None for v in np.broadcast_to(y._a, POINTS)]
    return Floor(level, values, len(nodes), dict(names.most_common()))
