"""The sweep: every node once, newest first, with the sum of what arrived; leaves as soon as they
are complete.

A node is younger than its inputs, so the youngest node that waits has got all it will get: no node
needs to be counted. Leaves do (``_count``) when somebody may look on while the sweep goes; where
nobody can, they are completed together at its end. Between two nodes a sweep can pause: ``run(1)``
runs one node. In first order the gradients are raw arrays, with ``create_graph`` and inside a dual
level they are tensors: the same loop, another ``F``.
"""

from __future__ import annotations

import threading
import warnings
from heapq import heappop, heappush, heappushpop
from itertools import repeat
from operator import attrgetter, index

from ..backend import xp
from .accumulator import accumulator
from .anomaly import tell_forward
from .arrival import complete_leaf, run_node
from .dispatch import wrap
from .errors import advised
from .events import door
from .gradients import _accumulate_array, _accumulate_tensor, _fit_edge, _twice, fit
from .modes import force_grad_mode, local, state
from .node import FIRST, INFERENCE, LEAF, drop_met, met, serial
from .operands import raise_as_index, raise_as_shapes
from .operation import RAW, TENSOR
from .reentry import DEPTH, on_its_own_stack
from .roots import as_tuple, capture_key, check_batched, inputs_of, roots_of
from .tensor import Tensor, is_result, track

_counting = threading.Lock()
ndarray = xp.ndarray
_add = xp.add


class Sweep:
    """One backward pass. ``roots``: (edge, gradient) pairs; ``captures``: edges whose gradient is
    wanted, or None for all leaves; ``accumulates``: into ``.grad``, or to be found in ``captured``.
    """

    __slots__ = (
        "__weakref__",
        "_anomaly",
        "_arrived",
        "_firsts",
        "_heap",
        "_idle",
        "_leaf_counts",
        "_needed",
        "_observer",
        "_seeds",
        "_token",
        "_waiting",
        "callbacks",
        "captured",
        "create_graph",
        "keep_graph",
        "leaves",
        "roots",
        "tensors",
    )

    def __init__(self, roots, keep_graph, create_graph, captures=None, accumulates=True):
        self.roots = [edge for edge, _ in roots]
        for flag in (keep_graph, create_graph):
            _check_flag(flag)
        self.keep_graph = keep_graph
        self.create_graph = create_graph
        self.tensors = create_graph or state.special and _have_tangents()
        self.captured = None if captures is None or accumulates else dict.fromkeys(captures)
        self.leaves = _leaves(captures) if captures is not None and accumulates else None
        self._heap, self._waiting, self._arrived = [], {}, {}
        self._leaf_counts = self._needed = self._idle = self.callbacks = self._firsts = None
        self._observer = door.observer
        self._anomaly = bool(state.special) and local.anomaly
        if (
            state.onlookers
            or self._observer is not None
            or captures is not None
            or self.tensors
            or self._anomaly
        ):
            self._count(captures)
        if self._observer is not None:
            self._observer.backward_started(self)
        self._seeds = roots

    def observed_by(self, observer):
        """Let ``observer`` hear of this sweep from now on, instead of who watches the engine."""
        self._observer = observer

    # ------------------------------------------------------------ counting
    def _count(self, captures=None):
        """Count how often each leaf will be reached, and mark the nodes that will run."""
        with _counting:
            token = self._token = serial()
            leaves, order = {}, None if captures is None else []
            stack = []
            for edge in self.roots:
                _begin(edge, token, leaves, stack)
            while stack:
                node = stack.pop()
                while node is not None:
                    if order is not None:
                        order.append(node)
                    following = None
                    for x in node.e:
                        if x is None:
                            continue
                        if x._kind == 1:
                            x = x.node
                        if x._kind == 2:
                            leaves[x] = leaves.get(x, 0) + 1
                        elif x.mark != token:
                            x.mark = token
                            if following is None:
                                following = x
                            else:
                                stack.append(x)
                    node = following
            lost = bool(met)
            if lost:
                drop_met(self.roots)
        if lost:
            return self._count(captures)
        self._leaf_counts = leaves
        if captures is not None:
            self._needed, self._idle = _needed(order, captures, self.leaves is not None)

    def reaches(self, edge):
        """Whether PyTorch counts on a gradient to come along ``edge``, a leaf or a node; it does
        not count a root that is the only one.
        """
        if self._leaf_counts is None:
            self._count()
        if len(self.roots) == 1 and edge is (
            self.roots[0].node if self.roots[0]._kind == 1 else self.roots[0]
        ):
            return False
        if edge._kind == 2:
            if edge not in self._leaf_counts:
                return False
            if self.captured is not None:
                if edge not in self.captured:
                    return False
                raise RuntimeError(
                    "A leaf node was passed to _will_engine_execute_node but we are currently "
                    "running autograd.grad(). This is currently not supported."
                )
            return self.leaves is None or edge in self.leaves
        if edge.mark != self._token:
            return False
        return self._needed is None or edge in self._needed or self.captures(edge)

    def wants(self, edge):
        """Whether somebody asked for what goes along ``edge``."""
        if self._needed is None:
            return True
        node = edge.node if edge._kind == 1 else edge
        if node._kind == 2:
            return node in (self.captured if self.leaves is None else self.leaves)
        return node in self._needed or self.captures(node)

    def begins_at(self, node):
        """Whether ``node`` is the only root."""
        root = self.roots[0]
        return len(self.roots) == 1 and node is (root.node if root._kind == 1 else root)

    def captures(self, node):
        """Whether what arrives at ``node`` is to be captured."""
        return self.captured is not None and any(
            key.__class__ is tuple and key[0] is node for key in self.captured
        )

    # ------------------------------------------------------------ running
    def run(self, limit=-1):
        """Run until done, or ``limit`` nodes. True when the sweep is complete."""
        __tracebackhide__ = True
        if limit >= 0 and self._leaf_counts is None:
            self._count()
        try:
            if self._leaf_counts is None:
                done = self._loop(limit)
                self._complete_leaves()
            else:
                done = self._run_seen(limit)
            if state.special and local.inference:
                self._mark_inference()
        except BaseException as error:
            if self._leaf_counts is None:
                self._count()
                self._complete_leaves()
            self._heap, self._waiting, self._arrived, self._seeds = [], {}, {}, ()
            if self._observer is not None:
                self._observer.backward_failed(self, error)
            if error.__class__ is ValueError:
                raise_as_shapes(error)
            elif error.__class__ is IndexError:
                raise_as_index(error)
            raise
        if done and self._observer is not None:
            self._observer.backward_finished(self)
        return done

    def _run_seen(self, limit):
        """The loop where a person's code may run: in the grad mode that was asked for, and able to
        find this sweep.
        """
        __tracebackhide__ = True
        depth = local.depth
        if depth >= DEPTH:
            return on_its_own_stack(lambda: self._run_seen(limit))
        outer, local.sweep = local.sweep, self
        node = local.node
        local.depth = depth + 1
        try:
            with force_grad_mode(self.create_graph):
                done = self._loop_telling(limit) if self._anomaly else self._loop(limit)
            if done:
                for callback in self.callbacks or ():
                    callback()
            return done
        finally:
            local.sweep, local.node, local.depth = outer, node, depth

    def _loop_telling(self, limit):
        """The loop in anomaly mode: an error is preceded by where its node was recorded."""
        __tracebackhide__ = True
        try:
            return self._loop(limit)
        except Exception:
            node = local.node
            tell_forward(accumulator(node) if node._kind == 2 else node)
            raise

    def call_at_end(self, callback):
        """Call ``callback()`` once the sweep is complete."""
        if self.callbacks is None:
            self.callbacks = []
        self.callbacks.append(callback)

    def _mark_inference(self):
        """Gradients that were made under inference_mode are inference tensors."""
        if self._leaf_counts is None:
            self._count()
        for leaf in self._leaf_counts:
            g = leaf._grad
            if g is not None and g._v is None:
                g._v = INFERENCE

    def _loop(self, limit):
        __tracebackhide__ = True
        heap, waiting = self._heap, self._waiting
        keep, tensors = self.keep_graph, self.tensors
        F = TENSOR if tensors else RAW
        stepped = self._observer is not None and self._observer.steps
        plain = self._needed is None and not stepped and not self._anomaly and not tensors
        following = following_g = None
        seeds, self._seeds = self._seeds, ()
        if len(seeds) == 1 and seeds[0][0]._kind == 0 and limit < 0:
            following, following_g = seeds[0]
        else:
            for edge, g in seeds:
                self._deliver(edge, g, False)
        for _ in repeat(None) if limit < 0 else range(limit):
            if following is None:
                if not heap:
                    return True
                node = heappop(heap)[1]
                g = waiting.pop(node)
                if g.__class__ is list:
                    g = _ready(g)
            elif heap and heap[0][0] < -following.seq:
                waiting[following] = following_g
                node = heappushpop(heap, (-following.seq, following))[1]
                g = waiting.pop(node)
                if g.__class__ is list:
                    g = _ready(g)
            else:
                node, g = following, following_g
            following = None
            if plain and node.hooks is None and g is not None:
                grads = node.first(g, keep)
                n = node.inputs
                if n == 1:
                    x, gx = node.e[0], grads
                elif n == 2:
                    x, y = node.e
                    gx, gy = grads
                    if x is None:
                        x, gx = y, gy
                    elif y is not None:
                        n = 0
                if n and not (gx is None or x is None or x._kind or (waiting and x in waiting)):
                    if gx.shape != x.shape or gx.dtype is not x.dtype:
                        gx = fit(F, gx, x.shape, x.dtype, node, x, grads)
                    following, following_g = x, gx
                    continue
                if node.inputs == 1:
                    grads = (grads,)
            else:
                grads = run_node(self, node, g, F, _fit_edge)
                if grads is None:
                    continue
            for x, gx in zip(node.e, grads):  # noqa: B905
                if x is None:
                    continue
                if gx is None:
                    if x is not following:
                        self._deliver(x, None, False)
                elif x._kind == 0:
                    if gx.shape != x.shape or gx.dtype is not x.dtype:
                        gx = fit(F, gx, x.shape, x.dtype, node, x, grads)
                    if x is following:
                        following_g = gx if following_g is None else F.plus(following_g, gx)
                    elif waiting and x in waiting:
                        self._wait(x, 0, gx)
                    elif following is None:
                        following, following_g = x, gx
                    else:
                        waiting[x] = gx
                        heappush(heap, (-x.seq, x))
                else:
                    if x._kind != 2 or x._hooks is not None:
                        gx = _fit_edge(F, gx, x, node, grads)
                    elif gx.shape != x._a.shape or gx.dtype is not x._a.dtype:
                        gx = fit(F, gx, x._a.shape, x._a.dtype, node, x, grads)
                    fresh = not tensors and gx is not g and gx.__class__ is ndarray
                    if fresh and gx.base is not None:
                        fresh = gx.flags.writeable
                    self._deliver(x, gx, fresh and not node.held and not _twice(grads, gx))
        if following is not None:
            waiting[following] = following_g
            heappush(heap, (-following.seq, following))
        return not heap

    def _deliver(self, edge, g, fresh):
        """A gradient arrives along ``edge``."""
        nr = 0
        if edge._kind == 1:
            nr = edge.nr
            edge = edge.node
        if edge._kind == 2:
            self._arrive_at_leaf(edge, g, fresh)
        else:
            self._wait(edge, nr, g)

    def _wait(self, node, nr, g):
        """Add to the sum that waits at ``node``."""
        waiting = self._waiting
        if node not in waiting:
            several = node.dtype.__class__ is tuple
            waiting[node] = [None] * len(node.dtype) if several else g
            if node.seq != FIRST:
                heappush(self._heap, (-node.seq, node))
            if not several:
                return
        held = waiting[node]
        if held.__class__ is list:
            held[nr] = _plus(self, held[nr], g)
        else:
            waiting[node] = _plus(self, held, g)
        if node.seq == FIRST:
            self._arrive_first(node)

    def _arrive_first(self, node):
        """Such a node waits for all its gradients, and goes before any other then."""
        if self._firsts is None:
            self._firsts = {}
        arrived = self._firsts[node] = self._firsts.get(node, 0) + 1
        if arrived == _counted(self.roots, node, self._needed):
            heappush(self._heap, (-FIRST, node))

    # ------------------------------------------------------------ leaves
    def _arrive_at_leaf(self, leaf, g, fresh):
        counts = self._leaf_counts
        arrived = self._arrived.get(leaf)
        if arrived is None:
            if counts is not None and counts.get(leaf, 1) == 1:
                if g is not None or leaf._hooks is not None:
                    self._complete_leaf(leaf, g, fresh)
                return
            self._arrived[leaf] = [g, fresh, 1]
            return
        held, _, count = arrived
        # a sum is built out of place, so what waits may be anybody's
        arrived[:] = _plus(self, held, g), g is not None and held is not None, count + 1
        if counts is not None and counts[leaf] == count + 1:
            g, fresh, _ = self._arrived.pop(leaf)
            if g is not None or leaf._hooks is not None:
                self._complete_leaf(leaf, g, fresh)

    def _complete_leaves(self):
        """Accumulate into the leaves that got all there will be: after an error not every one."""
        counts = self._leaf_counts
        arrived, self._arrived = self._arrived, {}  # none twice, if one of them fails
        for leaf, (g, fresh, count) in arrived.items():
            if g is not None and (counts is None or counts[leaf] == count):
                self._complete_leaf(leaf, g, fresh)

    def _complete_leaf(self, leaf, g, fresh):
        if leaf._hooks is None and self.captured is None and self.leaves is None:
            if leaf._g is LEAF:
                self._accumulate(leaf, g, fresh)
                if self._observer is not None:
                    self._observer.accumulated(self, leaf, g)
            elif is_result(leaf._g):
                raise RuntimeError("leaf variable has been moved into the graph interior")
        else:
            complete_leaf(self, leaf, g, fresh, self._accumulate)

    def _accumulate(self, leaf, g, fresh):
        if self.create_graph:
            _accumulate_tensor(leaf, g)
        else:
            _accumulate_array(leaf, g._a if self.tensors else g, fresh)


def _have_tangents():
    """Whether gradients are tensors on their way though they are not recorded."""
    return local.dual is not None


def _check_flag(flag):
    if not isinstance(flag, int):
        index(flag)


def _begin(edge, token, leaves, stack):
    x = edge.node if edge._kind == 1 else edge
    if x._kind == 2:
        leaves[x] = leaves.get(x, 0) + 1
    elif x.mark != token:
        x.mark = token
        stack.append(x)


def _counted(roots, wanted, needed):
    """How many gradients will arrive at the node ``wanted``."""
    stack = [x.node if x._kind == 1 else x for x in roots]
    count, known = stack.count(wanted), set()
    while stack:
        node = stack.pop()
        if node._kind or node in known or needed is not None and node not in needed:
            continue
        known.add(node)
        below = [x.node if x._kind == 1 else x for x in node.e if x is not None]
        count += below.count(wanted)
        stack += below
    return count


def _ready(grads):
    """The gradients of a node with several outputs; None when all are undefined."""
    return tuple(grads) if any(g is not None for g in grads) else None


def _plus(sweep, a, b):
    """The sum of two gradients of which either may be undefined."""
    if a is None or b is None:
        return b if a is None else a
    return (TENSOR if sweep.tensors else RAW).plus(a, b)


def _leaves(captures):
    """The leaves among captured edges."""
    return {key for key in captures if key.__class__ is not tuple}


def _needed(order, captures, themselves):
    """The nodes on a path from a root to a captured edge, and those that were asked for
    ``themselves``; and which of these give nobody a gradient.
    """
    wanted = set()
    for key in captures:
        wanted.add(key[0] if key.__class__ is tuple else key)
    idle = {node for node in order if node in wanted} if themselves else set()
    needed = set(idle)
    for node in sorted(order, key=attrgetter("born")):
        for x in node.e:
            if x is None:
                continue
            x = x.node if x._kind == 1 else x
            if x in needed or x in wanted:
                needed.add(node)
                idle.discard(node)
                break
    return needed, idle


# ---------------------------------------------------------------- the public calls
_CYCLE_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can "
    "cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. "
    "If you have to use this "
    "function, make sure to reset the .grad fields of your parameters to None after use to break "
    "the cycle and avoid the leak."
)


def backward(
    tensors,
    grad_tensors=None,
    retain_graph=None,
    create_graph=False,
    grad_variables=None,
    inputs=None,
):
    """Sum the gradients of ``tensors`` into the ``.grad`` of the leaves they were computed from.

    ``grad_tensors``: one a tensor, same shape; may be None for a one-element tensor. ``inputs``:
    accumulate only into these, a sequence or a dict of them. ``grad_variables``: the old name of
    ``grad_tensors``. Raises RuntimeError for an untracked root, a missing gradient of a
    non-scalar, or a graph whose saved tensors were freed.
    """
    __tracebackhide__ = True
    if local.transforms:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use "
            "functorch.grad or functorch.vjp instead or call backward() outside of functorch "
            "transforms."
        )
    if grad_variables is not None:
        grad_tensors = _old_name(grad_tensors, grad_variables)
    if inputs is not None:
        inputs = inputs_of(inputs, "backward")
    tensors = as_tuple(tensors)
    roots = roots_of(tensors, grad_tensors, create_graph or state.special and _have_tangents())
    if create_graph:
        _check_flag(create_graph)
        warnings.warn(_CYCLE_WARNING, UserWarning, stacklevel=3)
    captures = None
    if inputs is not None:
        for t in inputs:
            if isinstance(t, Tensor):
                t._g  # noqa: B018 (a view whose base was modified gets its node first)
                t.retain_grad()
        captures = [capture_key(t) for t in inputs]
    sweep = Sweep(
        roots, create_graph if retain_graph is None else retain_graph, create_graph, captures
    )
    sweep.run()


def _old_name(grad_tensors, grad_variables):
    warnings.warn(
        "`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning, stacklevel=3
    )
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to "
            "`backward()`. Please only use `grad_tensors`."
        )
    return grad_variables


def grad(
    outputs,
    inputs,
    grad_outputs=None,
    retain_graph=None,
    create_graph=False,
    only_inputs=True,
    allow_unused=None,
    is_grads_batched=False,
    materialize_grads=False,
):
    """The gradients of ``outputs`` with respect to ``inputs``, as a tuple, or for a dict of inputs
    as a dict; ``.grad`` is left alone.

    ``allow_unused``: None instead of an error for an input outside the graph;
    ``materialize_grads``: zeros instead.
    """
    __tracebackhide__ = True
    if materialize_grads:
        if allow_unused is False:
            raise ValueError(
                "Expected allow_unused to be True or not passed when materialize_grads=True, but "
                "got: allow_unused=False."
            )
    outputs, named, inputs = as_tuple(outputs), inputs, inputs_of(inputs, "grad")
    if not only_inputs:
        warnings.warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To "
            "accumulate "
            "gradient for other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
            stacklevel=2,
        )
    allow_unused = materialize_grads if allow_unused is None else allow_unused
    grads = (_batched if is_grads_batched else _grads)(
        outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
    )
    return dict(zip(named, grads, strict=True)) if type(named) is dict else grads


def _grads(
    outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
):
    __tracebackhide__ = True
    roots = roots_of(outputs, grad_outputs, create_graph or state.special and _have_tangents())
    captures = [capture_key(t) for t in inputs]
    sweep = Sweep(
        roots,
        create_graph if retain_graph is None else retain_graph,
        create_graph,
        captures,
        accumulates=False,
    )
    _check_flag(allow_unused)
    sweep.run()
    if not sweep.tensors:
        _give_back_seeds(sweep, grad_outputs)
    return tuple(
        _result(sweep, key, t, k, allow_unused, materialize_grads)
        for k, (key, t) in enumerate(zip(captures, inputs, strict=True))
    )


def _give_back_seeds(sweep, grad_outputs):
    """A gradient that arrived as it was given is the same tensor."""
    seeds = (grad_outputs,) if isinstance(grad_outputs, Tensor) else grad_outputs or ()
    given = {id(t._a): t for t in seeds if t is not None}
    for key, got in sweep.captured.items():
        if id(got) in given:
            sweep.captured[key] = given[id(got)]


def _batched(
    outputs, inputs, grad_outputs, retain_graph, create_graph, allow_unused, materialize_grads
):
    """One sweep a row of ``grad_outputs``; results stacked."""
    from .operation import TENSOR

    seeds = (None,) * len(outputs) if grad_outputs is None else as_tuple(grad_outputs)
    check_batched(outputs, seeds)
    if any(s is None for s in seeds):
        roots_of(*_not_given(outputs, seeds), create_graph or state.special and _have_tangents())
        raise ValueError(
            "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that input is a "
            "Tensor of dimensionality 0 so expected in_dim to satisfy 0 <= in_dim < 0."
        )
    keep = create_graph if retain_graph is None else retain_graph
    count = seeds[0]._a.shape[0]
    counts = [s._a.shape[0] for s in seeds]
    if len(set(counts)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{counts} for the mapped dimension"
        )
    before, local.rows = local.rows, True
    try:
        rows = [
            grad(
                outputs,
                inputs,
                tuple(s[k] for s in seeds),
                keep or k + 1 < count,
                create_graph,
                True,
                allow_unused,
            )
            for k in range(count)
        ]
    finally:
        local.rows = before
    return tuple(
        TENSOR.stack_list(column)
        if column[0] is not None
        else _materialized(t, create_graph)
        if materialize_grads
        else None
        for t, column in zip(inputs, zip(*rows, strict=True), strict=True)
    )


def _not_given(outputs, seeds):
    pairs = [(t, s) for t, s in zip(outputs, seeds, strict=False) if s is None]
    return tuple(zip(*pairs, strict=True))


def _result(sweep, key, tensor, index, allow_unused, materialize):
    __tracebackhide__ = True
    got = sweep.captured[key]
    if got is None:
        if materialize:
            return _materialized(tensor, sweep.create_graph)
        if not allow_unused:
            text = (
                f"The differentiated Tensor at index {index} appears to not have been used in the "
                "graph. Set allow_unused=True if this is the desired behavior."
            )
            if not isinstance(tensor, Tensor):
                raise RuntimeError(text)
            raise advised(RuntimeError(text), "unused_input", shape=tensor._a.shape)
        return None
    if not isinstance(got, Tensor):
        got = sweep.captured[key] = wrap(got)
    return got


def _materialized(tensor, tracked):
    """Zeros for an input that no gradient came to."""
    __tracebackhide__ = True
    if not isinstance(tensor, Tensor):
        raise RuntimeError(
            "materialize_grads cannot be used when the given input is a GradientEdge"
        )
    made = wrap(xp.zeros(tensor._a.shape, tensor._a.dtype, like=tensor._a))
    return track(made) if tracked else made
