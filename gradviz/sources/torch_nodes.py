"""Nodes of PyTorch's own graph, with a serial, a note and a life that can be watched.

PyTorch makes the Python object of a node anew whenever somebody asks and lets no weak reference to
it be. What stays is the dict ``metadata``, which dies with the node: our ``Mark`` lies in there.
A ``TorchNode`` is a mark with its node, for the time of one look.

PyTorch frees nodes that Python has seen one inside the other: a chain of some ten thousand of them
overflows the stack. So never more than ``MOST`` are looked at that live at the same time.
"""

from __future__ import annotations

import sys
import weakref
from collections import deque
from functools import cache

from gradviz.engine.node import serial

from .torch_lines import lines

KEY = "gradviz"
SPACE = "torch::autograd::"
MOST = 2_000 if sys.platform == "win32" else 10_000


def _nobody():
    return None


def loaded():
    """The PyTorch that the program has imported, or None."""
    found = sys.modules.get("torch")
    return found if getattr(found, "__name__", "") == "torch" and hasattr(found, "_C") else None


class Mark:
    """What stays of a node between two looks. Who leads to it, weakly: ``made``, a tensor that
    it made; ``user``, the mark of a node that uses it, at ``slot``; ``fn``, the node itself where
    it is a custom function, which alone can be referred to weakly.
    """

    __slots__ = ("__weakref__", "fn", "handle", "made", "note", "seq", "slot", "user")
    alive = 0

    def __init__(self, seq, note):
        self.seq, self.note = seq, note
        self.fn = self.handle = self.made = self.user = _nobody
        self.slot = 0
        Mark.alive += 1

    def __del__(self):
        Mark.alive -= 1


class TorchNode:
    """A node and its mark. ``fn``: the ``grad_fn`` of PyTorch."""

    __slots__ = ("__weakref__", "_fn", "_inputs", "mark")

    def __init__(self, mark, fn=None):
        self.mark, self._fn, self._inputs = mark, fn, None

    @property
    def seq(self) -> int:
        """The serial."""
        return self.mark.seq

    @property
    def note(self):
        """Where it was made, as a watcher wrote it."""
        return self.mark.note

    @property
    def fn(self):
        """The node of PyTorch; None when no way to it is known any more."""
        if self._fn is None:
            self._fn = _climb(self.mark)
        return self._fn

    def name(self) -> str:
        """The class of the node: ``MulBackward0``."""
        return "" if self.fn is None else self.fn.name().removeprefix(SPACE)

    @property
    def op(self):
        """Our operation whose node has the same name, or None."""
        return operation(self.name())

    def inputs(self) -> tuple:
        """None, a leaf tensor, or (node, output number), one a slot."""
        if self._inputs is None:
            edges = () if self.fn is None else self.fn.next_functions
            self._inputs = tuple(self._input(fn, nr, slot) for slot, (fn, nr) in enumerate(edges))
        return self._inputs

    def _input(self, fn, nr, slot):
        if fn is None:
            return None
        if is_leaf_end(fn):
            return fn.variable
        if KEY not in fn.metadata:
            return None  # beyond what may be looked at
        node = node_for(fn)
        if node.mark.user() is None:
            node.mark.user, node.mark.slot = weakref.ref(self.mark), slot
        return node, nr


def is_leaf_end(fn) -> bool:
    """Whether ``fn`` adds to the gradient of a leaf."""
    return type(fn).__name__ == "AccumulateGrad"


@cache
def is_fn(kind) -> bool:
    """Whether objects of the class are nodes of PyTorch's graph; ours look alike."""
    alike = hasattr(kind, "next_functions") and hasattr(kind, "_sequence_nr")
    return alike and not hasattr(kind, "seq")


def node_for(fn) -> TorchNode:
    """The node of ``fn``; a node that is new to us gets a mark, and so does what is below it, in
    the order of creation.
    """
    mark = fn.metadata.get(KEY)
    if mark is None:
        for fresh in _unmarked(fn):
            found = lines.take(fresh._sequence_nr()) or (serial(), 0)
            mark = fresh.metadata[KEY] = Mark(*found)
            if is_custom(fresh):
                mark.fn = weakref.ref(fresh)
            if lines.tell is not None:
                lines.tell(mark, fresh)
        mark = fn.metadata[KEY]
    node = mark.handle()
    if node is None:
        node = TorchNode(mark, fn)
        mark.handle = weakref.ref(node)
    elif node._fn is None:
        node._fn = fn
    return node


def serial_of(fn) -> int:
    """The serial of ``fn``, which gets no mark for that where its line was heard."""
    found = lines.serial(fn._sequence_nr())
    if found is None:
        mark = fn.metadata.get(KEY)
        found = node_for(fn).seq if mark is None else mark.seq
    return found


def _unmarked(fn):
    """``fn`` and what it uses that has no mark yet, oldest first."""
    found, pending, seen = [], deque([fn]), {id(fn)}
    while pending:
        fn = pending.popleft()
        found.append(fn)
        if Mark.alive + len(found) + len(pending) >= MOST:
            continue
        for below, _ in fn.next_functions:
            if below is None or id(below) in seen or is_leaf_end(below):
                continue
            if KEY not in below.metadata:
                seen.add(id(below))
                pending.append(below)
    return sorted(found, key=lambda fn: fn._sequence_nr()) if len(found) > 1 else found


class WeakNode:
    """A weak reference to a node: calling it gives the node, or None when it is gone."""

    __slots__ = ("_mark",)

    def __init__(self, mark):
        self._mark = weakref.ref(mark)

    def __call__(self):
        mark = self._mark()
        if mark is None:
            return None
        node = mark.handle()
        if node is None:
            node = TorchNode(mark)
            mark.handle = weakref.ref(node)
        return node


class WeakResult(weakref.ref):
    """A weak reference to a result: calling it gives the node that made it, or None when the result
    is gone. Nobody has looked at the node before.
    """

    __slots__ = ()

    def __call__(self):
        tensor = super().__call__()
        fn = None if tensor is None else made_by(tensor)
        if fn is None or (Mark.alive >= MOST and KEY not in fn.metadata):
            return None
        node = node_for(fn)
        node.mark.made = weakref.ref(tensor)
        return node


def _climb(mark):
    """The node of PyTorch that ``mark`` lies in, found from what leads to it."""
    slots, here = [], mark
    fn = here.fn() or tensor_fn(here)
    while fn is None:
        slots.append(here.slot)
        here = here.user()
        if here is None:
            return None
        fn = here.fn() or tensor_fn(here)
    for slot in reversed(slots):
        fn = fn.next_functions[slot][0]
    return fn


def is_custom(fn) -> bool:
    """Whether ``fn`` is the ``ctx`` of a custom function, where a person may put attributes."""
    return hasattr(fn, "__dict__")


def tensor_fn(mark):
    """The node of ``mark`` from a tensor that it made; None when that has died or moved on."""
    tensor = mark.made()
    fn = None if tensor is None else made_by(tensor)
    return fn if fn is not None and fn.metadata.get(KEY) is mark else None


def made_by(tensor):
    """``tensor.grad_fn``; None for a view that may not be asked any more."""
    try:
        return tensor.grad_fn
    except RuntimeError:
        return None


@cache
def operation(name):
    """The operation of our engine whose node is called ``name``, or None."""
    return _operations().get(name)


@cache
def _operations():
    from gradviz.engine.operation import TENSOR
    from gradviz.nn import functional  # noqa: F401  its operations are declared with it
    from gradviz.ops.mm import plain_addmm

    found: dict = {"AddmmBackward0": plain_addmm}
    for function in vars(TENSOR).values():
        if hasattr(function, "op"):
            found.setdefault(function.op.node.__name__, function.op)
    return found
