"""GV404: the gradient vanishes on its way through many saturating layers or steps."""

import numpy as np

from gradviz.doctor.finding import Rule
from gradviz.doctor.numbers import arrived, usable

SQUASHING = ("SigmoidBackward0", "TanhBackward0", "SoftmaxBackward0")
LAYERS, STEPS = 5, 10
RATIO = 1e-4
HOPS = 5


def look(case):
    """Five or more sigmoids or tanhs behind one another, and the first layer's gradient is tiny
    beside the last one's; or the same with ten steps that share a matrix, said mildly while
    anything arrives.
    """
    told = set()
    for graph in (case.graph, case.past):
        came = None
        for links in _chains(graph):
            place = case.place(graph.note(links[0]))
            line = case.cells.line(place)
            if line in told:
                continue
            shared = _shared(case, graph, links)
            found = () if shared else _layers(graph, links)
            if found:
                told.add(line)
                (last, _), (first, leaf) = found
                fields = {"first": f"{first:.1e}", "last": f"{last:.1e}", "count": len(links)}
                yield RULE.found(case, [f"{case.named(leaf)}.grad"], place, None, [leaf], **fields)
                continue
            if not shared or len(links) < STEPS:
                continue
            came = arrived(graph) if came is None else came
            last, first = came.get(links[0], 0.0), came.get(links[-1], 0.0)
            if last > 0 and first < RATIO * last:
                told.add(line)
                fields = {"first": f"{first:.1e}", "last": f"{last:.1e}", "count": len(links)}
                fields |= {"variant": "steps", "severity": "info" if first else "warning"}
                yield RULE.found(case, shared, place, None, links, **fields)


def _chains(graph):
    """Saturating results of one class that feed one another, newest first."""
    met = set()
    for newest in graph.made_by(*SQUASHING):
        links, following = [], newest
        while following is not None and following not in met:
            met.add(following)
            links.append(following)
            following = _next(graph, following)
        if len(links) >= LAYERS:
            yield links


def _next(graph, link):
    """The nearest result of the same class that a link was computed from."""
    op, level, seen = graph.op(link), [link], {link}
    for _ in range(HOPS):
        below = [i for node in level for _, i, leaf in graph.inputs(node) if not leaf]
        level = [i for i in dict.fromkeys(below) if i not in seen]
        found = next((i for i in level if graph.op(i) == op), None)
        if found is not None:
            return found
        seen.update(level)
    return None


def _layers(graph, links):
    """The (norm, serial) of the last and of the first layer's gradient, where it vanishes on the
    way through layers with weights of their own.
    """
    norms = [norm for link in links if (norm := _norm(graph, link)) is not None]
    if len(norms) < LAYERS or len({leaf for _, leaf in norms}) < LAYERS:
        return ()
    last, first = norms[0], norms[-1]
    return (last, first) if last[0] > 0 and first[0] < RATIO * last[0] else ()


def _norm(graph, link):
    """(norm, serial) of the largest gradient of a matrix among the leaves of a layer."""
    best = None
    for leaf in _leaves(graph, link):
        values = graph.grad_values(leaf)
        if usable(values) and values.ndim >= 2:
            best = max(best or (-1.0, leaf), (float(np.linalg.norm(values)), leaf))
    return best


def _leaves(graph, link):
    """The leaves between a layer or step and the one before it."""
    level, out = [link], []
    for _ in range(HOPS):
        below = [(i, leaf) for node in level for _, i, leaf in graph.inputs(node)]
        out += [i for i, leaf in below if leaf]
        level = [i for i, leaf in below if not leaf and graph.op(i) not in SQUASHING]
    return out


def _shared(case, graph, links):
    """The names of the matrices that the first and the last step have in common."""
    leaves = set(_leaves(graph, links[0])) & set(_leaves(graph, links[-1]))
    held = [case.paths_to(leaf) for leaf in sorted(leaves)]
    matrices = [paths[0].facts.id for paths in held if paths and len(paths[0].facts.shape) > 1]
    return [name for leaf in matrices if (name := case.named(leaf))]


RULE = Rule("GV404", "num.vanishing", "warning", look)
