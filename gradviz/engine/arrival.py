"""What happens around a node or leaf of a sweep when somebody looks on: hooks in PyTorch's order,
captured gradients, observers, anomaly mode. The plain path through a sweep never comes here.

At a node: tensor hooks, retained gradients, prehooks, the node itself, posthooks. A gradient that
``autograd.grad`` asked for is what the tensor hooks made of it, except at a node that runs as well:
there it is what arrived.
"""

from __future__ import annotations

from ..backend import as_array, xp
from . import dtypes
from .dispatch import wrap
from .modes import local
from .node import LEAF
from .saved import check, release
from .tensor import Tensor

ndarray = xp.ndarray


def as_tensor(g):
    """A gradient as a tensor, for a hook."""
    return g if isinstance(g, Tensor) else wrap(g)


def _optional(g):
    return None if g is None else as_tensor(g)


def _back(sweep, t):
    """What a hook gave, as the sweep carries it."""
    return t if t is None or sweep.tensors else t._a


# ---------------------------------------------------------------- nodes
def run_node(sweep, node, g, F, fit_edge):
    """Run ``node`` with all that surrounds it; None when nothing beyond it is wanted."""
    __tracebackhide__ = True
    hooks, observer = node.hooks, sweep._observer
    local.node = node
    needed = sweep._needed is None or node in sweep._needed
    if not needed and not sweep.captures(node):
        if hooks is not None and sweep.begins_at(node):  # the one root hears of its gradient
            _tensor_hooks(sweep, hooks, list(g) if g.__class__ is tuple else [g])
        return None
    if hooks is not None or sweep.captured is not None:
        g = _arrive(sweep, node, g, hooks, needed)
    if not needed:
        return None
    if observer is not None:
        observer.node_entered(sweep, node, g if g.__class__ is tuple else (g,))
    if sweep._idle and node in sweep._idle and node.idles:
        grads = _idle(node)
    elif sweep._anomaly:
        grads = _run_noted(node, g, F)
    else:
        grads = _run(node, g, F)
    if hooks is not None and hooks.post:
        grads = _post_hooks(sweep, hooks.post, _shown(sweep, node, grads, F, fit_edge), g)
    if observer is not None:
        observer.node_left(sweep, node, grads)
    if not sweep.keep_graph and (node.s or node.r is not None):
        release(node)
        if observer is not None:
            observer.saved_released(node)
    if sweep._anomaly and local.anomaly_nan:
        check_nan(node, grads)
    return grads


def _shown(sweep, node, grads, F, fit_edge):
    """The gradients as hooks see them: None where PyTorch would not have computed one."""
    return [
        None
        if gx is None or not (node.whole or (x is not None and sweep.wants(x)))
        else gx
        if x is None
        else fit_edge(F, gx, x, node, grads)
        for x, gx in zip(node.e, grads, strict=False)
    ]


def _run(node, g, F):
    if g is not None or node.op is None:
        return node.run(g, F)
    check(node)
    return (None,) * len(node.e)


def _idle(node):
    """Nothing for anybody; the errors of reading what it saved come all the same."""
    check(node if node.op is not None else node.s[0])
    return (None,) * len(node.e)


def _run_noted(node, g, F):
    """Run in anomaly mode: nodes that are recorded meanwhile know who caused them."""
    outer, local.evaluating = local.evaluating, node
    try:
        return _run(node, g, F)
    finally:
        local.evaluating = outer


def _arrive(sweep, node, g, hooks, needed):
    several = node.dtype.__class__ is tuple
    grads = list(g) if g.__class__ is tuple else [g]
    if several and g is None:
        grads = [None] * len(node.dtype)
    if needed:
        _capture(sweep, node, grads)
    if hooks is not None:
        _tensor_hooks(sweep, hooks, grads)
    if not needed:
        _capture(sweep, node, grads)
    elif hooks is not None and hooks.pre:
        _prehooks(sweep, hooks.pre, grads)
    if several:
        return tuple(grads) if any(x is not None for x in grads) else None
    return grads[0]


def _capture(sweep, node, grads):
    if sweep.captured is not None:
        for nr, got in enumerate(grads):
            if (node, nr) in sweep.captured:
                sweep.captured[node, nr] = got


def _call(sweep, number, hook, *given):
    """What ``hook`` says; who looks on is told that it was called."""
    __tracebackhide__ = True
    told = hook(*given)
    if sweep._observer is not None:
        sweep._observer.hook_called(number, given, told)
    return told


def _tensor_hooks(sweep, hooks, grads):
    for nr, table in list((hooks.tensor or {}).items()):
        for number, hook in list(table.items()):
            grads[nr] = _call_tensor_hook(sweep, number, hook, grads[nr])
    for nr, ref in (hooks.retain or {}).items():
        tensor = ref()
        if tensor is not None and grads[nr] is not None:
            _keep(sweep, tensor, grads[nr])


def _call_tensor_hook(sweep, number, hook, g):
    before = _optional(g)
    told = _call(sweep, number, hook, before)
    if told is None:
        return _back(sweep, before)
    check_hook_result(before, told, hook)
    return _back(sweep, told)


def _keep(sweep, tensor, g):
    """``retain_grad``: the gradient of a result."""
    old = tensor._grad
    if sweep.tensors:
        tensor._grad = g.clone() if old is None else old + g
    else:
        tensor._grad = wrap(as_array(g).copy("K") if old is None else old._a + g)
    if sweep._observer is not None:
        sweep._observer.accumulated(sweep, tensor, tensor._grad)


def _prehooks(sweep, table, grads):
    for number, hook in list(table.items()):
        given = tuple(map(_optional, grads))
        told = _call(sweep, number, hook, given)
        if told is not None:
            check_hook_results(given, told, hook)
            grads[:] = [_back(sweep, x) for x in told]


def _post_hooks(sweep, table, grads, g):
    outs = tuple(map(_optional, g if g.__class__ is tuple else (g,)))
    for number, hook in list(table.items()):
        given = tuple(map(_optional, grads))
        told = _call(sweep, number, hook, given, outs)
        if told is not None:
            check_hook_results(given, told, hook)
            grads = [_back(sweep, x) for x in told]
    return tuple(grads)


# ---------------------------------------------------------------- leaves
def complete_leaf(sweep, leaf, g, fresh, accumulate):
    """All gradients of ``leaf`` have come (``g`` None: they are undefined)."""
    hooks = leaf._hooks
    captured = sweep.captured
    local.node = leaf
    if captured is not None and leaf not in captured:
        return
    if sweep.leaves is not None and leaf not in sweep.leaves:
        return
    if hooks is not None and hooks.tensor:
        for number, hook in list(hooks.tensor[0].items()):
            told = _call_tensor_hook(sweep, number, hook, g)
            fresh = fresh and told is g
            g = told
    if captured is not None:
        captured[leaf] = g
        return
    if hooks is not None and hooks.pre:
        grads = [g]
        _prehooks(sweep, hooks.pre, grads)
        fresh = fresh and grads[0] is g
        g = grads[0]
    if g is not None and leaf._g is LEAF:
        accumulate(leaf, g, fresh)
        if sweep._observer is not None:
            sweep._observer.accumulated(sweep, leaf, g)
    if hooks is not None and hooks.post_accumulate:
        _post_accumulate(sweep, hooks.post_accumulate, leaf)
    if hooks is not None and hooks.post:
        _leaf_posthooks(sweep, hooks.post, g)


def _post_accumulate(sweep, table, leaf):
    """A tensor that one of these hooks returns is what the next is called with, and RuntimeError
    in the end unless that is the leaf.
    """
    given = leaf
    for number, hook in list(table.items()):
        told = _call(sweep, number, hook, given)
        if told is not None:
            check_hook_result(given, told, hook)
            given = told
    if given is not leaf:
        raise RuntimeError("Tensor post accumulate grad hooks should return None.")


def _leaf_posthooks(sweep, table, g):
    outs = (_optional(g),)
    for number, hook in list(table.items()):
        told = _call(sweep, number, hook, (), outs)
        if told is not None:
            check_hook_results((), told, hook)


# ---------------------------------------------------------------- what a hook may return
def _name(hook):
    return getattr(hook, "__name__", "<unknown>")


def check_hook_result(before, told, hook):
    """PyTorch's checks of one gradient that a hook returned."""
    if before is None:
        raise RuntimeError("can't replace a None gradient with a non-None value")
    if not isinstance(told, Tensor):
        raise TypeError(f"expected Variable, but hook returned '{type(told).__name__}'")
    if told._a.dtype != before._a.dtype:
        raise RuntimeError(
            f"hook '{_name(hook)}' has changed the type of value (was "
            f"{dtypes.tensor_name(before._a)} got {dtypes.tensor_name(told._a)})"
        )
    if told._a.shape != before._a.shape:
        raise RuntimeError(f"hook '{_name(hook)}' has changed the size of value")


def check_hook_results(before, told, hook):
    """The same for the tuple of a node's hook."""
    if not isinstance(told, tuple):
        raise TypeError(f"expected tuple, but hook returned '{type(told).__name__}'")
    if len(told) != len(before):
        raise RuntimeError(
            f"hook '{_name(hook)}' has returned an incorrect number of values (got {len(told)}, "
            f"but "
            f"expected {len(before)})"
        )
    for a, b in zip(before, told, strict=True):
        if b is not None:
            check_hook_result(a, b, hook)


# ---------------------------------------------------------------- anomaly mode
def check_nan(node, grads):
    """Raise when ``node`` made a NaN."""
    for k, g in enumerate(grads):
        if g is None:
            continue
        a = g._a if isinstance(g, Tensor) else g
        if a.dtype.kind in "fc" and xp.isnan(a).any():
            raise RuntimeError(f"Function '{node.name()}' returned nan values in its {k}th output.")
