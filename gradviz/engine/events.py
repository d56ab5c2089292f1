"""The one door through which the engine tells the outside world what it does.

When nobody watches, ``door.observer`` is None and that is the only thing an operation looks at.
Observers are called bare: they must not raise, and must not keep tensors or nodes alive.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import cache, cached_property

from .modes import count
from .node import FREED, LEAF, Nowhere


class Observer:
    """Every event an engine emits. Subclass and override what you need.

    ``steps``: whether ``node_entered``, ``node_left`` and ``saved_released`` are wanted; read when
    a sweep has announced itself with ``backward_started``. ``everything``: whether ``untracked``
    is to be told of every operation, which makes all of them take the path of the rare ones.
    """

    steps = True
    everything = False

    def operation(self, output, inputs):
        """``output`` (tensor, or tuple of tensors) was computed from ``inputs`` (tensors) and a
        node was recorded.
        """

    def untracked(self, name, output, inputs):
        """``output`` (tensor, or tuple of tensors) was computed from ``inputs`` (tensors, None
        where left out) and no node was recorded; ``name`` is that of the node, or of the
        operation where it has none.
        """

    def cut(self, source, result, how):
        """The path from ``source`` ends here: ``how`` is detach, no_grad, inference_mode, item,
        bool, tolist, numpy, data or integer.
        """

    def moved(self, source, result):
        """The values of ``source`` were copied to another device: ``result``."""

    def saved_released(self, node):
        """``node`` dropped its saved tensors."""

    def backward_started(self, sweep):
        """A sweep begins; ``sweep.roots`` (nodes or leaf tensors), ``sweep.keep_graph``,
        ``sweep.create_graph``.
        """

    def node_entered(self, sweep, node, grads):
        """``node`` is about to run with ``grads`` (arrays or tensors, one an output, None where
        undefined).
        """

    def node_left(self, sweep, node, grads):
        """``node`` produced ``grads``, one an input edge."""

    def accumulated(self, sweep, leaf, grad):
        """``grad`` was added into ``leaf.grad``."""

    def backward_finished(self, sweep):
        """The sweep ended normally."""

    def backward_failed(self, sweep, error):
        """The sweep stopped with ``error`` (also KeyboardInterrupt)."""

    def version_bumped(self, tensor):
        """``tensor`` was modified in place."""

    def retain_grad(self, tensor):
        """``tensor.retain_grad()`` was asked."""

    def hook_added(self, target, kind, hook, number):
        """A hook of ``kind`` was put on ``target`` (tensor, node or module); ``number``: the id of
        its handle.
        """

    def hook_called(self, number, given, told):
        """A hook of a tensor or a node was called with ``given`` and gave ``told``."""

    def module_called(self, module, result):
        """``module``, or every module, has hooks; it was called and gave ``result``."""

    def hook_removed(self, target, kind, hook):
        """It was removed."""

    def communicated(self, what, nbytes, started, ended):
        """A collective ended (``all_reduce``, …; seconds of ``perf_counter``)."""

    def block_entered(self, name):
        """A named block begins: ``record_function``, a step of an optimizer, the next batch."""

    def block_left(self, name):
        """It ended."""


class _Door:
    __slots__ = ("observer",)

    def __init__(self):
        self.observer = None


door = _Door()


def attach(observer):
    """Let ``observer`` watch; raises RuntimeError when another one already does."""
    if door.observer is not None and door.observer is not observer:
        raise RuntimeError("another observer is attached to the engine")
    if door.observer is None and observer.everything:
        count(1)
    door.observer = observer


def detach(observer):
    """Stop ``observer`` watching; does nothing if it does not."""
    if door.observer is observer:
        door.observer = None
        if observer.everything:
            count(-1)


class block:
    """``with block(name):`` the observer that watches at its start is told of both ends."""

    __slots__ = ("name", "observer")

    def __init__(self, name):
        self.name = name

    def __enter__(self):
        self.observer = door.observer
        if self.observer is not None:
            self.observer.block_entered(self.name)
        return self

    def __exit__(self, *_):
        if self.observer is not None and door.observer is self.observer:
            self.observer.block_left(self.name)


@contextmanager
def unwatched():
    """Nobody watches inside."""
    observer, door.observer = door.observer, None
    try:
        yield
    finally:
        door.observer = observer


# ---------------------------------------------------------------- reading the engine without side
# effects
class _Late:
    """What modules give that import this one; fetched when it is first asked for."""

    @cached_property
    def read_g(self):
        from .tensor import _read_g

        return _read_g

    @cached_property
    def ensure_id(self):
        from .tensor import ensure_id

        return ensure_id

    @cached_property
    def owner(self):
        from ..backend import owner

        return owner


_late = _Late()


def edge(tensor):
    """The edge slot of a tensor: None, LEAF, a node or an Output; None too for a view whose node is
    not made yet.
    """
    try:
        return _late.read_g(tensor)
    except AttributeError:
        return None


def is_leaf_edge(found):
    """Whether an edge slot says «tracked leaf»."""
    return found is LEAF


def node_of(tensor):
    """The node that made ``tensor``, or None."""
    try:
        found = _late.read_g(tensor)
    except AttributeError:
        return None
    if found is None or found is LEAF or found.__class__ is Nowhere:
        return None
    return found.node if found._kind == 1 else found


def output_nr(tensor):
    """Which output of its node ``tensor`` is."""
    found = edge(tensor)
    return found.nr if found is not None and not is_leaf_edge(found) and found._kind == 1 else 0


def inputs(node):
    """Inputs of a node: None, a leaf tensor, or (node, output number)."""
    out = []
    for x in node.e:
        x = None if x.__class__ is Nowhere else x
        if x is None or x._kind == 2:
            out.append(x)
        elif x._kind == 1:
            out.append(x.node if x.node._kind == 2 else (x.node, x.nr))
        else:
            out.append((x, 0))
    return tuple(out)


def walk(starts, limit, stop=()):
    """(nodes, leaves, whether that is all): what ``starts`` (nodes) hold, themselves included, by
    serial; at most ``limit`` nodes, those with a serial in ``stop`` not entered.
    """
    nodes, leaves, stack = {}, set(), list(starts)
    while stack:
        node = stack.pop()
        while node is not None:
            seq = node.seq
            if seq in nodes or seq in stop:
                break
            if len(nodes) >= limit:
                return nodes, {leaf_id(x): x for x in leaves}, False
            nodes[seq] = node
            following = None
            for x in node.e:
                if x is None:
                    continue
                if x._kind == 1:
                    x = x.node
                if x._kind == 2:
                    leaves.add(x)
                elif x.__class__ is not Nowhere:
                    if following is None:
                        following = x
                    else:
                        stack.append(x)
            node = following
    return nodes, {leaf_id(x): x for x in leaves}, True


def output_meta(node):
    """(shape, dtype name) of each output of a node."""
    if node.dtype.__class__ is tuple:
        return tuple((tuple(s), name_of(d)) for s, d in zip(node.shape, node.dtype, strict=True))
    return ((tuple(node.shape), name_of(node.dtype)),)


@cache
def name_of(np_dtype):
    """``str`` of a NumPy dtype, which is slow."""
    return str(np_dtype)


def saved(node):
    """(name, array or None, version saved, version now, freed) of each saved tensor, without
    unpacking.
    """
    op = node.op
    if op is None:
        return _saved_of_other(node)
    gone = node.s is FREED or node.r is FREED
    out = []
    for k, name in enumerate(op.saved_names):
        if gone:
            out.append((name, None, 0, 0, True))
        elif node.s and node.s[2 * k] is not None:
            out.append(_saved_input(name, node.s[2 * k], node.s[2 * k + 1]))
    if op.saves_result:
        kept = node.r
        if gone:
            out.append(("result", None, 0, 0, True))
        elif kept.__class__ is tuple and kept and kept[0].__class__ is not tuple:
            out.append(("result", kept[0], kept[2], kept[1][0], False))
        elif kept is not None:
            out.append(("result", None, 0, 0, False))
    return tuple(out)


def saved_from(node):
    """By the names of `saved`: the tensor that was saved, or ``node`` where it is a result of its
    own. Nothing is unpacked; what is freed or packed is not there.
    """
    op, kept = node.op, () if node.s is FREED else node.s or ()
    if op is not None:
        named = list(zip(op.saved_names, kept[::2], strict=False)) + [("result", node.r)]
    elif hasattr(node, "describe_saved"):
        named = [(f"saved_tensors[{k}]", one and one[0]) for k, one in enumerate(kept)]
    else:
        named = []
    found = {name: one for name, one in named if hasattr(one, "_g")}
    return found | {name: node for name, one in named if one.__class__ is tuple and one}


def saved_arrays(node):
    """The arrays that ``node`` has saved; None when it saved tensors and dropped them."""
    op = node.op
    if op is None:
        described = _saved_of_other(node)
        gone = bool(described) and all(item[4] for item in described)
        return None if gone else [item[1] for item in described if item[1] is not None]
    kept, result = node.s, node.r
    if kept is FREED or result is FREED:
        return None
    out = []
    if kept and op.saved_names:
        out = [a for x in kept[::2] if x is not None and (a := getattr(x, "_a", None)) is not None]
    if result.__class__ is tuple and result:
        out += [one[0] for one in result] if result[0].__class__ is tuple else [result[0]]
    return out


def keeps_saved(node):
    """Whether ``node`` still has what it saved; None when it saved nothing."""
    op = node.op
    if op is None:
        described = _saved_of_other(node)
        return any(not item[4] for item in described) if described else None
    if not op.saved_names and not op.saves_result:
        return None
    if node.s is FREED or node.r is FREED:
        return False
    return True if node.r is not None or any(x is not None for x in node.s[::2]) else None


def _saved_input(name, tensor, version):
    array = getattr(tensor, "_a", None)
    cell = getattr(tensor, "_v", None)
    return (name, array, version or 0, cell[0] if cell else 0, False)


def _saved_of_other(node):
    if node.s is FREED:
        return (("saved", None, 0, 0, True),)
    described = getattr(node, "describe_saved", None)
    return described() if described is not None else ()


def hooks(target):
    """(kind, callable) of every hook on a node or a tensor."""
    found = target.hooks if hasattr(target, "seq") else target._hooks
    if found is None:
        return ()
    out = [(kind, h) for kind, table in hook_tables(target) for h in table.values()]
    out += [("retain_grad", None) for _ in (found.retain or {})]
    return tuple(out)


def hook_tables(target):
    """(kind, table of callables by number) of the hooks on a node or a tensor, as they fire."""
    found = target.hooks if hasattr(target, "seq") else target._hooks
    if found is None:
        return []
    out = [("tensor", table) for table in (found.tensor or {}).values() if table]
    kinds = ("pre", "post_accumulate", "post")
    return out + [(kind, getattr(found, kind)) for kind in kinds if getattr(found, kind)]


def grad(tensor):
    """``tensor.grad`` without the warning for results."""
    return tensor._grad


def version(tensor):
    """How often the storage of ``tensor`` was modified in place."""
    cell = tensor._v
    return cell[0] if cell else 0


def formula(node):
    """The local derivative of a node as text, empty when it has none."""
    return "" if node.op is None else node.op.formula


def leaf_id(tensor):
    """A serial number for a tensor that no node made, given when first asked."""
    return _late.ensure_id(tensor)


def storage_id(tensor):
    """An identity for the memory under ``tensor``."""
    return id(_late.owner(tensor._a))


def allocated(output, inputs):
    """Bytes of memory that an operation's results do not share with its inputs."""
    outputs = output if isinstance(output, tuple) else (output,)
    known = {storage_id(x) for x in inputs if x is not None}
    return sum(t._a.nbytes for t in outputs if storage_id(t) not in known)


def storage_bytes(tensor):
    """Bytes of the whole storage under ``tensor``."""
    return _late.owner(tensor._a).nbytes
