"""The graph of a double backward as plain data: names, edges and what is shared below the gradients
that ``create_graph=True`` gives.
"""

import warnings

import numpy as np

from . import compare


def plan(nodes):
    """The numbers of ``nodes``, and (name, edges) of every node below them, numbered as a walk
    meets them; an edge is (number, output) or None.
    """
    number, order, stack = {}, [], [n for n in reversed(nodes) if n is not None]
    while stack:
        node = stack.pop()
        if node in number:
            continue
        number[node] = len(order)
        order.append(node)
        stack += [f for f, _ in reversed(node.next_functions) if f is not None]
    rows = [
        (n.name().split("::")[-1], [None if f is None else (number[f], k) for f, k in edges])
        for n in order
        for edges in (n.next_functions,)
    ]
    return [None if n is None else number[n] for n in nodes], rows


def told(nodes, depth=9):
    """The same as nested text, for a person."""

    def tell(node, left):
        if node is None or not left:
            return "…" if node is not None else "None"
        edges = ", ".join(
            tell(f, left - 1) + (f"#{k}" if k else "") for f, k in node.next_functions
        )
        return f"{node.name().split('::')[-1]}({edges})"

    return [tell(n, depth) for n in nodes]


def results(engine, expression):
    """The nodes of the results of ``expression``."""
    given = {n: compare.INPUTS[n] for n in compare.names_in(expression)}
    _, found = compare.evaluate(engine, expression, given, True)
    return [getattr(t, "grad_fn", None) for t in compare.flatten(found, engine.Tensor)]


def gradients(engine, expression, tracked):
    """The nodes of the gradients of ``expression``, from seeds that are ``tracked`` themselves or
    not; None where it has none, the exception where it failed.
    """
    given = {n: compare.INPUTS[n] for n in compare.names_in(expression)}
    inputs, results = compare.evaluate(engine, expression, given, True)
    if isinstance(results, Exception):
        return None, ()
    flat = compare.flatten(results, engine.Tensor)
    roots = [t for t in flat if hasattr(t, "requires_grad") and t.requires_grad]
    leaves = [t for t in inputs.values() if t.requires_grad and t.is_leaf]
    if not roots or not leaves:
        return None, ()
    rng = np.random.default_rng(7)
    seeds = [compare._seed(engine, t, rng).requires_grad_(tracked) for t in roots]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            grads = engine.autograd.grad(roots, leaves, seeds, create_graph=True, allow_unused=True)
        except Exception as error:  # noqa: BLE001
            return error, ()
    return [None if g is None else g.grad_fn for g in grads], (grads, results, seeds, inputs)


def differences(torch, engine, expression):
    """Lines that say where the graphs differ; empty where they do not."""
    found = []
    for tracked in (False, True):
        (a, keep_a), (b, keep_b) = (gradients(e, expression, tracked) for e in (torch, engine))
        if isinstance(a, Exception) or isinstance(b, Exception):
            if type(a) is not type(b):
                found.append(f"{a!r:.200} but {b!r:.200}")
        elif (a is None) != (b is None):
            found.append(f"{a} but {b}")
        elif a is not None and plan(a) != plan(b):
            found.append(f"{told(a)} but {told(b)}")
        del keep_a, keep_b
    return found
