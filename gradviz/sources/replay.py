"""Operations run again on copies: nothing of the person's is read while it changes, or changed.

``check``: the derivative of one node beside finite differences. ``what_if``: results and gradients
if a leaf had another value. Both in double precision, on the operations of the graph as it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gradviz.backend import host
from gradviz.engine import events
from gradviz.engine.dispatch import call, wrap
from gradviz.engine.gradients import fit
from gradviz.engine.modes import enable_grad
from gradviz.engine.node import FREED, LEAF
from gradviz.engine.operation import RAW
from gradviz.engine.tensor import Tensor

from . import reading
from .values import stats

MOST_NODES = 500
MOST_ELEMENTS = 200_000
DIRECTIONS = 3
#: by bytes of a result's element: the step of the difference, the error up to which it agrees
STEPS = {8: (1e-6, 1e-5), 4: (1e-2, 1e-2)}
COARSE = (1e-1, 1e-1)


class NotAgain(Exception):
    """It cannot be run again; ``why`` is a key of the catalogue, ``node`` the id it is about."""

    def __init__(self, why, node=None):
        super().__init__(why)
        self.why, self.node = why, node


@dataclass(slots=True)
class Checked:
    """One input: the largest relative error, whether that is as good as nothing."""

    input: str
    error: float
    agrees: bool


@dataclass(slots=True)
class Replayed:
    """Values by (id, output) and gradients by id of leaf, in double precision."""

    values: dict = field(default_factory=dict)
    grads: dict = field(default_factory=dict)


class Copies:
    """Arrays of a graph as they are. ``value_of(id)``: the array of a result where it still lives,
    else None; ``seen``: what came into a node without a gradient, as the watcher noted it.
    """

    def __init__(self, value_of, seen=None):
        self._value_of, self._seen = value_of, seen or {}

    def input(self, node, k):
        """What ``node`` took at ``k``; None when that is gone."""
        op, edge = node.op, events.inputs(node)[k] if k < len(node.e) else None
        if op.input_names[k] in op.saved_names and node.s is not FREED and node.s:
            at = 2 * op.saved_names.index(op.input_names[k])
            kept, version = node.s[at], node.s[at + 1]
            array, cell = getattr(kept, "_a", None), getattr(kept, "_v", None)
            if array is not None and (not cell or cell[0] == (version or 0)):
                return _double(array)
        if edge.__class__ is tuple:
            return self.result(*edge)
        for slot, ref, *_ in self._seen.get(node.seq, ()) if edge is None else ():
            if slot == k:
                edge = ref()
        return None if edge is None else _double(edge._a)

    def result(self, node, nr):
        """What ``node`` gave, where it still lives."""
        if nr:
            return None
        for name, array, at, now, _ in events.saved(node) if node.op else ():
            if name == "result" and array is not None and at == now:
                return _double(array)
        array = self._value_of(node.seq)
        return None if array is None else _double(array)


def check(node, copies) -> tuple[list[Checked], bool]:
    """The derivative of ``node`` for each input beside central differences, along random
    directions; whether all inputs that it depends on were its own.

    Raises NotAgain for what is no declared operation, is complex, or gives other numbers each time.
    """
    _runnable(node)
    random = np.random.default_rng(0)
    given = [copies.input(node, k) for k in range(len(node.op.input_names))]
    own = all(a is not None or not _needs(node, k) for k, a in enumerate(given))
    ins = [_stand_in(node, k, random) if a is None else a for k, a in enumerate(given)]
    results, fresh = again(node, ins)
    _same_again(node, ins, results)
    seeds = [random.standard_normal(r.shape) for r in results]
    grads = _gradients(fresh, seeds)
    step, most = min((STEPS.get(r.dtype.itemsize, COARSE) for r in results), key=lambda s: -s[0])
    found = []
    for k, grad in enumerate(grads):
        if node.e[k] is None or ins[k] is None or ins[k].dtype.kind != "f":
            continue
        tries = [_errors(node, ins, k, grad, seeds, step, random) for _ in range(DIRECTIONS)]
        error, beyond = (max(column) for column in zip(*tries, strict=True))
        found.append(Checked(node.op.input_names[k], error, beyond <= most))
    return found, own


def what_if(root, leaf, value, copies) -> tuple[Replayed, Replayed]:
    """The graph of node ``root`` as it is, and as it would be if ``leaf`` had ``value``; gradients
    are those of the sum of the result. Hooks are not run. Raises NotAgain.
    """
    order = _order(root)
    before = _forward(order, {}, copies, None)
    after = _forward(order, {events.leaf_id(leaf): value}, copies, before)
    return _backward(order, root, before), _backward(order, root, after)


def again(node, arrays):
    """The operation of ``node`` on ``arrays``: its results, and a node of its own."""
    op = node.op
    ins = [None if a is None else wrap(a) for a in arrays]
    for x, edge in zip(ins, node.e, strict=False):
        if x is not None and edge is not None:
            x._g = LEAF
    attributes = getattr(node, "at", ())[: len(op.attr_names)]
    if any(isinstance(a, np.ndarray) and a.ndim and a.dtype.kind == "f" for a in attributes):
        raise NotAgain("beside", node.seq)  # worked out of an input before: of no use for another
    try:
        with events.unwatched(), enable_grad(), np.errstate(all="ignore"):
            out = call(op, tuple(ins), attributes)
    except Exception as error:
        raise NotAgain("failed", node.seq) from error
    outs = out if out.__class__ is tuple else (out,)
    fresh = next((n for t in outs if (n := events.node_of(t)) is not None), None)
    if fresh is None:
        raise NotAgain("not_real", node.seq)
    return [np.asarray(t._a) for t in outs][: len(events.output_meta(fresh))], fresh


# ---------------------------------------------------------------- the parts
class _State:
    """One run through a graph: results by (id, output), whether they are exact, fresh nodes."""

    def __init__(self):
        self.raw: dict = {}
        self.values: dict = {}
        self.exact: dict = {}
        self.fresh: dict = {}
        self.moved: set = set()


def _order(root):
    nodes, _, whole = events.walk([root], MOST_NODES)
    if not whole:
        raise NotAgain("too_large")
    for node in nodes.values():
        _runnable(node)
    return [nodes[seq] for seq in sorted(nodes)]


def _runnable(node):
    if node.op is None:
        raise NotAgain("own_function", node.seq)
    sizes = [int(np.prod(shape)) for shape, _ in events.output_meta(node)]
    if sum(sizes) > MOST_ELEMENTS:
        raise NotAgain("too_large", node.seq)
    if any(dtype.startswith("complex") for _, dtype in events.output_meta(node)):
        raise NotAgain("not_real", node.seq)


def _forward(order, changes, copies, base):
    state, random = _State(), np.random.default_rng(0)
    for node in order:
        ins, exact, moved = _inputs(node, changes, copies, state, random)
        if base is not None and not moved:
            _take_over(state, base, node)
            continue
        results, state.fresh[node.seq] = again(node, ins)
        if base is None:
            _same_again(node, ins, results)
        for nr, result in enumerate(results):
            key = node.seq, nr
            state.raw[key] = result
            known = copies.result(node, nr) if base is None else base.values[key]
            if known is not None and not exact:
                # what stood in for an unknown input is only added: the change is right all the same
                shift = 0.0 if base is None else result - base.raw[key]
                result = known + shift
            state.values[key] = result
            state.exact[key] = exact or (known is not None if base is None else base.exact[key])
            state.moved.add(key)
    return state


def _take_over(state, base, node):
    state.fresh[node.seq] = base.fresh[node.seq]
    for key in [key for key in base.values if key[0] == node.seq]:
        state.values[key], state.raw[key] = base.values[key], base.raw[key]
        state.exact[key] = base.exact[key]


def _inputs(node, changes, copies, state, random):
    """(arrays, whether they are its own, whether one of them has changed)."""
    ins, exact, moved = [], True, False
    for k in range(len(node.op.input_names)):
        edge = events.inputs(node)[k] if k < len(node.e) else None
        array = None
        if edge.__class__ is tuple:
            key = edge[0].seq, edge[1]
            array, sure = state.values[key], state.exact[key]
            moved |= key in state.moved
        elif edge is not None and events.leaf_id(edge) in changes:
            array, sure, moved = changes[events.leaf_id(edge)], True, True
        else:
            array = copies.input(node, k)
            sure = array is not None
            if array is None:
                array = _stand_in(node, k, random)
                sure = array is None
        if not sure and (_needs(node, k) or node.op.saves_result):
            raise NotAgain("unknown", node.seq)
        exact &= sure
        ins.append(array)
    return ins, exact, moved


def _backward(order, root, state):
    found = Replayed(dict(state.values))
    waiting = {root.seq: {0: np.ones_like(state.values[root.seq, 0])}}
    for node in reversed(order):
        arrived = waiting.pop(node.seq, None)
        if arrived is None:
            continue
        fresh = state.fresh[node.seq]
        outputs = events.output_meta(fresh)
        seeds = [arrived.get(nr, np.zeros(shape)) for nr, (shape, _) in enumerate(outputs)]
        for edge, grad in zip(events.inputs(node), _gradients(fresh, seeds), strict=False):
            if edge is None or grad is None:
                continue
            if edge.__class__ is tuple:
                sums, key = waiting.setdefault(edge[0].seq, {}), edge[1]
            else:
                sums, key = found.grads, events.leaf_id(edge)
            sums[key] = sums[key] + grad if key in sums else grad
    return found


def _gradients(fresh, seeds):
    """What ``fresh`` sends to each of its inputs."""
    several = fresh.dtype.__class__ is tuple
    dtypes = fresh.dtype if several else (fresh.dtype,)
    seeds = [np.asarray(s, d) for s, d in zip(seeds, dtypes, strict=False)]
    with events.unwatched(), np.errstate(all="ignore"):
        grads = fresh.run(tuple(seeds) if several else seeds[0], RAW)
        return [
            None
            if x is None or g is None
            else np.asarray(fit(RAW, g, x._a.shape, x._a.dtype, fresh, x, grads))
            for x, g in zip(fresh.e, grads, strict=False)
        ]


def _errors(node, ins, k, grad, seeds, step, random):
    """How far the derivative is from a difference along one direction, relative to both; and
    beyond what rounding makes of it.
    """
    way = random.standard_normal(ins[k].shape)
    rounding = 0.0

    def along(shift):
        nonlocal rounding
        moved = [*ins]
        moved[k] = ins[k] + shift * way
        total = 0.0
        for r, s in zip(again(node, moved)[0], seeds, strict=True):
            parts = np.asarray(r, np.float64) * s
            rounding = max(rounding, float(np.abs(parts).sum() * np.finfo(r.dtype).eps))
            total += float(parts.sum())
        return total

    with np.errstate(all="ignore"):
        numeric = (along(step) - along(-step)) / (2 * step)
        local = 0.0 if grad is None else float((grad * way).sum())
        apart = abs(numeric - local)
    size = max(abs(numeric), abs(local))
    if not np.isfinite(apart):
        return float("inf"), float("inf")
    size = size or 1.0
    return apart / size, max(0.0, apart - 4 * rounding / step) / size


def _same_again(node, ins, results):
    once_more, _ = again(node, ins)
    pairs = zip(results, once_more, strict=True)
    if not all(np.array_equal(a, b, equal_nan=True) for a, b in pairs):
        raise NotAgain("random", node.seq)


def _needs(node, k):
    """Whether the derivative depends on the value of input ``k``."""
    mask = sum(1 << n for n, edge in enumerate(node.e) if edge is not None)
    return any(i == k and (by is None or by & mask) for i, by in node.op.saved_pairs)


def _stand_in(node, k, random):
    """For an input whose value does not matter: numbers that every function takes. None when no
    tensor was given there.
    """
    op = node.op
    shapes = {op.input_names[i]: n for n, i in enumerate(op.shaped)}
    name = op.input_names[k]
    edge = events.inputs(node)[k] if k < len(node.e) else None
    if edge.__class__ is tuple:
        shape = events.output_meta(edge[0])[edge[1]][0]
    elif name in shapes:
        shape = node.at[len(op.attr_names) + shapes[name]]
    elif name in ("bias", "weight", "mask"):
        return None
    else:
        shape = ()
    return random.uniform(0.2, 0.8, shape)


def _double(array):
    """A copy of ``array`` on the host, in double precision where it is a number with a point."""
    array = np.asarray(host(array))
    floating = array.dtype.kind in "fV" or array.dtype.name.startswith("bfloat")
    return array.astype(np.float64) if floating else array.copy()


# ---------------------------------------------------------------- what a page asks for
def tried(asked, things, copies) -> dict:
    """The answer to ``asked`` (docs/protocol.md). ``things``: nodes and leaves in view, by id."""
    id, what = int(asked["id"]), asked.get("what")
    answer = {"what": what, "id": id}
    try:
        thing = things.get(id)
        if thing is None:
            raise NotAgain("gone", id)
        if reading.is_torchs(thing):
            raise NotAgain("pytorch", id)
        if what == "check":
            rows, own = check(thing, copies)
            return answer | {"rows": rows, "own": own}
        return answer | {"rows": _moves(thing, asked.get("value"), things, copies)}
    except NotAgain as error:
        return answer | {"why": error.why, "at": error.node}


def _moves(leaf, value, things, copies):
    """The result and each gradient, before and after."""
    try:
        array = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        raise NotAgain("bad_value") from None
    if array.shape != leaf._a.shape:
        raise NotAgain("bad_value")
    root = _top(leaf, things)
    before, after = what_if(root, leaf, array, copies)
    rows = [_move(root.seq, "value", before.values, after.values, (root.seq, 0))]
    for id in sorted(after.grads):
        rows.append(_move(id, "grad", before.grads, after.grads, id))
    return rows


def _move(id, what, before, after, key):
    told = [stats(np.asarray(one[key]), str(one[key].dtype)) for one in (before, after)]
    return {"id": id, "what": what, "before": told[0], "after": told[1]}


def _top(leaf, things):
    """The newest result that depends on ``leaf`` and that nothing else is made of; a scalar when
    there is one.
    """
    reached, used = {}, set()
    for seq in sorted(id for id, thing in things.items() if not isinstance(thing, Tensor)):
        for x in events.inputs(things[seq]):
            source = x[0].seq if x.__class__ is tuple else None
            if x is leaf or source in reached:
                reached[seq] = things[seq]
                used.add(source)
    ends = [node for seq, node in reached.items() if seq not in used]
    if not ends:
        raise NotAgain("no_result")
    return max(ends, key=lambda node: (events.output_meta(node)[0][0] == (), node.seq))
