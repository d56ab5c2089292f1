"""``why_alive(x)``: every path that keeps a tensor, and so its graph, alive."""

from __future__ import annotations

import gc

from gradviz.sources import reading
from gradviz.sources.graph import reach
from gradviz.sources.interest import Interest
from gradviz.texts import catalogue, text
from gradviz.watch.holders import walk
from gradviz.watch.links import category
from gradviz.watch.names import rank

from .answer import Answer, table
from .moment import Moment, asking, now

PATHS = 50
LIMIT = 100_000
REFERRERS = 8


class WhyAlive(Answer):
    """``paths``: expressions that hold it, the one a person would use first; ``rows`` say how."""

    def __init__(self, name, rows, complete):
        key = "none" if not rows else "found" if complete else "cut_short"
        head = text(f"ask.alive.{key}", name=name, count=len(rows))
        super().__init__(head + ("\n" + table(rows) if rows else ""), rows)
        self.paths = [row["holder"] for row in rows]


def why_alive(x, referrers: bool = False) -> WhyAlive:
    """Which names, containers, closures, hooks, tracebacks … keep ``x`` alive, itself or through
    a graph that was computed from it.

    ``x`` is a tensor or a ``grad_fn``. ``referrers``: ask the collector too, when no path was found
    (slow: it looks through every object). Raises TypeError for anything else.
    """
    found = alive_at(checked(x), now(asking()))
    if not found.rows and referrers:
        found.rows = [{"holder": kind, "how": "", "steps": 0} for kind in _referrers(x)]
    return found


def checked(x):
    """``x``, if it is a tensor or a node of a graph; TypeError if not."""
    if not (reading.is_tensor(x) or reading.is_node(x) or reading.are_nodes(type(x))):
        raise TypeError(text("ask.needs_tensor", type=type(x).__name__))
    return x


def alive_at(x, moment: Moment) -> WhyAlive:
    """The paths to ``x`` at a moment; for callers that know it."""
    found = walk(moment.roots, Interest())
    tensors = [one for one in found.holdings if _is_of_a_graph(one.thing)]
    node, tops = reading.node_behind(x), [reading.node_behind(one.thing) for one in tensors]
    away = _distances(node, tops) if node is not None else {}
    rows = []
    for one in tensors:
        itself = one.thing is x
        above = reading.node_behind(one.thing)
        if itself or (above is not None and above.seq in away):
            rows.append((rank(one.steps, one.path), _row(one, itself, above, away)))
    rows.sort(key=lambda item: (item[1]["steps"], item[0]))
    name = next((one.path for one in tensors if one.thing is x), text("ask.it"))
    return WhyAlive(name, [row for _, row in rows[:PATHS]], len(rows) <= PATHS and found.complete)


def _is_of_a_graph(thing):
    return reading.is_tensor(thing) or reading.are_nodes(type(thing))


def _row(one, itself, above, away):
    steps = 0 if itself else away[above.seq]
    kind = category(one.steps)
    how = text("ask.alive.itself") if itself else text("ask.alive.through", steps=steps)
    return {"holder": one.path, "kind": _kind(kind), "how": how, "steps": steps}


def _kind(kind):
    known = f"kind.{kind}" in catalogue("ask")
    return text(f"ask.kind.{kind if known else 'name'}")


def _distances(node, tops):
    """serial -> operations between, for every node above ``node`` that ``tops`` reach."""
    whole = reach([top for top in tops if top is not None], LIMIT).nodes
    users: dict[int, list[int]] = {}
    for seq, one in whole.items():
        for source in reading.inputs(one):
            if source.__class__ is tuple:
                users.setdefault(source[0].seq, []).append(seq)
    out, level, far = {node.seq: 0}, [node.seq], 0
    while level:
        far += 1
        level = [up for seq in level for up in users.get(seq, ()) if up not in out]
        out.update(dict.fromkeys(level, far))
    return out


def _referrers(x):
    """What kinds of objects refer to ``x``, most telling first; frames of ours left out."""
    kinds = [type(o).__name__ for o in gc.get_referrers(x) if type(o).__name__ != "frame"]
    return sorted(set(kinds), key=kinds.count, reverse=True)[:REFERRERS]
