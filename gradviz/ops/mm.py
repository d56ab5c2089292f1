"""The product of two matrices, alone and added to a bias: one operation for each way in which the
factors lie in memory.
"""

from __future__ import annotations

from ..backend import contiguous, xp
from ..engine.dispatch import Tensor
from ..engine.operation import RAW, TENSOR
from ..engine.products import affine, by_layout, product
from . import fits
from .declare import declare, variant

ndarray = xp.ndarray
RAW.t, RAW.transpose = (lambda x: x.T), (lambda x, a, b: x.swapaxes(a, b) if x.ndim else x)


def times(x, k):
    """``x`` times a number, in its own dtype."""
    if k == 1:
        return x
    return x * k if isinstance(x, Tensor) else x * x.dtype.type(k)


# ---------------------------------------------------------------- the gradients
def _first(F, g, mat2):
    return F.mm(g, F.t(mat2).conj())


def _first_by_columns(F, g, mat2):
    return F.t(F.mm(mat2.conj(), F.t(g)))


def _second(F, g, self):
    return F.mm(F.t(self).conj(), g)


def _second_by_columns(F, g, self):
    return F.t(F.mm(F.t(g), self.conj()))


FIRST, SECOND = (_first, _first_by_columns), (_second, _second_by_columns)


# ---------------------------------------------------------------- what PyTorch shows of the factors
def _shape_along(edge):
    if edge._kind == 1:
        return edge.node._a.shape if edge.node._kind == 2 else edge.node.shape[edge.nr]
    return edge._a.shape if edge._kind == 2 else edge.shape


def _inner(node):
    """How many columns the first factor has, and rows the second."""
    first, second = node.e[-2:]
    if first is None and second is None:
        return 0
    return _shape_along(second)[0] if first is None else _shape_along(first)[1]


def _sizes(place):
    def sizes(node):
        n = _inner(node)
        return (n, node.shape[1]) if place else (node.shape[0], n)

    return sizes


def _strides(place, by_columns):
    def strides(node):
        if node.e[place - 2] is None:
            return ()
        rows, columns = _sizes(place)(node)
        return (1, rows) if by_columns else (columns, 1)

    return strides


def _shown(names, by_columns):
    return {
        f"{name}_sym_{what}": found
        for place, name in enumerate(names)
        for what, found in (
            ("sizes", _sizes(place)),
            ("strides", _strides(place, by_columns[place])),
        )
    }


# ---------------------------------------------------------------- the operations
def _for_each_layout(op, names, derivatives):
    """The operation where both factors lie row by row, and which is recorded for others."""
    ops = [
        [
            variant(
                op,
                op.also | _shown(names, (first, second)),
                **derivatives(FIRST[first], SECOND[second]),
            )
            for second in (False, True)
        ]
        for first in (False, True)
    ]
    return ops[0][0], by_layout(ops)


def _of_mm(first, second):
    return {
        "self": lambda F, g, mat2: first(F, g, mat2),
        "mat2": lambda F, g, self: second(F, g, self),
    }


def _of_addmm(first, second):
    return {
        "self": lambda F, g, beta: times(g, beta.conjugate()),
        "mat1": lambda F, g, mat2, alpha: times(first(F, g, mat2), alpha.conjugate()),
        "mat2": lambda F, g, mat1, alpha: times(second(F, g, mat1), alpha.conjugate()),
    }


def _of_linear(first, second):
    return {
        "self": lambda F, g: g,
        "mat1": lambda F, g, mat2: first(F, g, mat2),
        "mat2": lambda F, g, mat1: second(F, g, mat1),
    }


def _addmm(bias, a, b, beta, alpha):
    out = a.dot(b)
    if alpha != 1:
        out *= out.dtype.type(alpha)
    try:
        out += bias if beta == 1 else bias * out.dtype.type(beta)
    except ValueError:
        raise fits.does_not_expand(bias.shape, out.shape) from None
    return out


def _turns(a, b):
    """Whether a small batch meets a large weight that is seen transposed: OpenBLAS copies such a
    weight element by element before it multiplies, and does not when the product is transposed.
    """
    return (
        4 < len(a) <= 64
        and b.size >= 1 << 14
        and b.shape[1] > 64
        and b.__class__ is ndarray
        and b.flags.f_contiguous
    )


def _linear_addmm(bias, a, b, beta, alpha):
    if _turns(a, b) and bias.shape == b.shape[1:]:
        turned = b.T.dot(a.T)
        return xp.add(turned.T, bias, out=xp.empty_like(turned, shape=turned.shape[::-1]))
    return _addmm(bias, a, b, beta, alpha)


def _linear_mm(a, b):
    return contiguous(b.T.dot(a.T).T) if _turns(a, b) else a.dot(b)


_plain, _laid = _for_each_layout(
    declare(
        "mm",
        lambda a, b: a.dot(b),
        "self mat2",
        node="MmBackward0",
        formula="∂self: g · mat2ᵀ    ∂mat2: selfᵀ · g",
        **_of_mm(FIRST[0], SECOND[0]),
    ).op,
    ("self", "mat2"),
    _of_mm,
)
mm_op = TENSOR.mm = product(_plain.forward, _plain, _laid)
linear_mm_op = product(_linear_mm, _plain, _laid)

plain_addmm, addmm_laid = _for_each_layout(
    declare(
        "addmm",
        _addmm,
        "self mat1 mat2",
        "beta alpha",
        formula="∂self: β · g    ∂mat1: α · g · mat2ᵀ    ∂mat2: α · mat1ᵀ · g",
        **_of_addmm(FIRST[0], SECOND[0]),
    ).op,
    ("mat1", "mat2"),
    _of_addmm,
)
addmm_op = TENSOR.addmm = affine(plain_addmm.forward, addmm_laid)
_linear, _linear_laid = _for_each_layout(
    declare(
        "linear_addmm",
        _linear_addmm,
        "self mat1 mat2",
        "beta alpha",
        node="AddmmBackward0",
        formula="∂self: g    ∂mat1: g · mat2ᵀ    ∂mat2: mat1ᵀ · g",
        also={"alpha": lambda node: 1, "beta": lambda node: 1},
        **_of_linear(FIRST[0], SECOND[0]),
    ).op,
    ("mat1", "mat2"),
    _of_linear,
)
linear_op = TENSOR.linear_addmm = affine(_linear.forward, _linear_laid)
