"""AccumulateGrad: the end of the graph at a leaf, made when somebody asks for it.

In PyTorch every node that uses a leaf holds its accumulator, and the hooks on an accumulator die
with the last of them. Here nodes hold the leaf itself. So when an accumulator with hooks or notes
loses its last reference, the nodes that use the leaf are looked up once, and hold it from then on;
if there are none, its hooks are gone. In the same way they hold it when the leaf gets another size
or dtype: an accumulator goes by those that the leaf had when it was made.
"""

from __future__ import annotations

import gc
import sys
import weakref

from .hooks import ensure_hooks, gradient_dtype
from .node import FIRST, LEAF, Node, Output
from .surface import fixed, none, surfaced


@surfaced
class AccumulateGrad:
    """The end of the graph at a leaf: adds what arrives into ``variable.grad``."""

    __slots__ = ("__weakref__", "_meta", "dtype", "leaf", "shape")
    __module__ = "builtins"

    seq = FIRST
    _kind = 3

    def __new__(cls, *args, **kwargs):
        raise RuntimeError("Cannot construct")

    def name(self, *given):
        """``torch::autograd::AccumulateGrad``."""
        none(self, "name", given)
        return "torch::autograd::AccumulateGrad"

    @fixed
    def next_functions(self):
        """None: the graph ends here."""
        return ()

    @fixed
    def variable(self):
        """The leaf."""
        return self.leaf

    @fixed
    def _input_metadata(self):
        """Shape and dtype of the leaf."""
        from .tensor import input_metadata

        return (input_metadata(self.shape, self.dtype),)

    def _renumber(self, number):
        pass  # it always runs as soon as all has arrived

    def _add_hook(self, kind, hook):
        from .hooks import add_accumulator_hook

        return add_accumulator_hook(self, kind, hook)

    def __call__(self, *grads, **named):
        """Add one gradient into ``variable.grad``; None adds nothing."""
        from .gradients import accumulate
        from .node import check_gradients

        if named:
            raise TypeError("keyword arguments are not supported")
        check_gradients(grads, 1)
        if grads[0] is not None:
            accumulate(self.leaf, grads[0])
        return ()

    def __del__(self):
        hooks = self.leaf._hooks
        hooked = hooks is not None and (hooks.pre or hooks.post)
        if (hooked or hasattr(self, "_meta")) and not sys.is_finalizing():
            _leave_to_nodes(self)


class Held(Output):
    """The edge of a node that holds the accumulator of its leaf."""

    __slots__ = ("accumulator",)

    def __init__(self, accumulator):
        super().__init__(accumulator.leaf, 0)
        self.accumulator = accumulator


def _made(leaf):
    found = object.__new__(AccumulateGrad)
    found.leaf, found.shape, found.dtype = leaf, leaf._a.shape, leaf._a.dtype
    return found


def accumulator(leaf):
    """The AccumulateGrad of ``leaf``: the same object as long as somebody holds it."""
    ref = leaf._acc
    found = ref() if ref is not None else None
    if found is None:
        found = _made(leaf)
        leaf._acc = weakref.ref(found)
    return found


def _leave_to_nodes(dying):
    """Let the nodes that use the leaf hold a successor of ``dying``; without such, hooks end."""
    leaf = dying.leaf
    nodes = _users(leaf)
    if not nodes:
        if leaf._hooks is not None:
            leaf._hooks.pre = leaf._hooks.post = None
        return
    successor = _made(leaf)
    if hasattr(dying, "_meta"):
        successor._meta = dying._meta
    leaf._acc = weakref.ref(successor)
    _give_to_nodes(successor, nodes)


def _give_to_nodes(found, nodes):
    for node in nodes:
        node.e = tuple(Held(found) if x is found.leaf else x for x in node.e)


def before_change(leaf, array, renew=False):
    """``leaf`` is about to get ``array``: if that has other sizes or another dtype, nodes that use
    the leaf hold the accumulator that it has now. Later ones get a new one after a change of dtype,
    or always with ``renew``.
    """
    from .tensor import edge_now

    old = leaf._a
    if old.shape == array.shape and old.dtype == array.dtype or edge_now(leaf) is not LEAF:
        return
    nodes = _users(leaf)
    if nodes or leaf._acc is not None and leaf._acc() is not None:
        found = accumulator(leaf)
        ensure_hooks(leaf)  # so that sweeps ask for ``expected``
        _give_to_nodes(found, nodes)
        if renew or old.dtype != array.dtype:
            leaf._acc = None


def expected(edge, given):
    """(shape, dtype) that a gradient has to fit which goes along ``edge`` to a leaf; ``given``: the
    dtype that it has.
    """
    leaf = edge.node if edge._kind == 1 else edge
    if edge.__class__ is Held:
        found = edge.accumulator
    else:
        found = None if leaf._acc is None else leaf._acc()
    found = leaf._a if found is None else found
    if leaf._hooks is None or leaf._hooks.grad_dtype is None:
        return found.shape, found.dtype
    return found.shape, gradient_dtype(leaf) or given


def _users(leaf):
    """The nodes with an edge to ``leaf``."""
    return [
        node
        for edges in gc.get_referrers(leaf)
        if edges.__class__ is tuple
        for node in gc.get_referrers(edges)
        if isinstance(node, Node) and node.e is edges
    ]
