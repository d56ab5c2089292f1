"""Products of matrices and vectors."""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes, views
from ..engine.dispatch import Tensor
from ..engine.memory_format import contiguous_format
from ..engine.modes import local, state
from ..engine.operands import broadcast_error, not_a_tensor
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from . import fits
from .arithmetic import operator_of
from .clone import clone
from .declare import declare, method, only_method, public
from .expand import expand, unsqueeze
from .lower import lowered
from .mm import addmm_laid, addmm_op, linear_mm_op, linear_op, mm_op, times
from .out import called_with_out
from .permute import permute, transpose
from .shape import reshape, unsafe_view_op, view_op

ndarray = xp.ndarray


def _swap(F, x):
    """The last two dimensions exchanged, conjugated."""
    return F.conj(F.transpose(x, -2, -1))


mv_op = declare(
    "mv",
    lambda a, b: a.dot(b),
    "self vec",
    node="MvBackward0",
    formula="∂self: g ⊗ vec    ∂vec: selfᵀ · g",
    self=lambda F, g, vec: F.outer_of(g, F.conj(vec)),
    vec=lambda F, g, self: F.mv(F.t(self).conj(), g),
)
dot_op = declare(
    "dot",
    lambda a, b: a.dot(b),
    "self tensor",
    node="DotBackward0",
    formula="∂self: g · tensor    ∂tensor: g · self",
    self=lambda F, g, tensor: g * F.conj(tensor),
    tensor=lambda F, g, self: g * F.conj(self),
)
vdot_op = declare(
    "vdot",
    lambda a, b: xp.vdot(a, b),
    "self other",
    node="VdotBackward0",
    self=lambda F, g, other: F.conj(g) * other,
    other=lambda F, g, self: g * self,
)
ger_op = declare(
    "ger",
    lambda a, b: a[:, None] * b[None, :],
    "self vec2",
    node="MulBackward0",
    self=lambda F, g, vec2: F.mv(g, F.conj(vec2)),
    vec2=lambda F, g, self: F.mv(F.t(g), F.conj(self)),
)


# PyTorch sees ``g`` as a column before it multiplies.
RAW.outer_of = ger_op.op.forward
TENSOR.outer_of = lambda g, vec: reshape(g, (-1, 1)) * vec


def products(a, b):
    """Products of matrices, batch by batch; NumPy makes float32 of bfloat16."""
    return xp.matmul(a, b).astype(a.dtype, copy=False)


bmm_op = declare(
    "bmm",
    products,
    "self mat2",
    node="BmmBackward0",
    formula="∂self: g · mat2ᵀ    ∂mat2: selfᵀ · g, batch by batch",
    self=lambda F, g, mat2: F.bmm(g, _swap(F, mat2)),
    mat2=lambda F, g, self: F.bmm(_swap(F, self), g),
)


baddbmm_op = declare(
    "baddbmm",
    lambda c, a, b, beta, alpha: times(c, beta) + times(products(a, b), alpha),
    "self batch1 batch2",
    "beta alpha",
    self=lambda F, g, beta: times(g, beta.conjugate()),
    batch1=lambda F, g, batch2, alpha: times(F.bmm(g, _swap(F, batch2)), alpha.conjugate()),
    batch2=lambda F, g, batch1, alpha: times(F.bmm(_swap(F, batch1), g), alpha.conjugate()),
)


def mm(input, mat2, *, out=None):
    """The product of two matrices."""
    if out is not None:
        return called_with_out("mm", mm, (input, mat2), {"out": out}, False)
    if state.special and local.autocast is not None:
        input, mat2 = lowered(input, mat2)
    fits.check_mm(input, mat2)
    return mm_op(input, mat2)


def mv(input, vec):
    """The product of a matrix and a vector."""
    fits.check_mv(input, vec)
    return mv_op(input, vec)


def vdot(input, other):
    """The inner product of two vectors, the first conjugated."""
    fits.check_dot(input, other)
    return vdot_op(input, other)


def dot(input, tensor):
    """The inner product of two vectors."""
    fits.check_dot(input, tensor)
    return dot_op(input, tensor)


def bmm(input, mat2):
    """Products of matrices, batch by batch."""
    if state.special and local.autocast is not None:
        input, mat2 = lowered(input, mat2)
    fits.check_bmm(input, mat2)
    return bmm_op(input, mat2)


def matmul(input, other, *, out=None):
    """The product of vectors, matrices or batches of matrices; batch dimensions broadcast."""
    if out is not None:
        return called_with_out("matmul", matmul, (input, other), {"out": out}, False)
    if state.special and local.autocast is not None:
        input, other = lowered(input, other)
    if not isinstance(other, Tensor) or not isinstance(input, Tensor):
        raise (
            not_a_tensor("matmul", "other", 2, other)
            if isinstance(input, Tensor)
            else not_a_tensor("matmul", "input", 1, input)
        )
    a, b = input._a.ndim, other._a.ndim
    if a == 2 and b == 2:
        return mm(input, other)
    if a == 0 or b == 0:
        raise RuntimeError(
            f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D"
        )
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1 and b == 2:
        return drop_first(mm(unsqueeze(input, 0), other))
    return _batched(input, other)


_at_large = operator_of(matmul)


def _at(self, other):
    """``self @ other``: as ``matmul``, but what is no tensor is left to Python."""
    if not isinstance(other, Tensor):
        return NotImplemented
    a, b = self._a, other._a
    if a.ndim == 2 == b.ndim and a.dtype is b.dtype and a.dtype.kind != "b" and not state.special:
        try:
            return mm_op(self, other)
        except ValueError:
            pass  # matmul says what is wrong
    return _at_large(self, other)


drop_first = declare(
    "drop_first",
    lambda x: x.reshape(x.shape[1:]),
    "self",
    node="SqueezeBackward4",
    formula="g in the shape of self",
    also={"dim": lambda node: 0},
    self=lambda F, g, self_shape: F.with_dims(g, self_shape, (0,)),
)


def _batched(input, other):
    """At least one operand has batch dimensions: fold what is shared into the rows, or broadcast
    and use bmm.
    """
    a, b = input._a.ndim, other._a.ndim
    if a >= 3 and b <= 2:
        rows = reshape(input, (-1, input._a.shape[-1]))
        if b == 1:
            return unsafe_view_op(mv(rows, other), input._a.shape[:-1])
        return unsafe_view_op(mm(rows, other), (*input._a.shape[:-1], other._a.shape[1]))
    if a <= 2:
        fits.check_stacked(_count(other._a.shape[:-2]), input, other)
        folded = _batched(transpose(other, -2, -1), input if a == 1 else TENSOR.t(input))
        return (
            folded if a == 1 else clone(transpose(folded, -2, -1), memory_format=contiguous_format)
        )
    try:
        batch = xp.broadcast_shapes(input._a.shape[:-2], other._a.shape[:-2])
    except ValueError:
        raise broadcast_error(input._a.shape[:-2], other._a.shape[:-2]) from None
    n, m, p = input._a.shape[-2], input._a.shape[-1], other._a.shape[-1]
    fits.check_stacked(_count(batch), input, other)
    out = bmm_op(_stacked(expand(input, (*batch, n, m))), _stacked(expand(other, (*batch, m, p))))
    return unsafe_view_op(out, (*batch, n, p))


def _stacked(x):
    """All batch dimensions as one."""
    return reshape(x, (_count(x._a.shape[:-2]), *x._a.shape[-2:]))


def _count(shape):
    out = 1
    for n in shape:
        out *= n
    return out


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """``beta · input + alpha · mat1 @ mat2``."""
    if state.special and local.autocast is not None:
        input, mat1, mat2 = lowered(input, mat1, mat2)
    fits.check_addmm(input, mat1, mat2)
    return addmm_op(input, mat1, mat2, *_factors(input, beta, alpha))


def _factors(own, beta, alpha):
    """The numbers that scale; RuntimeError where the dtype cannot hold one."""
    dtype = own._a.dtype
    wide = dtypes.float32.np if dtype.itemsize == 2 else dtype
    for number in (beta, alpha):
        if number != 1:
            dtypes.held(number, wide)
    return beta, alpha


for _name in ("spmm", "dsmm"):
    public(_name, mm)  # of dense matrices
for _f in (mm, mv, dot, bmm, matmul, addmm):
    method(_f)


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1):
    """``beta · input + alpha · batch1 @ batch2``, batch by batch."""
    if state.special and local.autocast is not None:
        input, batch1, batch2 = lowered(input, batch1, batch2)
    fits.check_baddbmm(input, batch1, batch2)
    return baddbmm_op(input, batch1, batch2, *_factors(input, beta, alpha))


method(baddbmm)


def addmm_(self, mat1, mat2, *, beta=1, alpha=1):
    """In-place ``addmm``."""
    fits.check_addmm(self, mat1, mat2)
    fits.check_target(self, (mat1._a.shape[0], mat2._a.shape[1]))
    return views.write(
        addmm_laid(mat1._a, mat2._a), (self, mat1, mat2), _factors(self, beta, alpha)
    )


def baddbmm_(self, batch1, batch2, *, beta=1, alpha=1):
    """In-place ``baddbmm``."""
    fits.check_baddbmm_in_place(self, batch1, batch2)
    fits.check_target(self, (*batch1._a.shape[:2], batch2._a.shape[2]))
    return views.write(baddbmm_op.op, (self, batch1, batch2), _factors(self, beta, alpha))


only_method(addmm_)
only_method(baddbmm_)


def outer(input, vec2, *, out=None):
    """The outer product of two vectors."""
    for position, x in enumerate((input, vec2), 1):
        if x._a.ndim != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {'self' if position == 1 else 'vec2'}, but got "
                f"{x._a.ndim}-D"
            )
    return TENSOR.mul(view_op(input, (input._a.shape[0], 1)), vec2)


def inner(input, other, *, out=None):
    """Dot products of the last dimensions."""
    if input._a.ndim == 0 or other._a.ndim == 0:
        return TENSOR.mul(input, other)
    if input._a.shape[-1] != other._a.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input._a.shape)} and "
            f"{list(other._a.shape)}"
        )
    return tensordot(input, other, [[-1], [-1]])


def _outgrown(self, result):
    """``self`` as what an in-place form made that takes another size."""
    views.check_inplace(self, result.requires_grad)
    self._a = result._a
    views.bump(self)
    if result._g is not None:
        views.rebase(self, result._g)
    return self


def _added(name, op_function, product, check, cast=None, in_place=None, grows=False):
    """``beta · input + alpha · product``, recorded as one node, and its in-place form. ``check``
    says what does not fit, ``in_place`` in the in-place form, which ``grows`` where its tensor is
    smaller.
    """

    def function(input, first, second, *, beta=1, alpha=1, out=None):
        if cast is not None and state.special and local.autocast is not None:
            input, first, second = cast(input, first, second)
        check(input, first, second)
        shape = product(first._a.shape, second._a.shape)
        return op_function(
            input if input._a.shape == shape else expand(input, shape),
            first,
            second,
            *_factors(input, beta, alpha),
        )

    def inplace(self, first, second, *, beta=1, alpha=1):
        (in_place or check)(self, first, second)
        if grows and self._a.shape != product(first._a.shape, second._a.shape):
            return _outgrown(self, function(self, first, second, beta=beta, alpha=alpha))
        fits.check_target(self, product(first._a.shape, second._a.shape))
        return views.write(op_function.op, (self, first, second), _factors(self, beta, alpha))

    function.__doc__ = f"``{name}``: beta · input + alpha · product."
    inplace.__name__, inplace.__doc__ = f"{name}_", f"In-place ``{name}``."
    method(function, name)
    only_method(inplace)


addmv_op = declare(
    "addmv_op",
    lambda c, mat, vec, beta, alpha: times(c, beta) + times(mat.dot(vec), alpha),
    "self mat vec",
    "beta alpha",
    node="AddmvBackward0",
    self=lambda F, g, beta: times(g, beta.conjugate()),
    mat=lambda F, g, vec, alpha: times(F.outer_of(g, F.conj(vec)), alpha.conjugate()),
    vec=lambda F, g, mat, alpha: times(F.mv(F.conj(F.t(mat)), g), alpha.conjugate()),
)
addr_op = declare(
    "addr_op",
    lambda c, a, b, beta, alpha: times(c, beta) + times(a[:, None] * b[None, :], alpha),
    "self vec1 vec2",
    "beta alpha",
    node="AddrBackward0",
    self=lambda F, g, beta: times(g, beta.conjugate()),
    vec1=lambda F, g, vec2, alpha: times(F.mv(g, F.conj(vec2)), alpha.conjugate()),
    vec2=lambda F, g, vec1, alpha: times(F.mv(F.t(g), F.conj(vec1)), alpha.conjugate()),
)


def _each(F, g, shape):
    return F.expand_to(
        F.unsqueeze(g, 0),
        (shape[0], *(g if F is RAW else g._a).shape),
    )


_SIZES = {
    "batch1_sym_argsize_0": lambda node: node.at[-1][0],
    "batch1_sym_argsize_1": lambda node: node.at[-1][1],
    "batch2_sym_argsize_2": lambda node: node.shape[-1],
}
addbmm_op = declare(
    "addbmm_op",
    lambda c, a, b, beta, alpha: (
        times(c, beta) + times(xp.matmul(a, b).sum(0, dtype=c.dtype), alpha)
    ),
    "self batch1 batch2",
    "beta alpha",
    node="AddbmmBackward0",
    also=_SIZES,
    hidden=("batch1_sym_sizes",),
    self=lambda F, g, beta: times(g, beta.conjugate()),
    batch1=lambda F, g, batch2, batch1_shape, alpha: times(
        F.bmm(_each(F, g, batch1_shape), _swap(F, batch2)), alpha.conjugate()
    ),
    batch2=lambda F, g, batch1, batch1_shape, alpha: times(
        F.bmm(_swap(F, batch1), _each(F, g, batch1_shape)), alpha.conjugate()
    ),
)
method(outer)
method(outer, "ger")
method(inner)
_added("addmv", addmv_op, lambda mat, vec: mat[:1], fits.check_addmv)
_added("addr", addr_op, lambda a, b: a + b, fits.check_addr, in_place=fits.check_addr_in_place)
_added("addbmm", addbmm_op, lambda a, b: (a[1], b[2]), fits.check_addbmm, lowered, grows=True)
public("addmv_", Tensor.addmv_)
method(vdot)
Tensor.__matmul__ = _at
Tensor.__rmatmul__ = lambda self, other: (
    matmul(other, self) if isinstance(other, Tensor) else NotImplemented
)
TENSOR.matmul = matmul
RAW.matmul = xp.matmul


def linear(input, weight, bias=None):
    """``input @ weightᵀ + bias``: input (…, in), weight (out, in), bias (out)."""
    if state.special and local.autocast is not None:
        input, weight, bias = lowered(input, weight, bias)
    if input._a.shape[-1:] != weight._a.shape[1:2] and weight._a.ndim == 2:
        if not input._a.ndim:
            raise RuntimeError(
                "both arguments to linear need to be at least 1D, but they are 0D and 2D"
            )
        rows = _count(input._a.shape[:-1])
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({rows}x{input._a.shape[-1]} and "
            f"{weight._a.shape[1]}x{weight._a.shape[0]})"
        )
    if weight._a.ndim == 1:
        return matmul(input, weight)
    if weight._a.ndim > 2:
        raise RuntimeError(
            f"t() expects a tensor with <= 2 dimensions, but self is {weight._a.ndim}D"
        )
    kind = input._a.dtype
    if (
        kind is not weight._a.dtype
        or kind.kind == "b"
        or bias is not None
        and bias._a.dtype is not kind
    ):
        fits.check_linear(input, weight, bias)
    turned = TENSOR.t(weight)
    n = input._a.ndim
    if n == 2:
        return linear_mm_op(input, turned) if bias is None else linear_op(bias, input, turned, 1, 1)
    if n < 2 and bias is None:
        return matmul(input, turned)
    rows = reshape(input, (-1, input._a.shape[-1]))
    shape = (*input._a.shape[:-1], weight._a.shape[0])
    if bias is not None and (n == 3 or input._a.flags.c_contiguous):
        return reshape(linear_op(bias, rows, turned, 1, 1), shape)
    out = TENSOR.unsafe_view(linear_mm_op(rows, turned), shape)
    return out if bias is None else out + bias


# ---------------------------------------------------------------- two vectors through a weight
def _by_rows(F, x, y):
    """The outer products of the rows of two matrices, one a row."""
    n, i = (x if F is RAW else x._a).shape
    j = (y if F is RAW else y._a).shape[1]
    return F.reshape(F.reshape(x, (n, i, 1)) * F.reshape(y, (n, 1, j)), (n, i * j))


def _weighed(F, g, weight):
    """Σ g · weight over its outputs: (rows, in1, in2)."""
    rows = (g if F is RAW else g._a).shape[0]
    k, i, j = (weight if F is RAW else weight._a).shape
    return F.reshape(F.mm(g, F.reshape(weight, (k, i * j))), (rows, i, j))


def _column(F, x):
    return F.reshape(x, (*(x if F is RAW else x._a).shape, 1))


def _flat(F, x):
    return F.reshape(x, (x if F is RAW else x._a).shape[:2])


trilinear_op = declare(
    "trilinear",
    lambda x, w, y: products(_by_rows(RAW, x, y), w.reshape(len(w), -1).T),
    "self weight other",
    formula="∂self: g · weight · other    ∂weight: g · self · other    ∂other: g · weight · self",
    self=lambda F, g, weight, other: _flat(F, F.bmm(_weighed(F, g, weight), _column(F, other))),
    weight=lambda F, g, self, other, weight_shape: F.reshape(
        F.mm(F.t(g), _by_rows(F, self, other)), weight_shape
    ),
    other=lambda F, g, self, weight: _flat(
        F, F.bmm(F.transpose(_weighed(F, g, weight), -2, -1), _column(F, self))
    ),
)


# ---------------------------------------------------------------- einsum, tensordot
def einsum(equation, *operands):
    """Sums of products by index letters, two operands at a time."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if not operands:
        raise ValueError(
            "einsum(): must provide at least one operand"
            if isinstance(equation, str)
            else "einsum(): must specify the equation string and at least one operand, or at "
            "least one operand and its subscripts list"
        )
    terms, result = _parse(equation.replace(" ", ""), operands)
    letters = result + sorted({c for t in terms for c in t} - set(result))
    aligned = [_aligned(x, t, letters) for x, t in zip(operands, terms, strict=True)]
    if len(aligned) == 1:
        summed = tuple(range(len(result), len(letters)))
        return TENSOR.sum_dims(aligned[0], summed, False) if summed else aligned[0]
    _check_sizes(aligned, letters)
    last = {d: max(k for k, t in enumerate(terms) if letters[d] in t) for d in range(len(letters))}
    out = aligned[0]
    out = _sum_finished(out, [d for d in range(len(result), len(letters)) if last[d] == 0])
    for k, x in enumerate(aligned[1:], 1):
        finished = [d for d in range(len(result), len(letters)) if last[d] == k]
        out = _pair(out, x, finished)
    return out if len(result) == len(letters) else reshape_away(out, len(result))


def reshape_away(x, ndim):
    """``x`` without its last dimensions, which are all of size 1."""
    return x if x._a.ndim == ndim else reshape(x, x._a.shape[:ndim])


def _aligned(x, term, letters):
    """``x`` with one dimension a letter of the whole equation, in that order; absent letters have
    size 1.
    """
    x, names = _diagonals(x, term)
    for _ in range(len(letters) - len(names)):
        x = unsqueeze(x, x._a.ndim)
    missing = iter(range(len(names), len(letters)))
    order = [names.index(c) if c in names else next(missing) for c in letters]
    return permute(x, order) if order else x


def _check_sizes(tensors, letters):
    for d, c in enumerate(letters):
        sizes = [x._a.shape[d] for x in tensors]
        wide = {n for n in sizes if n != 1}
        if len(wide) > 1:
            k = next(i for i, n in enumerate(sizes) if n != 1 and n != sizes[0])
            raise RuntimeError(
                f"einsum(): subscript {c} has size {sizes[k]} for operand {k} which does not "
                "broadcast with previously seen "
                f"size {next(n for n in sizes if n != 1)}"
            )


def _sum_finished(x, dims):
    wide = [d for d in dims if x._a.shape[d] != 1]
    out = x
    if wide:
        out = TENSOR.sum_dims(x, tuple(dims), True)
    return out


def _pair(a, b, finished):
    """The product of two aligned operands, summed over the ``finished`` dimensions (kept as size
    1).
    """
    a = _sum_finished(a, [d for d in finished if b._a.shape[d] == 1])
    b = _sum_finished(b, [d for d in finished if a._a.shape[d] == 1])
    inner = [d for d in finished if a._a.shape[d] != 1 and b._a.shape[d] != 1]
    if not inner:
        return TENSOR.mul(a, b)
    return _sum_product(a, b, inner)


def _sum_product(a, b, inner):
    """Σ a · b over ``inner`` by one batched product; the others are batch, rows or columns."""
    sa, sb = a._a.shape, b._a.shape
    batch = [d for d in range(len(sa)) if d not in inner and sa[d] != 1 and sb[d] != 1]
    rows = [d for d in range(len(sa)) if d not in inner and sa[d] != 1 and sb[d] == 1]
    columns = [d for d in range(len(sa)) if d not in inner and sb[d] != 1 and sa[d] == 1]
    rest = [d for d in range(len(sa)) if d not in (*inner, *batch, *rows, *columns)]
    size = lambda shape, dims: _count([shape[d] for d in dims])  # noqa: E731
    left = reshape(
        permute(a, batch + rows + inner + columns + rest),
        (size(sa, batch), size(sa, rows), size(sa, inner)),
    )
    right = reshape(
        permute(b, batch + inner + columns + rows + rest),
        (size(sb, batch), size(sb, inner), size(sb, columns)),
    )
    if state.special and local.autocast is not None:
        left, right = lowered(left, right)
    out = bmm_op(left, right)
    order = batch + rows + inner + columns + rest
    wide = reshape(out, tuple(sb[d] if d in columns else 1 if d in inner else sa[d] for d in order))
    return permute(wide, [order.index(d) for d in range(len(sa))])


def _parse(equation, operands):
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        more = "fewer" if len(operands) < len(terms) else "more"
        raise RuntimeError(
            f"einsum(): {more} operands were provided than specified in the equation"
        )
    wide = max(
        (
            x._a.ndim - len(t.replace("...", ""))
            for x, t in zip(operands, terms, strict=True)
            if "..." in t
        ),
        default=0,
    )
    spare = "ΑΒΓΔΕΖΗΘ"[:wide]
    terms = [
        t.replace("...", spare[wide - (x._a.ndim - len(t.replace("...", ""))) :])
        if "..." in t
        else t
        for x, t in zip(operands, terms, strict=True)
    ]
    for k, (x, t) in enumerate(zip(operands, terms, strict=True)):
        if x._a.ndim != len(t):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(t)}) does not match "
                "the number of dimensions "
                f"({x._a.ndim}) for operand {k} and no ellipsis was given"
            )
    everything = "".join(terms)
    if not arrow:
        right = spare + "".join(
            sorted(c for c in set(everything) if everything.count(c) == 1 and c not in spare)
        )
    return terms, list(right.replace("...", spare))


def _diagonals(x, term):
    letters = list(term)
    for c in dict.fromkeys(term):
        while letters.count(c) > 1:
            i = letters.index(c)
            j = letters.index(c, i + 1)
            x = x.diagonal(0, i, j).movedim(-1, i)
            del letters[j]
    return x, letters


def tensordot(a, b, dims=2):
    """Contraction over the last ``dims`` of ``a`` and the first of ``b``, or over given pairs."""
    if isinstance(dims, int) and dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if isinstance(dims, int) and dims > min(a._a.ndim, b._a.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    if isinstance(dims, int):
        da, db = [wrap_dim(d - dims, a._a.ndim) for d in range(dims)], list(range(dims))
    else:
        da, db = (
            [wrap_dim(d, x._a.ndim) for d in (ds if isinstance(ds, (list, tuple)) else [ds])]
            for ds, x in zip(dims, (a, b), strict=True)
        )
    if len(da) != len(db):
        raise RuntimeError("both dimension lists should have same length")
    shown = lambda d: getattr(d, "written", d)  # noqa: E731
    for p, q in zip(da, db, strict=True):
        if a._a.shape[p] != b._a.shape[q]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a._a.shape[p]} in dim "
                f"{shown(p)} and second has size {b._a.shape[q]} in dim {shown(q)}"
            )
    if len(da) == a._a.ndim == 1 and b._a.ndim == 1:
        return view_op(dot(permute(a, da), permute(b, db)), ())
    ra, rb = (
        [d for d in range(a._a.ndim) if d not in da],
        [d for d in range(b._a.ndim) if d not in db],
    )
    n = _count([a._a.shape[d] for d in da])
    left = reshape(permute(a, ra + da), (-1, n))
    right = reshape(permute(b, db + rb), (n, -1))
    return reshape(mm(left, right), (*[a._a.shape[d] for d in ra], *[b._a.shape[d] for d in rb]))


public("einsum", einsum)
public("tensordot", tensordot)
