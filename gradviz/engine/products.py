"""The hot path of products of two matrices. PyTorch multiplies their gradients in the order in
which the factors lie in memory: which operation is recorded depends on that, too.
"""

from __future__ import annotations

from .dispatch import call, check_inference
from .events import door
from .modes import state
from .node import INFERENCE, LEAF, new, serial
from .operands import promoted
from .tensor import Tensor


def by_layout(ops):
    """``laid(a, b)``: of four operations the one for two matrices of one dtype, by whether the
    first, and the second, lies column by column as PyTorch sees it.
    """

    def laid(a, b):
        (rows, columns), (others, other_columns) = a.strides, b.strides
        n = a.itemsize
        first = rows == n and columns == n * a.shape[0]
        second = others == n and other_columns == n * b.shape[0]
        return ops[first][second]

    return laid


def product(forward, op, laid):
    """A function for the product of two matrices of one dtype; NumPy's ValueError where their
    shapes do not fit. ``laid(a, b)``: the operation that is recorded, ``op`` unless a factor lies
    column by column.
    """
    node_class = op.node

    def function(input, other):
        ad, bd = input._a, other._a
        if state.special:
            return call(laid(ad, bd), (input, other))
        if ad.dtype is not bd.dtype:
            ad, bd = promoted(input, other)
        t = new(Tensor)
        t._a = o = forward(ad, bd)
        t._v = t._view_ = None
        try:
            ga, gb = input._edge, other._edge
        except AttributeError:
            ga, gb = input._g, other._g
        if ga is None and gb is None:
            t._edge = None
            return t
        if ad.strides[0] == ad.itemsize or bd.strides[0] == bd.itemsize:
            node = new(laid(ad, bd).node)
        else:
            node = new(node_class)
        t._edge = node
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.r = node.mark = None
        node.e = (input if ga is LEAF else ga, other if gb is LEAF else gb)
        va, vb = input._v, other._v
        if gb is None:
            node.s = (None, None, other, vb and vb[0])
        elif ga is None:
            node.s = (input, va and va[0], None, None)
        else:
            node.s = (input, va and va[0], other, vb and vb[0])
        if va is INFERENCE or vb is INFERENCE:
            check_inference(node.s)
        if door.observer is not None:
            door.observer.operation(t, (input, other))
        return t

    return function


def affine(forward, laid):
    """A function ``(bias, a, b, beta, alpha)`` for ``beta · bias + alpha · a @ b``; ``laid`` as for
    ``product``.
    """

    def function(input, mat1, mat2, beta, alpha):
        ad, bd = mat1._a, mat2._a
        if state.special:
            return call(laid(ad, bd), (input, mat1, mat2), (beta, alpha))
        t = new(Tensor)
        t._a = o = forward(input._a, ad, bd, beta, alpha)
        t._v = t._view_ = None
        try:
            gi, ga, gb = input._edge, mat1._edge, mat2._edge
        except AttributeError:
            gi, ga, gb = input._g, mat1._g, mat2._g
        if gi is None and ga is None and gb is None:
            t._edge = None
            return t
        t._edge = node = new(laid(ad, bd).node)
        node.seq = serial()
        node.shape = o.shape
        node.dtype = o.dtype
        node.hooks = node.r = node.mark = None
        node.e = (
            input if gi is LEAF else gi,
            mat1 if ga is LEAF else ga,
            mat2 if gb is LEAF else gb,
        )
        node.s = () if ga is None and gb is None else _kept(mat1, mat2, ga, gb)
        node.at = (beta, alpha)
        if door.observer is not None:
            door.observer.operation(t, (input, mat1, mat2))
        return t

    return function


def _kept(a, b, ga, gb):
    """What a product saves: each factor for the gradient of the other."""
    va, vb = a._v, b._v
    kept = (None, None) if gb is None else (a, va and va[0])
    kept += (None, None) if ga is None else (b, vb and vb[0])
    if va is INFERENCE or vb is INFERENCE:
        check_inference(kept)
    return kept
