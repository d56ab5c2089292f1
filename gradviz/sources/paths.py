"""Why a gradient is the number it is: what came along each path from the root to the leaf."""

from __future__ import annotations

from gradviz.engine import events
from gradviz.engine.gradients import fit
from gradviz.engine.operation import RAW
from gradviz.watch.recording import PathShare, Why

from .values import stats

MOST_PATHS = 24
MOST_NODES = 300


def explain(seeds, leaves) -> list[Why]:
    """One ``Why`` for each of ``leaves`` (id to tensor). ``seeds``: (node, gradient array) of each
    root; their saved tensors must be there still. Graphs of more than 300 nodes are not explained.
    """
    order = _reached([node for node, _ in seeds])
    if order is None:
        return []
    return [_why(seeds, order, id, leaf) for id, leaf in leaves.items()]


def _reached(roots):
    """Every node under ``roots``, inputs first; None when there are too many."""
    found, pending = {}, list(roots)
    while pending:
        node = pending.pop()
        if node.seq in found:
            continue
        found[node.seq] = node
        if len(found) > MOST_NODES:
            return None
        pending += [x[0] for x in events.inputs(node) if x.__class__ is tuple]
    return [found[seq] for seq in sorted(found)]


def _why(seeds, order, id, leaf):
    ways = _ways(order, leaf)
    paths = sum(ways[node.seq] for node, _ in seeds)
    found = Why(id, paths)
    if 0 < paths <= MOST_PATHS and all(_is_plain(n) for n in order if ways[n.seq]):
        shares = [one for node, g in seeds for one in _walk(node, g, leaf, ways)]
        dtype = str(leaf._a.dtype)
        found.shares = [PathShare([*nodes, id], stats(g, dtype)) for nodes, g in shares]
        found.total = stats(sum(g for _, g in shares), dtype)
    return found


def _is_plain(node):
    """One declared operation with one output and no hook: running it again changes nothing."""
    several = node.dtype.__class__ is tuple
    return (
        node.op is not None
        and not several
        and all(kind == "retain_grad" for kind, _ in events.hooks(node))
    )


def _ways(order, leaf):
    """How many paths lead from each node to ``leaf``."""
    ways = {}
    for node in order:
        ways[node.seq] = sum(
            ways[x[0].seq] if x.__class__ is tuple else x is leaf
            for x in events.inputs(node)
            if x is not None
        )
    return ways


def _walk(root, seed, leaf, ways):
    """(ids of the nodes of a path, what came along it), path by path."""
    pending = [([], root, seed)]
    while pending:
        path, node, g = pending.pop()
        path = [*path, node.seq]
        grads = node.run(g, RAW)
        for edge, x, gx in reversed(list(zip(node.e, events.inputs(node), grads, strict=False))):
            if x is None or gx is None:
                continue
            if x.__class__ is tuple and ways[x[0].seq]:
                target = x[0]
                fitted = fit(RAW, gx, target.shape, target.dtype, node, edge, grads)
                pending.append((path, target, fitted))
            elif x is leaf:
                yield path, fit(RAW, gx, leaf._a.shape, leaf._a.dtype, node, edge, grads)
