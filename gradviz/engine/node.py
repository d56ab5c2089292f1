"""Nodes of the graph, as PyTorch shows them: ``grad_fn`` objects, edges, AccumulateGrad.

An edge is what a node keeps of an input: None (untracked), the leaf tensor itself, the node that
made it, or an ``Output`` (node and output number) when that node has several outputs. A leaf and
its accumulator (accumulator.py) are never in a cycle: the leaf holds it weakly.
"""

from __future__ import annotations

import itertools

from .errors import advised
from .modes import state
from .surface import Surface, fixed, none, surfaced

new = object.__new__
serial = itertools.count(1).__next__


class _Sentinel:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return self.name


LEAF = _Sentinel("LEAF")
FREED = _Sentinel("FREED")

FIRST = 2**64 - 1  # the sequence number of nodes that run as soon as all has arrived at them

# Inference tensors track no version and know no views: they all share this cell. The empty tuple
# sends whoever makes a view on the way of those who count their views.
INFERENCE = [0, ()]

FREED_MESSAGE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after "
    "they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or "
    "autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you "
    "need to access "
    "saved tensors after calling backward."
)


class OnView(dict):
    """The metadata of a node inside CopySlices; ``node`` is, weakly, that of the view it
    changed.
    """

    __slots__ = ("node",)


class Detached(int):
    """The version of a tensor that left the graph by ``detach_()``, and all after it: no version
    saved before equals it.
    """

    __slots__ = ()
    __hash__ = int.__hash__

    def __add__(self, other):
        return Detached(int(self) + other)

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __bool__(self):
        return True


@surfaced
class Node:
    """One recorded operation. ``name()``, ``next_functions``, hooks and saved values as in PyTorch.

    ``seq``: serial number; ``e``: edges; ``s``: saved inputs as (tensor, version, …) or FREED;
    ``r``: saved result as (array, version cell, version) or FREED; ``at``: the other arguments;
    ``shape``/``dtype``: of the output; ``hooks``: None or Hooks; ``note``: left by an observer.
    """

    __slots__ = (
        "__weakref__",
        "_meta",
        "at",
        "dtype",
        "e",
        "hooks",
        "mark",
        "note",
        "r",
        "s",
        "seq",
        "shape",
    )

    op = None
    held = frozenset()  # ids of the gradients it just gave that somebody else holds
    whole = False  # all gradients are computed when one is wanted, and hooks see them
    inputs = 0  # how many gradients ``first`` gives, if it is one (bare) or two
    _kind = 0

    def first(self, g, keep):
        """``run`` in first order, on arrays; drops what the node saved unless ``keep``."""
        from .operation import RAW
        from .saved import release

        __tracebackhide__ = True
        grads = self.run(g, RAW)
        if not keep:
            release(self)
        return grads

    def __new__(cls, *args, **kwargs):
        if cls.op is not None:
            raise TypeError(f"cannot create '{cls.__name__}' instances")
        return new(cls)

    @property
    def idles(self):
        """Whether it computes nothing where nobody wants its gradients."""
        return self.op is not None and not self.whole

    def name(self, *given):
        """The class name, such as ``MulBackward0``."""
        none(self, "name", given)
        return type(self).__name__

    @fixed
    def next_functions(self):
        """One (node, output number) an input, (None, 0) for an untracked one."""
        return tuple(function_of(x) for x in self.e)

    @property
    def born(self):
        """When it was recorded: later than all its edges lead to."""
        return self.seq

    def _renumber(self, number):
        self.seq = number

    def _add_hook(self, kind, hook):
        from .hooks import add_node_hook

        return add_node_hook(self, kind, hook)

    def __call__(self, *grad_outputs, **named):
        """The gradients for the inputs from those for the outputs, as a backward would compute
        them.
        """
        from .operation import TENSOR

        if named:
            raise TypeError("keyword arguments are not supported")

        several = self.dtype.__class__ is tuple
        check_gradients(grad_outputs, len(self.dtype) if several else 1)
        if all(g is None for g in grad_outputs):
            return (None,) * len(self.e) if len(self.e) != 1 else None
        grads = tuple(self.run(grad_outputs if several else grad_outputs[0], TENSOR))
        return grads if len(grads) != 1 else grads[0]

    @fixed
    def _input_metadata(self):
        """Shape and dtype of each output, as objects."""
        from .tensor import input_metadata

        several = self.dtype.__class__ is tuple
        if not several:
            return (input_metadata(self.shape, self.dtype),)
        return tuple(
            input_metadata(shape, dtype)
            for k, (shape, dtype) in enumerate(zip(self.shape, self.dtype, strict=True))
            if dtype is not None and (self.op is None or self.op.has_gradient(k))
        )

    @property
    def outputs(self):
        """Shape and dtype of each output."""
        return ((self.shape, self.dtype),)

    def __dir__(self):
        from .saved_names import saved_attribute_names

        names = Surface.__dir__(self)
        if self.op is None:
            return names
        plain = [n for n in names if not n.startswith(("_saved_", "_raw_saved_"))]
        return [*plain, *saved_attribute_names(self)]


def check_gradients(grads, wanted):
    """TypeError unless a node was called with as many gradients as it has outputs."""
    from .tensor import Tensor

    if len(grads) != wanted:
        raise TypeError(f"expected {wanted} arguments, got {len(grads)} instead")
    for k, g in enumerate(grads):
        if g is not None and not isinstance(g, Tensor):
            raise TypeError(f"argument {k} is not a Variable")


class MultiNode(Node):
    """A node with several outputs; ``shape`` and ``dtype`` are tuples, one entry an output."""

    __slots__ = ()

    @property
    def outputs(self):
        return tuple(zip(self.shape, self.dtype, strict=True))


class Nowhere(Node):
    """The edge of a view that is tracked only because its base is: no node made it, and a gradient
    ends here.
    """

    __slots__ = ()

    @property
    def mark(self):
        """Read by a sweep that meets such an edge, which is how the sweep learns of it."""
        met.append(self)

    @mark.setter
    def mark(self, token):
        pass

    def run(self, g, F):
        return ()


met = []


def _saved_nothing(node):
    """Whether PyTorch had saved nothing in a node whose edges are all undefined: what one gradient
    alone needs is saved for that gradient only.
    """
    op = node.op
    if op is None or op.joint is not None or op.edges < 2 or op.saves_result:
        return False
    return all(x is None for x in node.e) and all(by & (by - 1) == 0 for by in op.saved_by)


def drop_met(roots):
    """Undefine the edges below ``roots`` that lead nowhere, as they are in PyTorch."""
    met.clear()
    stack, known = [x.node if x._kind == 1 else x for x in roots], set()
    while stack:
        node = stack.pop()
        if node in known or node._kind != 0:
            continue
        known.add(node)
        node.e = tuple(None if x.__class__ is Nowhere else x for x in node.e)
        if _saved_nothing(node):
            node.s = ()
        stack += [x.node if x._kind == 1 else x for x in node.e if x is not None]


def nowhere(array):
    """Such an edge, for a view with this array."""
    state.onlookers = True
    node = new(Nowhere)
    node.seq = serial()
    node.shape, node.dtype = array.shape, array.dtype
    node.e = node.s = ()
    node.hooks = node.r = node.mark = None
    return node


_NUMBERS = {"", *map(str, range(10))}


def shown_name(node):
    """How PyTorch names a node in its messages: ``Mul`` for ``MulBackward0``, ``Sum1`` for
    ``SumBackward1``.
    """
    head, found, number = node.name().rpartition("Backward")
    return head + number.removesuffix("0") if found and number in _NUMBERS else node.name()


class Output:
    """One output of a node that has several."""

    __slots__ = ("node", "nr")
    _kind = 1

    def __init__(self, node, nr):
        self.node = node
        self.nr = nr


def function_of(edge):
    """(node, output number) of an edge, as ``next_functions`` lists it."""
    if edge is None:
        return (None, 0)
    kind = edge._kind
    if kind == 0:
        return (None, 0) if edge.__class__ is Nowhere else (edge, 0)
    if kind == 1 and edge.node._kind == 0:
        return (edge.node, edge.nr)
    from .accumulator import Held, accumulator

    if edge.__class__ is Held:
        return (edge.accumulator, 0)
    return (accumulator(edge if kind == 2 else edge.node), 0)


def array_below(edge):
    """An array that lies where the gradients of a node do: that of a leaf below it, None when there
    is none.
    """
    while edge is not None and edge._kind != 2:
        if edge._kind == 1:
            edge = edge.node
        else:
            edge = next((e for e in getattr(edge, "e", ()) if e is not None), None)
    return None if edge is None else edge._a


def edge_of(tensor):
    """What a node keeps of ``tensor`` as an input."""
    g = tensor._g
    return tensor if g is LEAF else g


def freed(node=None):
    """Raise PyTorch's second-backward error."""
    __tracebackhide__ = True
    if node is None:
        raise RuntimeError(FREED_MESSAGE)
    raise advised(RuntimeError(FREED_MESSAGE), "second_backward", node=node.name())
