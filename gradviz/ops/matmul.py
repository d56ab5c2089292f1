"""Products of matrices and vectors."""

from __future__ import annotations

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import RAW, TENSOR, Tensor, broadcast_error, not_a_tensor
from ..engine.tensor import wrap_dim
from ..engine.modes import local, state
from .declare import declare, method, only_method, public
from .lower import lowered
from .shape import expand, permute, reshape, squeeze, unsqueeze


def _swap(F, x):
    """The last two dimensions exchanged, conjugated."""
    return F.conj(F.transpose(x, -2, -1))


mm_op = declare("mm", lambda a, b: a.dot(b), "self mat2", node="MmBackward0", formula="∂self: g · mat2ᵀ    ∂mat2: selfᵀ · g",
                self=lambda F, g, mat2: F.mm(g, F.conj(F.t(mat2))), mat2=lambda F, g, self: F.mm(F.conj(F.t(self)), g))  # fmt: skip
mv_op = declare("mv", lambda a, b: a.dot(b), "self vec", node="MvBackward0", formula="∂self: g ⊗ vec    ∂vec: selfᵀ · g",
                self=lambda F, g, vec: F.ger(g, F.conj(vec)), vec=lambda F, g, self: F.mv(F.conj(F.t(self)), g))  # fmt: skip
dot_op = declare("dot", lambda a, b: a.dot(b), "self tensor", node="DotBackward0", formula="∂self: g · tensor    ∂tensor: g · self",
                 self=lambda F, g, tensor: g * F.conj(tensor), tensor=lambda F, g, self: g * F.conj(self))  # fmt: skip
vdot_op = declare("vdot", lambda a, b: xp.vdot(a, b), "self other", node="VdotBackward0",
                  self=lambda F, g, other: F.conj(g) * other, other=lambda F, g, self: g * self)  # fmt: skip
ger_op = declare("ger", lambda a, b: a[:, None] * b[None, :], "self vec2", node="MulBackward0",
                 self=lambda F, g, vec2: F.mv(g, F.conj(vec2)), vec2=lambda F, g, self: F.mv(F.t(g), F.conj(self)))  # fmt: skip
bmm_op = declare("bmm", lambda a, b: xp.matmul(a, b), "self mat2", node="BmmBackward0",
                 formula="∂self: g · mat2ᵀ    ∂mat2: selfᵀ · g, batch by batch",
                 self=lambda F, g, mat2: F.bmm(g, _swap(F, mat2)), mat2=lambda F, g, self: F.bmm(_swap(F, self), g))  # fmt: skip


def _addmm(bias, a, b, beta, alpha):
    out = a.dot(b)
    if alpha != 1:
        out *= out.dtype.type(alpha)
    out += bias if beta == 1 else bias * out.dtype.type(beta)
    return out


def _times(x, k):
    return x if k == 1 else x * k


addmm_op = declare("addmm", _addmm, "self mat1 mat2", "beta alpha", formula="∂self: g    ∂mat1: g · mat2ᵀ    ∂mat2: mat1ᵀ · g",
                   self=lambda F, g, beta: _times(g, beta),
                   mat1=lambda F, g, mat2, alpha: _times(F.mm(g, F.conj(F.t(mat2))), alpha),
                   mat2=lambda F, g, mat1, alpha: _times(F.mm(F.conj(F.t(mat1)), g), alpha))  # fmt: skip
# In ``linear`` mat2 is a weight seen transposed: its gradient is computed so that the weight's own comes out row by row.
linear_op = declare("linear_addmm", _addmm, "self mat1 mat2", "beta alpha", node="AddmmBackward0",
                    formula="∂self: g    ∂mat1: g · mat2ᵀ    ∂mat2: mat1ᵀ · g",
                    self=lambda F, g: g, mat1=lambda F, g, mat2: F.mm(g, F.conj(F.t(mat2))),
                    mat2=lambda F, g, mat1: F.t(F.mm(F.t(g), F.conj(mat1))))  # fmt: skip
linear_mm_op = declare("linear_mm", lambda a, b: a.dot(b), "self mat2", node="MmBackward0",
                       formula="∂self: g · mat2ᵀ    ∂mat2: selfᵀ · g", self=lambda F, g, mat2: F.mm(g, F.conj(F.t(mat2))),
                       mat2=lambda F, g, self: F.t(F.mm(F.t(g), F.conj(self))))  # fmt: skip
baddbmm_op = declare("baddbmm", lambda c, a, b, beta, alpha: _times(c, beta) + _times(xp.matmul(a, b), alpha), "self batch1 batch2",
                     "beta alpha", self=lambda F, g, beta: _times(g, beta),
                     batch1=lambda F, g, batch2, alpha: _times(F.bmm(g, _swap(F, batch2)), alpha),
                     batch2=lambda F, g, batch1, alpha: _times(F.bmm(_swap(F, batch1), g), alpha))  # fmt: skip
RAW.t, RAW.transpose = (lambda x: x.T), (lambda x, a, b: x.swapaxes(a, b))


def _check(name, a, b):
    for position, x in enumerate((a, b), 1):
        if not isinstance(x, Tensor):
            raise not_a_tensor(name, ("input", "other")[position - 1], position, x)
    if a._a.dtype != b._a.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {_c(a)} != {_c(b)}"
            if name != "dot"
            else f"dot : expected both vectors to have same dtype, but found {dtypes.scalar_name(a.dtype)} and "
            f"{dtypes.scalar_name(b.dtype)}"
        )


_C = {"float32": "float", "float64": "double", "int64": "long long", "int32": "int", "float16": "c10::Half", "bool": "bool",
      "bfloat16": "c10::BFloat16", "complex64": "c10::complex<float>", "complex128": "c10::complex<double>"}  # fmt: skip


def _c(x):
    return _C.get(x.dtype.name, x.dtype.name)


def _x(shape):
    return "x".join(map(str, shape))


def mm(input, mat2, *, out=None):
    """The product of two matrices."""
    if state.special and local.autocast is not None:
        input, mat2 = lowered(input, mat2)
    if input._a.ndim != 2 or mat2._a.ndim != 2:
        which = "self" if input._a.ndim != 2 else "mat2"
        raise RuntimeError(f"{which} must be a matrix")
    _check("mm", input, mat2)
    if input._a.shape[1] != mat2._a.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_x(input._a.shape)} and {_x(mat2._a.shape)})")
    return mm_op(input, mat2)


def mv(input, vec):
    """The product of a matrix and a vector."""
    if state.special and local.autocast is not None:
        input, vec = lowered(input, vec)
    _check("mv", input, vec)
    if input._a.shape[1] != vec._a.shape[0]:
        raise RuntimeError(f"size mismatch, got input ({input._a.shape[0]}), mat ({_x(input._a.shape)}), vec ({vec._a.shape[0]})")
    return mv_op(input, vec)


def dot(input, tensor):
    """The inner product of two vectors."""
    if input._a.ndim != 1 or tensor._a.ndim != 1:
        raise RuntimeError(f"1D tensors expected, but got {input._a.ndim}D and {tensor._a.ndim}D tensors")
    _check("dot", input, tensor)
    if input._a.shape != tensor._a.shape:
        raise RuntimeError(
            "inconsistent tensor size, expected tensor [{}] and src [{}] to have the same number of elements, but got {} and {} "
            "elements respectively".format(input._a.shape[0], tensor._a.shape[0], input._a.shape[0], tensor._a.shape[0])
        )
    return dot_op(input, tensor)


def bmm(input, mat2):
    """Products of matrices, batch by batch."""
    if state.special and local.autocast is not None:
        input, mat2 = lowered(input, mat2)
    if input._a.ndim != 3 or mat2._a.ndim != 3:
        raise RuntimeError(f"batch{1 if input._a.ndim != 3 else 2} must be a 3D tensor")
    _check("bmm", input, mat2)
    b, n, m = input._a.shape
    if mat2._a.shape[0] != b or mat2._a.shape[1] != m:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{b}, {m}] but got: [{mat2._a.shape[0]}, "
            f"{mat2._a.shape[1]}]."
        )
    return bmm_op(input, mat2)


def matmul(input, other, *, out=None):
    """The product of vectors, matrices or batches of matrices; batch dimensions broadcast."""
    if state.special and local.autocast is not None:
        input, other = lowered(input, other)
    try:
        a, b = input._a, other._a
        if a.ndim == 2 and b.ndim == 2 and a.dtype is b.dtype:
            return mm_op(input, other)
    except (AttributeError, ValueError):
        pass  # the checks below say what is wrong
    if not isinstance(other, Tensor) or not isinstance(input, Tensor):
        raise not_a_tensor("matmul", "other", 2, other)
    a, b = a.ndim, b.ndim
    if a == 2 and b == 2:
        return mm(input, other)
    if a == 0 or b == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a}D and {b}D")
    if a == 1 and b == 1:
        return dot(input, other)
    if a == 2 and b == 1:
        return mv(input, other)
    if a == 1 and b == 2:
        return squeeze(mm(unsqueeze(input, 0), other), 0)
    return _batched(input, other)


def _batched(input, other):
    """At least one operand has batch dimensions: fold what is shared into the rows, or broadcast and use bmm."""
    _check("matmul", input, other)
    a, b = input._a.ndim, other._a.ndim
    if a >= 3 and b <= 2:
        rows = reshape(input, (-1, input._a.shape[-1]))
        if b == 1:
            return reshape(mv(rows, other), input._a.shape[:-1])
        return reshape(mm(rows, other), (*input._a.shape[:-1], other._a.shape[1]))
    left = unsqueeze(input, 0) if a == 1 else input
    right = unsqueeze(other, -1) if b == 1 else other
    try:
        batch = xp.broadcast_shapes(left._a.shape[:-2], right._a.shape[:-2])
    except ValueError:
        raise broadcast_error(left._a.shape[:-2], right._a.shape[:-2]) from None
    n, m, p = left._a.shape[-2], left._a.shape[-1], right._a.shape[-1]
    if right._a.shape[-2] != m:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{_count(batch)}, {m}] but got: [{_count(batch)}, "
            f"{right._a.shape[-2]}]."
        )
    out = bmm_op(reshape(expand(left, (*batch, n, m)), (-1, n, m)), reshape(expand(right, (*batch, m, p)), (-1, m, p)))
    out = reshape(out, (*batch, n, p))
    if a == 1:
        out = squeeze(out, -2)
    return squeeze(out, -1) if b == 1 else out


def _count(shape):
    out = 1
    for n in shape:
        out *= n
    return out


def addmm(input, mat1, mat2, *, beta=1, alpha=1):
    """``beta · input + alpha · mat1 @ mat2``."""
    if state.special and local.autocast is not None:
        input, mat1, mat2 = lowered(input, mat1, mat2)
    if mat1._a.dtype != mat2._a.dtype:
        names = dtypes.scalar_name(mat1.dtype), dtypes.scalar_name(mat2.dtype)
        raise RuntimeError("mat1 and mat2 must have the same dtype, but got {} and {}".format(*names))
    if mat1._a.shape[1] != mat2._a.shape[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({_x(mat1._a.shape)} and {_x(mat2._a.shape)})")
    return addmm_op(input, mat1, mat2, beta, alpha)


for _f in (mm, mv, dot, bmm, matmul, addmm):
    method(_f)
method(lambda input, batch1, batch2, *, beta=1, alpha=1: baddbmm_op(input, batch1, batch2, beta, alpha), "baddbmm")
method(lambda input, vec2: ger_op(input, vec2), "outer")
method(lambda input, vec2: ger_op(input, vec2), "ger")
method(lambda input, other: dot(input, other) if input._a.ndim == 1 else (input * other).sum(-1), "inner")
method(lambda input, other: vdot_op(input, other), "vdot")
method(lambda input, mat, vec, *, beta=1, alpha=1: _times(input, beta) + _times(mv(mat, vec), alpha), "addmv")
Tensor.__matmul__ = matmul
Tensor.__rmatmul__ = lambda self, other: matmul(other, self)
TENSOR.matmul = matmul
RAW.matmul = xp.matmul


def linear(input, weight, bias=None):
    """``input @ weightᵀ + bias``: input (…, in), weight (out, in), bias (out)."""
    if state.special and local.autocast is not None:
        input, weight, bias = lowered(input, weight, bias)
    if input._a.shape[-1:] != weight._a.shape[1:2] and weight._a.ndim == 2:
        rows = _count(input._a.shape[:-1])
        raise RuntimeError(
            f"mat1 and mat2 shapes cannot be multiplied ({rows}x{input._a.shape[-1] if input._a.ndim else 1} and "
            f"{weight._a.shape[1]}x{weight._a.shape[0]})"
        )
    if weight._a.ndim == 1:
        return matmul(input, weight)
    _check_linear(input, weight, bias)
    turned = TENSOR.t(weight)
    n = input._a.ndim
    if n == 2:
        return linear_mm_op(input, turned) if bias is None else linear_op(bias, input, turned, 1, 1)
    if input._a.dtype != weight._a.dtype or (n < 2 and bias is None):
        return matmul(input, turned) if bias is None else matmul(input, turned) + bias
    rows = reshape(input, (-1, input._a.shape[-1]))
    shape = (*input._a.shape[:-1], weight._a.shape[0])
    if bias is not None and (n == 3 or input._a.flags.c_contiguous):
        return reshape(linear_op(bias, rows, turned, 1, 1), shape)
    out = TENSOR.unsafe_view(linear_mm_op(rows, turned), shape)
    return out if bias is None else out + bias


def _check_linear(input, weight, bias):
    if input._a.dtype != weight._a.dtype and input._a.ndim == 2:
        names = "mat1" if bias is not None else "self", dtypes.scalar_name(input.dtype), dtypes.scalar_name(weight.dtype)
        raise RuntimeError("{} and mat2 must have the same dtype, but got {} and {}".format(*names))


# ---------------------------------------------------------------- einsum, tensordot
def einsum(equation, *operands):
    """Sums of products by index letters, two operands at a time."""
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    terms, result = _parse(equation.replace(" ", ""), operands)
    out, letters = _diagonals(operands[0], terms[0])
    for k, x in enumerate(operands[1:], 1):
        later = set("".join(terms[k + 1 :])) | set(result)
        x, names = _diagonals(x, terms[k])
        out, letters = _contract(out, letters, x, names, later)
    drop = [i for i, c in enumerate(letters) if c not in result]
    if drop:
        out = out.sum(drop)
        letters = [c for c in letters if c in result]
    return permute(out, [letters.index(c) for c in result]) if letters else out


def _parse(equation, operands):
    left, arrow, right = equation.partition("->")
    terms = left.split(",")
    if len(terms) != len(operands):
        raise RuntimeError("einsum(): the number of operands specified in the equation was not " + f"{len(operands)}")
    wide = max((x._a.ndim - len(t.replace("...", "")) for x, t in zip(operands, terms, strict=True) if "..." in t), default=0)
    spare = "ΑΒΓΔΕΖΗΘ"[:wide]
    terms = [
        t.replace("...", spare[wide - (x._a.ndim - len(t.replace("...", ""))) :]) if "..." in t else t
        for x, t in zip(operands, terms, strict=True)
    ]
    for k, (x, t) in enumerate(zip(operands, terms, strict=True)):
        if x._a.ndim != len(t):
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(t)}) does not match the number of dimensions "
                f"({x._a.ndim}) for operand {k} and no ellipsis was given"
            )
    everything = "".join(terms)
    if not arrow:
        right = spare + "".join(sorted(c for c in set(everything) if everything.count(c) == 1 and c not in spare))
    return terms, list(right.replace("...", spare))


def _diagonals(x, term):
    letters = list(term)
    for c in dict.fromkeys(term):
        while letters.count(c) > 1:
            i = letters.index(c)
            j = letters.index(c, i + 1)
            x = x.diagonal(0, i, j)
            letters = [d for k, d in enumerate(letters) if k not in (i, j)] + [c]
    return x, letters


def _contract(a, la, b, lb, later):
    """Two operands to one: letters shared and not needed later are summed by one batched product."""
    only_a = [c for c in la if c not in lb and c not in later]
    only_b = [c for c in lb if c not in la and c not in later]
    if only_a:
        a, la = a.sum([la.index(c) for c in only_a]), [c for c in la if c not in only_a]
    if only_b:
        b, lb = b.sum([lb.index(c) for c in only_b]), [c for c in lb if c not in only_b]
    batch = [c for c in la if c in lb and c in later]
    inner = [c for c in la if c in lb and c not in later]
    rows, columns = [c for c in la if c not in lb], [c for c in lb if c not in la]
    size = {c: n for c, n in zip(la, a._a.shape, strict=True)}
    size.update({c: n for c, n in zip(lb, b._a.shape, strict=True) if n != 1 or c not in size})
    left = _arrange(a, la, (batch, rows, inner), size)
    right = _arrange(b, lb, (batch, inner, columns), size)
    out = bmm(left, right)
    return reshape(out, tuple(size[c] for c in batch + rows + columns)), batch + rows + columns


def _arrange(x, letters, groups, size):
    order = [c for group in groups for c in group]
    x = permute(x, [letters.index(c) for c in order]) if order else x
    x = expand(x, tuple(size[c] for c in order))
    return reshape(x, tuple(_count([size[c] for c in group]) for group in groups))


def tensordot(a, b, dims=2):
    """Contraction over the last ``dims`` of ``a`` and the first of ``b``, or over given pairs."""
    if isinstance(dims, int):
        da, db = list(range(a._a.ndim - dims, a._a.ndim)), list(range(dims))
    else:
        da, db = ([wrap_dim(d, x._a.ndim) for d in (ds if isinstance(ds, (list, tuple)) else [ds])] for ds, x in zip(dims, (a, b), strict=True))
    ra, rb = [d for d in range(a._a.ndim) if d not in da], [d for d in range(b._a.ndim) if d not in db]
    n = _count([a._a.shape[d] for d in da])
    left = reshape(permute(a, ra + da), (-1, n))
    right = reshape(permute(b, db + rb), (n, -1))
    return reshape(mm(left, right), (*[a._a.shape[d] for d in ra], *[b._a.shape[d] for d in rb]))


public("einsum", einsum)
public("tensordot", tensordot)
public("chain_matmul", lambda *matrices: _chain(matrices))


def _chain(matrices):
    out = matrices[0]
    for m in matrices[1:]:
        out = matmul(out, m)
    return out


only_method(lambda self, mat1, mat2, *, beta=1, alpha=1: self.copy_(addmm(self, mat1, mat2, beta=beta, alpha=alpha)), "addmm_")
