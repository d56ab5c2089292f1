"""Gradients on their way: fitted to the input of a node, laid out as a leaf, added to ``.grad``."""

from __future__ import annotations

from ..backend import as_array, beside, xp
from .accumulator import expected
from .dispatch import wrap
from .modes import is_grad_enabled, local
from .node import new
from .operands import check_real, expands
from .operation import TENSOR
from .tensor import Tensor, element_strides
from .views import bump, check_expanded, is_dense

ndarray = xp.ndarray
_add = xp.add


def _twice(grads, g):
    """Whether one node gave the same array to two inputs."""
    found = False
    for x in grads:
        if x is g:
            if found:
                return True
            found = True
    return False


def _fit_edge(F, g, edge, node, grads):
    __tracebackhide__ = True
    if edge._kind == 1 and edge.node._kind == 0:
        shape, dtype = edge.node.shape[edge.nr], edge.node.dtype[edge.nr]
    elif edge._kind == 0:
        shape, dtype = edge.shape, edge.dtype
    else:
        shape, dtype = expected(edge, g.dtype)
    if g.shape != shape or g.dtype is not dtype:
        return fit(F, g, shape, dtype, node, edge, grads)
    return g


def fit(F, g, shape, dtype, node, edge, grads):
    """Sum a gradient down to the input's shape and give it the input's dtype (PyTorch's validation
    of outputs).
    """
    __tracebackhide__ = True
    if dtype.kind != "c":
        check_real(node, g)
        if F is TENSOR and g._a.dtype.kind == "c":
            g = F.real(g)
    have = tuple(g.shape)
    if have != shape:
        if not expands(shape, have):
            index = _place(node.e, edge, grads, g)
            raise RuntimeError(
                f"Function {node.name()} returned an invalid gradient at index {index} - got "
                f"{list(have)} but expected "
                f"shape compatible with {list(shape)}"
            )
        g = F.sum_to(g, shape)
    return F.cast(g, dtype)


def _place(edges, edge, grads, g):
    """Which input of a node a gradient is for: of several equal ``edges`` the one that got it."""
    if not isinstance(grads, (tuple, list)):
        return 0
    return next(i for i, (x, y) in enumerate(zip(edges, grads)) if x is edge and y is g)  # noqa: B905


def _laid_out(g, like, fresh):
    """A copy of ``g`` in the layout of its leaf; row-major where that has gaps or overlaps."""
    if g.shape != like.shape:
        own = fresh or g.__class__ is not ndarray
        return g if own and _obeys(g, like) else _tensor_laid_out(wrap(g), like)._a
    if like.flags.c_contiguous or not is_dense(like):
        return as_array(g).copy()
    out = xp.empty_like(like, g.dtype)
    out[...] = g
    return out


def _obeys(g, like):
    """Whether ``g``, of another shape than its leaf, passes for one in the layout of that leaf."""
    if not is_dense(like):
        return g.flags.c_contiguous
    steps = zip(g.shape, element_strides(g), element_strides(like), strict=False)
    return all(n == 1 or a == b for n, a, b in steps)


def _accumulate_array(leaf, g, fresh):
    old = leaf._grad
    if g.__class__ is not ndarray:
        g = beside(xp.asarray(g) if isinstance(g, xp.generic) else g, leaf._a)
    if old is None:
        if not fresh or (g.strides != leaf._a.strides and local.grad_layout):
            g = _laid_out(g, leaf._a, fresh)
        t = new(Tensor)
        t._a = g
        t._g = t._v = None
        leaf._grad = t
    elif old._v is None and old._a.flags.writeable:
        _add(old._a, g, old._a)
        old._v = [1, None]
    else:
        _add_in_place(old, g)


def _add_in_place(old, g):
    """The same for a gradient with a history: it may have views, or may not be written."""
    array = old._a
    check_expanded(array)
    if array.flags.writeable:
        xp.add(array, g, out=array)
    else:
        old._a = array + g
    bump(old)


def _accumulate_tensor(leaf, g):
    old = leaf._grad
    leaf._grad = _tensor_laid_out(g, leaf._a) if old is None else old + g


def accumulate(leaf, g):
    """Add the tensor ``g`` into ``leaf.grad``, recorded where grad mode is on."""
    if is_grad_enabled():
        _accumulate_tensor(leaf, g)
    else:
        _accumulate_array(leaf, g._a, False)


def _tensor_laid_out(g, like):
    """A copy that has ``g`` as its history, laid out as ``_laid_out`` says."""
    if not is_dense(like):
        return g.clone()
    return wrap(xp.empty_like(like, g._a.dtype)).copy_(g)
