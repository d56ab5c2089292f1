"""Linear algebra: determinants, inverses, factorisations, and what is built from them. NumPy
computes, derivatives are ours.
"""

from __future__ import annotations

import math

from ..backend import xp
from ..engine import dtypes
from ..engine.dispatch import RAW, TENSOR, wrap
from ..engine.tensor import wrap_dim
from .declare import declare, method, public
from .matmul import _swap
from .reduce import axes, return_types
from .statistics import vector_norm

LINALG = {}


class LinAlgError(RuntimeError):
    """A matrix is singular, or not positive-definite, or a factorisation did not converge."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def linalg(function, name=None):
    """Make ``gradviz.linalg.<name>``."""
    LINALG[name or function.__name__] = function
    return function


# ---------------------------------------------------------------- checks
def _floating(name, *tensors):
    for x in tensors:
        if x._a.dtype.kind not in "fc":
            raise RuntimeError(
                f"{name}: Expected a floating point or complex tensor as input. Got "
                f"{dtypes.scalar_name(x.dtype)}"
            )
        if x._a.dtype == xp.float16:
            raise RuntimeError(f"{name}: Low precision dtypes not supported. Got Half")


def _matrix(name, x, argument="A"):
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    _floating(name, x)


def _square(name, x, argument="A"):
    _matrix(name, x, argument)
    n, m = x._a.shape[-2:]
    if n != m:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are {n} by {m} "
            "matrices"
        )


def _refuse_singular(name, array, what="inversion"):
    """PyTorch's error for the first singular matrix of a batch."""
    flat = array.reshape(-1, *array.shape[-2:])
    for k, a in enumerate(flat):
        place = _zero_pivot(a)
        if place:
            where = f"(Batch element {k}): " if array.ndim > 2 else ""
            raise LinAlgError(
                f"{name}: {where}The diagonal element {place} is zero, the {what} could not be "
                "completed because the input matrix is "
                "singular."
            )
    raise LinAlgError(
        f"{name}: The {what} could not be completed because the input matrix is singular."
    )


def _zero_pivot(a):
    """The 1-based place of the first zero pivot of Gaussian elimination."""
    diagonal = xp.diagonal(_lu_parts(a)[2])
    zero = xp.nonzero(diagonal == 0)[0]
    return int(zero[0]) + 1 if zero.size else 0


def _columns(x):
    """``x`` laid out column by column, as LAPACK leaves it and PyTorch shows it."""
    return xp.ascontiguousarray(x.swapaxes(-2, -1)).swapaxes(-2, -1)


# ---------------------------------------------------------------- determinant, inverse
def _eye_like(F, x):
    a = x if F is RAW else x._a
    return F.constant(xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype), a.shape).copy())


def _unsqueeze2(F, x):
    shape = tuple((x if F is RAW else x._a).shape)
    return F.reshape(x, (*shape, 1, 1))


def _det_grad(F, g, self, result):
    a = self if F is RAW else self._a
    scale = _unsqueeze2(F, g * F.conj(result))
    if (result if F is RAW else result._a).all():
        return scale * _swap(F, F.inv_op(self))
    return _unsqueeze2(F, g) * F.cofactors(self) if a.size else F.zeros_like(self)


def _cofactors(a):
    """The conjugate transpose of the adjugate, from the singular values: also for singular
    matrices.
    """
    u, s, vh = xp.linalg.svd(a)
    others = xp.ones(s.shape, s.dtype)
    for k in range(s.shape[-1]):
        others[..., k] = xp.delete(s, k, -1).prod(-1)
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    return xp.conj(sign)[..., None, None] * ((u * others[..., None, :]) @ vh)


RAW.cofactors = _cofactors
TENSOR.cofactors = lambda x: wrap(_cofactors(x._a))


def _lu_names(node):
    return lu_factor(TENSOR.read(node.s[0], node.s[1]).detach())


_LU = {
    "A": lambda node: TENSOR.read(node.s[0], node.s[1]),
    "LU": lambda node: _lu_names(node)[0],
    "pivots": lambda node: _lu_names(node)[1],
}
det_op = declare(
    "det_op",
    xp.linalg.det,
    "self",
    node="LinalgDetBackward0",
    formula="g · det · A⁻ᵀ",
    also=_LU,
    hidden=("self",),
    self=_det_grad,
)


def det(A):
    """The determinant of a square matrix or of a batch."""
    _square("linalg.det", A)
    return det_op(A)


def _slogdet_joint(F, g, self, result):
    sign, log = result
    grads = []
    inverse = _swap(F, F.inv_op(self))
    if g[1] is not None:
        grads.append(_unsqueeze2(F, g[1]) * inverse)
    if g[0] is not None and (sign if F is RAW else sign._a).dtype.kind == "c":
        turn = F.imag(F.conj(g[0]) * sign) * -1j
        grads.append(_unsqueeze2(F, turn) * inverse)
    if not grads:
        return (F.zeros_like(self),)
    return (grads[0] if len(grads) == 1 else grads[0] + grads[1],)


slogdet_op = declare(
    "slogdet_op",
    lambda a: tuple(xp.asarray(x) for x in xp.linalg.slogdet(a)),
    "self",
    node="LinalgSlogdetBackward0",
    outputs=(True, True),
    formula="g · A⁻ᵀ",
    hidden=("self", "result"),
    joint=_slogdet_joint,
    also={**_LU, "sign": lambda node: TENSOR.result(node)[0]},
)


def slogdet(A):
    """(sign, logabsdet) of a square matrix or of a batch."""
    _square("linalg.slogdet", A)
    sign, log = slogdet_op(A)
    return return_types("slogdet", ("sign", "logabsdet"))(sign, log)


def logdet(input):
    """The logarithm of the determinant; NaN where that is negative."""
    _square("logdet", input, "A")
    sign, log = slogdet_op(input)
    if sign._a.dtype.kind == "c":
        return log + sign.log()
    sign = sign.detach()
    return TENSOR.where(wrap(sign._a == -1), wrap(xp.asarray(math.nan, log._a.dtype)), log)


def _inv_forward(a):
    try:
        return _columns(xp.linalg.inv(a))
    except xp.linalg.LinAlgError:
        _refuse_singular("linalg.inv", a)


inv_op = declare(
    "inv_op",
    _inv_forward,
    "self",
    node="LinalgInvExBackward0",
    formula="−A⁻ᵀ g A⁻ᵀ",
    hidden=("result",),
    also={"inverse": lambda node: TENSOR.result(node)},
    self=lambda F, g, result: -F.matmul(_swap(F, result), F.matmul(g, _swap(F, result))),
)


def inv(A, *, out=None):
    """The inverse of a square matrix or of a batch; LinAlgError for a singular one."""
    _square("linalg.inv", A)
    return inv_op(A)


def inv_ex(A, *, check_errors=False):
    """(inverse, info): info is 0 where it worked."""
    _square("linalg.inv_ex" if not check_errors else "linalg.inv", A)
    return return_types("linalg_inv_ex", ("inverse", "info"))(
        inv_op(A), wrap(xp.zeros(A._a.shape[:-2], xp.int32))
    )


for _f in (det, slogdet, inv, inv_ex):
    linalg(_f)
method(det)
method(slogdet)
method(logdet)
method(inv, "inverse")


# ---------------------------------------------------------------- systems of equations
def _solve_forward(a, b, vector):
    try:
        return (
            xp.linalg.solve(a, b[..., None])[..., 0] if vector else _columns(xp.linalg.solve(a, b))
        )
    except xp.linalg.LinAlgError:
        _refuse_singular("torch.linalg.solve", a, "solve")


def _solve_b(F, g, A, vector):
    return F.solve_op(_swap(F, A), g, vector)


def _solve_a(F, g, A, result, vector):
    back = F.solve_op(_swap(F, A), g, vector)
    if vector:
        shape = tuple((back if F is RAW else back._a).shape)
        return -F.matmul(
            F.reshape(back, (*shape, 1)), F.conj(F.reshape(result, (*shape[:-1], 1, shape[-1])))
        )
    return -F.matmul(back, _swap(F, result))


solve_op = declare(
    "solve_op",
    _solve_forward,
    "A B",
    "vector",
    node="LinalgSolveExBackward0",
    formula="∂B: A⁻ᵀ g    ∂A: −(A⁻ᵀ g) Xᵀ",
    also={
        "LU": lambda node: _lu_names(node)[0],
        "pivots": lambda node: _lu_names(node)[1],
        "left": lambda node: True,
    },
    hidden=("vector",),
    A=_solve_a,
    B=_solve_b,
)


def solve(A, B, *, left=True, out=None):
    """X with A X = B (X A = B with ``left=False``); B is a vector, a batch of vectors, or
    matrices.
    """
    _square("linalg.solve", A)
    if A._a.dtype != B._a.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{dtypes.scalar_name(A.dtype)} and B of "
            f"type {dtypes.scalar_name(B.dtype)} instead"
        )
    vector = B._a.ndim == 1 or A._a.ndim - 1 == B._a.ndim and B._a.shape == A._a.shape[:-1]
    rows = B._a.shape[-1] if vector else B._a.shape[-2 if left else -1]
    if rows != A._a.shape[-1]:
        n = A._a.shape[-1]
        shown = f"{B._a.shape[-1]}x1" if vector else f"{B._a.shape[-2]}x{B._a.shape[-1]}"
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({n}x{n} "
            f"and {shown})"
        )
    if not left:
        return TENSOR.transpose(solve(A.mT, B.mT), -2, -1)
    if vector and B._a.ndim < A._a.ndim - 1:
        B = B.expand(*A._a.shape[:-1])
    return solve_op(A, B, vector)


def solve_ex(A, B, *, left=True, check_errors=False):
    """(result, info) of ``solve``."""
    return return_types("linalg_solve_ex", ("result", "info"))(
        solve(A, B, left=left), wrap(xp.zeros(A._a.shape[:-2], xp.int32))
    )


def _triangle(a, upper, unit):
    kept = xp.triu(a) if upper else xp.tril(a)
    if unit:
        kept = kept.copy()
        n = a.shape[-1]
        kept[..., xp.arange(n), xp.arange(n)] = 1
    return kept


def _triangular_forward(a, b, upper, left, unit):
    a = _triangle(a, upper, unit)
    if left:
        return _columns(xp.linalg.solve(a, b))
    return xp.ascontiguousarray(
        xp.linalg.solve(a.swapaxes(-2, -1), b.swapaxes(-2, -1)).swapaxes(-2, -1)
    )


def _triangular_b(F, g, self, upper, left, unitriangular):
    return F.triangular_op(_swap(F, self), g, not upper, left, unitriangular)


def _triangular_a(F, g, self, result, upper, left, unitriangular):
    back = F.triangular_op(_swap(F, self), g, not upper, left, unitriangular)
    whole = F.matmul(back, _swap(F, result)) if left else F.matmul(_swap(F, result), back)
    return -(
        F.triu(whole, 1 if unitriangular else 0)
        if upper
        else F.tril(whole, -1 if unitriangular else 0)
    )


triangular_op = declare(
    "triangular_op",
    _triangular_forward,
    "self B",
    "upper left unitriangular",
    node="LinalgSolveTriangularBackward0",
    formula="∂B: A⁻ᵀ g    ∂A: −(A⁻ᵀ g) Xᵀ, in the triangle",
    self=_triangular_a,
    B=_triangular_b,
)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X with A X = B, of which only a triangle of A is read."""
    _square("linalg.solve_triangular", A)
    return triangular_op(A, B, bool(upper), left, unitriangular)


for _f in (solve, solve_ex, solve_triangular):
    linalg(_f)


# ---------------------------------------------------------------- Cholesky
def _cholesky_forward(a, upper):
    try:
        lower = xp.linalg.cholesky(xp.conj(a.swapaxes(-2, -1)) if upper else a)
    except xp.linalg.LinAlgError:
        _refuse_indefinite(a)
    return _columns(xp.conj(lower.swapaxes(-2, -1)) if upper else lower)


def _refuse_indefinite(array):
    for k, a in enumerate(array.reshape(-1, *array.shape[-2:])):
        for n in range(1, a.shape[-1] + 1):
            try:
                xp.linalg.cholesky(a[:n, :n])
            except xp.linalg.LinAlgError:
                where = f"(Batch element {k}): " if array.ndim > 2 else ""
                raise LinAlgError(
                    f"linalg.cholesky: {where}The factorization could not be completed because "
                    "the input is not "
                    f"positive-definite (the leading minor of order {n} is not positive-definite)."
                ) from None
    raise LinAlgError(
        "linalg.cholesky: The factorization could not be completed because the input is not "
        "positive-definite."
    )


def _halved(F, x):
    """The lower triangle with half of the diagonal."""
    d = F.diagonal(x, 0, -2, -1)
    return F.tril(x, 0) - F.diag_embed_op(d * 0.5, 0, -2, -1)


def _ndim(F, x):
    return (x if F is RAW else x._a).ndim


RAW.diagonal = lambda x, offset, dim1, dim2: x.diagonal(offset, dim1, dim2)
_diagonal_of = TENSOR.diagonal
TENSOR.diagonal = lambda x, offset, dim1, dim2: _diagonal_of(
    x, offset, *(d % x._a.ndim for d in (dim1, dim2))
)
_embed_raw, _embed_tensor = RAW.diag_embed_op, TENSOR.diag_embed_op
RAW.diag_embed_op = lambda x, offset, dim1, dim2: _embed_raw(
    x, offset, dim1 % (x.ndim + 1), dim2 % (x.ndim + 1)
)
TENSOR.diag_embed_op = lambda x, offset, dim1, dim2: _embed_tensor(
    x, offset, dim1 % (x._a.ndim + 1), dim2 % (x._a.ndim + 1)
)


def _cholesky_grad(F, g, result, upper):
    lower, back = (_swap(F, result), _swap(F, g)) if upper else (result, g)
    phi = _halved(F, F.matmul(_swap(F, lower), back))
    inverse = F.triangular_op(lower, _eye_like(F, lower), False, True, False)
    whole = F.matmul(_swap(F, inverse), F.matmul(phi, inverse))
    return (whole + _swap(F, whole)) * 0.5


_L = {"L": lambda node: TENSOR.result(node)}
cholesky_op = declare(
    "cholesky_op",
    _cholesky_forward,
    "self",
    "upper",
    node="LinalgCholeskyExBackward0",
    formula="L⁻ᵀ Φ(Lᵀ g) L⁻¹, symmetrised",
    hidden=("result",),
    also=_L,
    self=_cholesky_grad,
)
old_cholesky_op = declare(
    "old_cholesky_op",
    _cholesky_forward,
    "self",
    "upper",
    node="CholeskyBackward0",
    formula="L⁻ᵀ Φ(Lᵀ g) L⁻¹, symmetrised",
    self=_cholesky_grad,
)


def cholesky(A, *, upper=False, out=None):
    """The lower (or upper) triangular factor of a positive-definite matrix; LinAlgError for
    another.
    """
    _square("linalg.cholesky", A)
    return cholesky_op(A, upper)


def cholesky_ex(A, *, upper=False, check_errors=False):
    """(L, info) of ``cholesky``."""
    _square("linalg.cholesky", A)
    return return_types("linalg_cholesky_ex", ("L", "info"))(
        cholesky_op(A, upper), wrap(xp.zeros(A._a.shape[:-2], xp.int32))
    )


def _old_cholesky(input, upper=False):
    """The triangular factor of a positive-definite matrix."""
    _square("cholesky", input, "A")
    return old_cholesky_op(input, upper)


def _chol_solve_forward(b, factor, upper):
    lower = xp.conj(xp.triu(factor).swapaxes(-2, -1)) if upper else xp.tril(factor)
    return _columns(xp.linalg.solve(xp.conj(lower.swapaxes(-2, -1)), xp.linalg.solve(lower, b)))


def _chol_solve_factor(F, g, input2, result, upper):
    common = F.matmul(F.chol_solve_op(g, input2, upper), _swap(F, result))
    common = common + _swap(F, common)
    return -(F.matmul(input2, common) if upper else F.matmul(common, input2))


chol_solve_op = declare(
    "chol_solve_op",
    _chol_solve_forward,
    "self input2",
    "upper",
    node="CholeskySolveBackward0",
    formula="∂B: (L Lᵀ)⁻¹ g",
    also={"self": lambda node: None},
    self=lambda F, g, input2, upper: F.chol_solve_op(g, input2, upper),
    input2=_chol_solve_factor,
)


def cholesky_solve(input, L, upper=False, *, out=None):
    """X with (L Lᵀ) X = input."""
    _matrix("cholesky_solve", input, "self")
    return chol_solve_op(input, L, upper)


def _chol_inverse_grad(F, g, self, result, upper):
    common = F.matmul(result, F.matmul(g + _swap(F, g), result))
    return -(F.matmul(self, common) if upper else F.matmul(common, self))


chol_inverse_op = declare(
    "chol_inverse_op",
    lambda f, upper: _chol_solve_forward(
        xp.broadcast_to(xp.eye(f.shape[-1], dtype=f.dtype), f.shape), f, upper
    ),
    "self",
    "upper",
    node="CholeskyInverseBackward0",
    self=_chol_inverse_grad,
)


def cholesky_inverse(L, upper=False, *, out=None):
    """The inverse of L Lᵀ."""
    _square("cholesky_inverse", L, "A")
    return chol_inverse_op(L, upper)


linalg(cholesky)
linalg(cholesky_ex)
method(_old_cholesky, "cholesky")
method(cholesky_solve)
method(cholesky_inverse)


# ---------------------------------------------------------------- QR, LU
def _qr_forward(a, mode):
    if mode == "r":
        return xp.zeros(0, a.dtype), xp.linalg.qr(a, "r")
    return tuple(map(_columns, xp.linalg.qr(a, mode)))


def _sym_inverse_adjoint(F, x):
    both = x + _swap(F, x)
    d = F.diagonal(both, 0, -2, -1)
    return both - F.diag_embed_op(d * 0.5, 0, -2, -1)


def _qr_joint(F, g, result, self_shape, mode):
    q, r = result
    gq, gr = g
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use "
            "linalg.qr(A, mode='reduced') if you are going to require gradients through linalg.qr."
        )
    m, n = self_shape[-2:]
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
        )
    if m < n:
        return (_wide_qr(F, gq, gr, q, r, m, n),)
    return (_tall_qr(F, gq, gr, q, r),)


def _tall_qr(F, gq, gr, q, r):
    inner = None if gr is None else F.matmul(gr, _swap(F, r))
    if gq is not None:
        turned = F.matmul(_swap(F, q), gq)
        inner = -turned if inner is None else inner - turned
    out = F.matmul(q, _sym_inverse_adjoint(F, F.triu(inner, 0)))
    if gq is not None:
        out = out + gq
    return F.triangular_op(_swap(F, r), out, False, False, False)


def _wide_qr(F, gq, gr, q, r, m, n):
    """A = Q [R₁ R₂]: the first columns as in the tall case with R₂ = Qᵀ A₂ put into the gradient
    of Q.
    """
    axis = _ndim(F, r) - 1
    first, rest = F.narrow(r, axis, 0, m), F.narrow(r, axis, m, n - m)
    if gr is None:
        return F.cat([_tall_qr(F, gq, None, q, first), F.zeros_like(rest)], axis)
    gr_first, gr_rest = F.narrow(gr, axis, 0, m), F.narrow(gr, axis, m, n - m)
    through_q = F.matmul(q, F.matmul(rest, _swap(F, gr_rest)))
    left = _tall_qr(F, through_q if gq is None else gq + through_q, gr_first, q, first)
    return F.cat([left, F.matmul(q, gr_rest)], axis)


_QR = {"Q": lambda node: TENSOR.result(node)[0], "R": lambda node: TENSOR.result(node)[1]}
qr_op = declare(
    "qr_op",
    _qr_forward,
    "self",
    "mode",
    node="LinalgQrBackward0",
    outputs=True,
    formula="(g_Q + Q sym(…)) R⁻ᵀ",
    hidden=("self_sym_sizes", "result"),
    also=_QR,
    joint=_qr_joint,
)


def qr(A, mode="reduced", *, out=None):
    """(Q, R) with A = Q R; mode "reduced", "complete" or "r"."""
    _matrix("linalg.qr", A)
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), "
            "'r', or 'complete'"
        )
    return return_types("linalg_qr", ("Q", "R"))(*qr_op(A, mode))


def _lu_parts(a):
    """(permutation, packed factors, upper) of one matrix by elimination with row exchanges; the
    permutation is PyTorch's pivots.
    """
    a = xp.array(a)
    n, m = a.shape
    pivots = xp.arange(1, min(n, m) + 1, dtype=xp.int32)
    for k in range(min(n, m)):
        p = k + int(xp.argmax(xp.abs(a[k:, k])))
        pivots[k] = p + 1
        if p != k:
            a[[k, p]] = a[[p, k]]
        if a[k, k] != 0:
            a[k + 1 :, k] /= a[k, k]
            a[k + 1 :, k + 1 :] -= xp.outer(a[k + 1 :, k], a[k, k + 1 :])
    return pivots, a, xp.triu(a)


def _lu_forward(a):
    """Packed factors and pivots of a batch."""
    flat = a.reshape(-1, *a.shape[-2:])
    packed = xp.empty_like(flat)
    pivots = xp.empty((len(flat), min(a.shape[-2:])), xp.int32)
    for k, one in enumerate(flat):
        pivots[k], packed[k], _ = _lu_parts(one)
    return _columns(packed.reshape(a.shape)), pivots.reshape(*a.shape[:-2], -1)


def _permutation(pivots, n):
    """The matrix P with A = P L U."""
    flat = pivots.reshape(-1, pivots.shape[-1])
    out = xp.zeros((len(flat), n, n))
    for k, row in enumerate(flat):
        order = xp.arange(n)
        for i, p in enumerate(row):
            order[[i, p - 1]] = order[[p - 1, i]]
        out[k, order, xp.arange(n)] = 1
    return out.reshape(*pivots.shape[:-1], n, n)


def _lu_grad(F, g_lower, g_upper, lower, upper, permutation):
    """P L⁻ᴴ [tril(Lᴴ g_L, −1) + triu(g_U Uᴴ)] U⁻ᴴ for a square matrix."""
    inner = None
    if g_lower is not None:
        inner = F.tril(F.matmul(_swap(F, lower), g_lower), -1)
    if g_upper is not None:
        part = F.triu(F.matmul(g_upper, _swap(F, upper)), 0)
        inner = part if inner is None else inner + part
    inner = F.triangular_op(_swap(F, lower), inner, True, True, True)
    inner = F.triangular_op(_swap(F, upper), inner, False, False, False)
    return F.matmul(permutation, inner)


def _check_square_lu(shape):
    if shape[-1] != shape[-2]:
        raise NotImplementedError("the derivative of linalg.lu for matrices that are not square")


def _lu_forward_parts(a, pivot):
    packed, pivots = _lu_forward(a)
    n, m = a.shape[-2:]
    k = min(n, m)
    lower = xp.tril(packed[..., :k], -1)
    lower[..., xp.arange(k), xp.arange(k)] = 1
    return _permutation(pivots, n).astype(a.dtype), lower, xp.triu(packed[..., :k, :])


def _lu_joint(F, g, result, self_shape):
    _check_square_lu(self_shape)
    permutation, lower, upper = result
    return (_lu_grad(F, g[1], g[2], lower, upper, permutation),)


lu_op = declare(
    "lu_op",
    _lu_forward_parts,
    "self",
    "pivot",
    node="LinalgLuBackward0",
    outputs=(False, True, True),
    formula="P L⁻ᵀ [tril(Lᵀ g_L) + triu(g_U Uᵀ)] U⁻ᵀ",
    hidden=("self_sym_sizes", "result"),
    joint=_lu_joint,
    also={
        "P": lambda node: TENSOR.result(node)[0],
        "L": lambda node: TENSOR.result(node)[1],
        "U": lambda node: TENSOR.result(node)[2],
        "pivot": lambda node: node.at[0],
    },
)


def lu(A, *, pivot=True, out=None):
    """(P, L, U) with A = P L U."""
    _matrix("linalg.lu", A)
    return return_types("linalg_lu", ("P", "L", "U"))(*lu_op(A, pivot))


def _lu_factor_joint(F, g, result, self_shape):
    _check_square_lu(self_shape)
    packed, pivots = result
    array = pivots if F is RAW else pivots._a
    permutation = F.constant(
        _permutation(array, self_shape[-1]).astype((packed if F is RAW else packed._a).dtype)
    )
    lower = F.tril(packed, -1) + _eye_like(F, packed)
    return (_lu_grad(F, g[0], g[0], lower, F.triu(packed, 0), permutation),)


lu_factor_op = declare(
    "lu_factor_op",
    lambda a, pivot: _lu_forward(a),
    "self",
    "pivot",
    node="LinalgLuFactorExBackward0",
    outputs=(True, False),
    formula="P L⁻ᵀ [tril(Lᵀ g) + triu(g Uᵀ)] U⁻ᵀ",
    joint=_lu_factor_joint,
    hidden=("self_sym_sizes", "result"),
    also={
        "LU": lambda node: TENSOR.result(node)[0],
        "pivots": lambda node: TENSOR.result(node)[1],
        "pivot": lambda node: node.at[0],
    },
)


def lu_factor(A, *, pivot=True, out=None):
    """(LU, pivots): both factors in one matrix, and the row exchanges, counted from 1."""
    _matrix("linalg.lu_factor", A)
    return return_types("linalg_lu_factor", ("LU", "pivots"))(*lu_factor_op(A, pivot))


def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """(LU, pivots, info) of ``lu_factor``."""
    _matrix("linalg.lu_factor_ex", A)
    return return_types("linalg_lu_factor_ex", ("LU", "pivots", "info"))(
        *lu_factor_op(A, pivot), wrap(xp.zeros(A._a.shape[:-2], xp.int32))
    )


def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """X with A X = B from the factors of A."""
    permutation = wrap(_permutation(pivots._a, LU._a.shape[-1]).astype(LU._a.dtype))
    if not left:
        return lu_solve(LU, pivots, B.mH, adjoint=not adjoint).mH
    if adjoint:
        y = solve_triangular(LU.mH, B, upper=False)
        return permutation @ solve_triangular(LU.mH, y, upper=True, unitriangular=True)
    y = solve_triangular(LU, permutation.mT @ B, upper=False, unitriangular=True)
    return solve_triangular(LU, y, upper=True)


for _f in (qr, lu, lu_factor, lu_factor_ex, lu_solve):
    linalg(_f)


def _lapack(name, *args, **kwargs):
    import scipy.linalg.lapack

    (function,) = scipy.linalg.lapack.get_lapack_funcs((name,), args[:1])
    return function(*args, **kwargs)


def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    """(LD, pivots, info) of a symmetric matrix, by LAPACK."""
    _square("torch.linalg.ldl_factor_ex", A)
    name = "hetrf" if hermitian and A.is_complex() else "sytrf"
    flat = A._a.reshape(-1, *A._a.shape[-2:])
    found = [_lapack(name, xp.asfortranarray(a), lower=1) for a in flat]
    packed = xp.stack([xp.tril(f[0]) for f in found]).reshape(A._a.shape)
    pivots = xp.stack([f[1] + (f[1] >= 0) * 1 for f in found]).astype(xp.int32)
    info = xp.asarray([f[2] for f in found], xp.int32)
    return return_types("linalg_ldl_factor_ex", ("LD", "pivots", "info"))(
        wrap(packed), wrap(pivots.reshape(A._a.shape[:-1])), wrap(info.reshape(A._a.shape[:-2]))
    )


def ldl_factor(A, *, hermitian=False, out=None):
    """(LD, pivots) of a symmetric matrix."""
    packed, pivots, _ = ldl_factor_ex(A, hermitian=hermitian)
    return return_types("linalg_ldl_factor", ("LD", "pivots"))(packed, pivots)


def ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    """X with A X = B from the factors of ``ldl_factor``."""
    name = "hetrs" if hermitian and LD.is_complex() else "sytrs"
    n = LD._a.shape[-1]
    shape = (*xp.broadcast_shapes(LD._a.shape[:-2], B._a.shape[:-2]), *B._a.shape[-2:])
    rights = xp.broadcast_to(B._a, shape).reshape(-1, *shape[-2:])
    lefts = xp.broadcast_to(LD._a, (*shape[:-2], n, n)).reshape(-1, n, n)
    places = xp.broadcast_to(pivots._a, (*shape[:-2], n)).reshape(-1, n)
    out = [
        _lapack(name, xp.asfortranarray(a), p - (p > 0) * 1, b, lower=1)[0]
        for a, p, b in zip(lefts, places, rights, strict=True)
    ]
    return wrap(xp.ascontiguousarray(xp.stack(out)).reshape(shape))


for _f in (ldl_factor, ldl_factor_ex, ldl_solve):
    linalg(_f)


# ---------------------------------------------------------------- singular values, eigenvalues
def _skew(F, x):
    return x - _swap(F, x)


def _column(F, s):
    return F.reshape(s, (*tuple((s if F is RAW else s._a).shape), 1))


def _row(F, s):
    shape = tuple((s if F is RAW else s._a).shape)
    return F.reshape(s, (*shape[:-1], 1, shape[-1]))


def _filled(F, x, value):
    """``x`` with its diagonal set to ``value``, constant for derivatives."""
    n = (x if F is RAW else x._a).shape[-1]
    return F.masked_fill(x, F.constant(xp.eye(n, dtype=bool)), value)


def _svd_joint(F, g, result, self_shape, full_matrices):
    u, s, vh = result
    gu, gs, gvh = g
    m, n = self_shape[-2:]
    k = min(m, n)
    axis = _ndim(F, u) - 1
    u, vh = F.narrow(u, axis, 0, k), F.narrow(vh, axis - 1, 0, k)
    gu = None if gu is None else F.narrow(gu, axis, 0, k)
    gvh = None if gvh is None else F.narrow(gvh, axis - 1, 0, k)
    inner = None if gs is None else F.diag_embed_op(gs, 0, -2, -1)
    if gu is None and gvh is None:
        return (F.matmul(u, F.matmul(F.cast(inner, _np(F, u)), vh)),)
    square = s * s
    gap = _filled(F, _row(F, square) - _column(F, square), 1)
    for part in (
        None if gu is None else _skew(F, F.matmul(_swap(F, u), gu)) / gap * _row(F, s),
        None if gvh is None else _column(F, s) * (_skew(F, F.matmul(vh, _swap(F, gvh))) / gap),
    ):
        if part is not None:
            inner = part if inner is None else inner + part
    if _np(F, u).kind == "c" and gu is not None:
        turn = F.diagonal(_skew(F, F.matmul(_swap(F, u), gu)), 0, -2, -1) / (s * 2)
        inner = inner + F.diag_embed_op(turn, 0, -2, -1)
    out = F.matmul(u, F.matmul(inner, vh))
    if m > k and gu is not None:
        rest = gu - F.matmul(u, F.matmul(_swap(F, u), gu))
        out = out + F.matmul(rest / _row(F, s), vh)
    if n > k and gvh is not None:
        rest = gvh - F.matmul(F.matmul(gvh, _swap(F, vh)), vh)
        out = out + F.matmul(u, rest / _column(F, s))
    return (out,)


def _np(F, x):
    return (x if F is RAW else x._a).dtype


_SVD = {
    "U": lambda node: TENSOR.result(node)[0],
    "S": lambda node: TENSOR.result(node)[1],
    "Vh": lambda node: TENSOR.result(node)[2],
    "S_sym_argsize_minus_1": lambda node: node.shape[1][-1],
}
svd_op = declare(
    "svd_op",
    lambda a, full: tuple(xp.linalg.svd(a, full)),
    "self",
    "full_matrices",
    node="LinalgSvdBackward0",
    outputs=True,
    formula="U (… + diag g_S) Vᵀ",
    hidden=("self_sym_sizes", "result"),
    also=_SVD,
    joint=_svd_joint,
)


def svd(A, full_matrices=True, *, driver=None, out=None):
    """(U, S, Vh) with A = U diag(S) Vh."""
    _matrix("linalg.svd", A)
    return return_types("linalg_svd", ("U", "S", "Vh"))(*svd_op(A, full_matrices))


def svdvals(A, *, driver=None, out=None):
    """The singular values, the largest first."""
    _matrix("linalg.svdvals", A)
    return svd_op(A, False)[1]


def _old_svd(input, some=True, compute_uv=True):
    """(U, S, V) with input = U diag(S) Vᴴ."""
    _matrix("linalg.svd", input)
    u, s, vh = svd_op(input, not some)
    if not compute_uv:
        m, n = input._a.shape[-2:]
        u, vh = (wrap(xp.zeros((*input._a.shape[:-2], k, k), input._a.dtype)) for k in (m, n))
    return return_types("svd", ("U", "S", "V"))(u, s, TENSOR.conj(TENSOR.transpose(vh, -2, -1)))


for _f in (svd, svdvals):
    linalg(_f)
method(_old_svd, "svd")


def _eigh_joint(F, g, result, uplo):
    values, vectors = result
    gl, gv = g
    inner = None if gl is None else F.cast(F.diag_embed_op(gl, 0, -2, -1), _np(F, vectors))
    if gv is not None:
        turned = F.matmul(_swap(F, vectors), gv)
        gap = _filled(F, _row(F, values) - _column(F, values), 1)
        part = _filled(F, turned / gap, 0)
        inner = part if inner is None else inner + part
    out = F.matmul(vectors, F.matmul(inner, _swap(F, vectors)))
    return (out if gv is None else (out + _swap(F, out)) * 0.5,)


_EIG = {
    "eigenvalues": lambda node: TENSOR.result(node)[0],
    "eigenvectors": lambda node: TENSOR.result(node)[1],
}
eigh_op = declare(
    "eigh_op",
    lambda a, uplo: tuple(xp.linalg.eigh(a, uplo)),
    "self",
    "uplo",
    node="LinalgEighBackward0",
    outputs=True,
    formula="V (diag g_λ + …) Vᵀ",
    hidden=("result", "uplo"),
    also=_EIG,
    joint=_eigh_joint,
)


def eigh(A, UPLO="L", *, out=None):
    """(eigenvalues, eigenvectors) of a symmetric or Hermitian matrix, of which one triangle is
    read; rising order.
    """
    _square("linalg.eigh", A)
    return return_types("linalg_eigh", ("eigenvalues", "eigenvectors"))(*eigh_op(A, UPLO.upper()))


def eigvalsh(A, UPLO="L", *, out=None):
    """The eigenvalues of a symmetric or Hermitian matrix."""
    _square("linalg.eigvalsh", A)
    return eigh_op(A, UPLO.upper())[0]


def _eig_forward(a):
    values, vectors = xp.linalg.eig(a)
    wide = xp.complex64 if a.dtype in (xp.float32, xp.complex64) else xp.complex128
    return values.astype(wide), vectors.astype(wide)


def _eig_joint(F, g, result):
    values, vectors = result
    gl, gv = g
    inner = None
    if gv is not None:
        turned = F.matmul(_swap(F, vectors), gv)
        length = F.cast(F.real(F.diagonal(turned, 0, -2, -1)), _np(F, vectors))
        turned = turned - F.matmul(_swap(F, vectors), vectors * _row(F, length))
        gap = _filled(F, _row(F, F.conj(values)) - _column(F, F.conj(values)), 1)
        inner = _filled(F, turned / gap, 0)
    if gl is not None:
        part = F.diag_embed_op(gl, 0, -2, -1)
        inner = part if inner is None else inner + part
    return (F.solve_op(_swap(F, vectors), F.matmul(inner, _swap(F, vectors)), False),)


eig_op = declare(
    "eig_op",
    _eig_forward,
    "self",
    node="LinalgEigBackward0",
    outputs=True,
    formula="V⁻ᴴ (diag g_λ + …) Vᴴ",
    hidden=("result",),
    also=_EIG,
    joint=_eig_joint,
)


def eig(A, *, out=None):
    """(eigenvalues, eigenvectors), complex, of a square matrix."""
    _square("linalg.eig", A)
    return return_types("linalg_eig", ("eigenvalues", "eigenvectors"))(*eig_op(A))


def eigvals(A, *, out=None):
    """The eigenvalues, complex, of a square matrix."""
    _square("linalg.eigvals", A)
    return eig_op(A)[0]


for _f in (eigh, eigvalsh, eig, eigvals):
    linalg(_f)


# ---------------------------------------------------------------- pseudo-inverse, least squares
def _pinv_of(a, rtol, hermitian, atol=None):
    values = xp.linalg.svd(a, compute_uv=False)
    top = values.max(-1) if values.size else xp.zeros(a.shape[:-2])
    floor = (0 if rtol is None else rtol) * top
    if atol is not None:
        floor = xp.maximum(floor, atol)
    relative = xp.divide(floor, top, out=xp.zeros_like(top), where=top > 0)
    return xp.linalg.pinv(a, rcond=relative, hermitian=hermitian)


def _pinv_grad(F, g, self, result, self_shape):
    m, n = self_shape[-2:]
    gh, inverse = _swap(F, g), result
    ih = _swap(F, inverse)
    if m <= n:
        k = F.matmul(gh, inverse)
        k_ih = F.matmul(k, ih)
        return (
            -_swap(F, F.matmul(inverse, k))
            + k_ih
            - F.matmul(F.matmul(self, inverse), k_ih)
            + F.matmul(F.matmul(ih, inverse), gh - F.matmul(k, self))
        )
    k = F.matmul(inverse, gh)
    ih_k = F.matmul(ih, k)
    return (
        -_swap(F, F.matmul(k, inverse))
        + F.matmul(F.matmul(gh - F.matmul(self, k), inverse), ih)
        + ih_k
        - F.matmul(F.matmul(ih_k, inverse), self)
    )


pinv_op = declare(
    "pinv_op",
    lambda a, rtol, atol, hermitian: _pinv_of(a, rtol, hermitian, atol),
    "self",
    "rtol atol hermitian",
    node="LinalgPinvBackward0",
    hidden=("self_sym_sizes",),
    formula="of Golub and Pereyra",
    self=_pinv_grad,
)


def _rtol(A, rtol, atol):
    if rtol is not None:
        return rtol._a if hasattr(rtol, "_a") else rtol
    return max(A._a.shape[-2:]) * xp.finfo(A._a.dtype).eps if atol is None else 0.0


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The Moore–Penrose inverse."""
    _matrix("linalg.pinv", A)
    rtol = rcond if rtol is None else rtol
    return pinv_op(A, _rtol(A, rtol, atol), atol, hermitian)


def _pinverse(input, rcond=1e-15):
    """The Moore–Penrose inverse."""
    _matrix("pinverse", input, "A")
    return pinv_op(input, rcond, None, False)


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The number of singular values above the tolerance."""
    _matrix("linalg.matrix_rank", A)
    values = xp.linalg.svd(A._a, compute_uv=False)
    if tol is not None:
        floor = tol._a if hasattr(tol, "_a") else tol
    else:
        floor = xp.maximum(
            _rtol(A, rtol, atol) * values.max(-1, initial=0), 0 if atol is None else atol
        )
    return wrap(xp.asarray((values > xp.asarray(floor)[..., None]).sum(-1), dtype=xp.int64))


def _lstsq_forward(a, b):
    return xp.matmul(_pinv_of(a, xp.finfo(a.dtype).eps * max(a.shape[-2:]), False), b)


def _lstsq_a(F, g, self, b, solution, self_shape):
    inverse = F.pinv_op(self, xp.finfo(_np(F, self)).eps * max(self_shape[-2:]), None, False)
    return _pinv_grad(F, F.matmul(g, _swap(F, b)), self, inverse, self_shape)


lstsq_op = declare(
    "lstsq_op",
    _lstsq_forward,
    "self b",
    node="LinalgLstsqBackward0",
    formula="through the pseudo-inverse",
    also={"solution": lambda node: None},
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, b, self_shape: _lstsq_a(F, g, self, b, None, self_shape),
    b=lambda F, g, self, self_shape: F.matmul(
        _swap(F, F.pinv_op(self, xp.finfo(_np(F, self)).eps * max(self_shape[-2:]), None, False)), g
    ),
)


def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of min ‖A X − B‖."""
    _matrix("torch.linalg.lstsq", A, "input")
    vector = B._a.ndim == A._a.ndim - 1
    right = B.unsqueeze(-1) if vector else B
    if right._a.shape[-2] != A._a.shape[-2]:
        raise RuntimeError(
            "torch.linalg.lstsq: input.size(-2) should match other.size(-2)"
            if not vector
            else "torch.linalg.lstsq: input.size(-2) should match other.size(-1)"
        )
    solution = lstsq_op(A, right)
    m, n = A._a.shape[-2:]
    dtype = A._a.dtype
    residuals = (A @ solution - right).abs().square().sum(-2) if m > n else wrap(xp.zeros(0, dtype))
    rank = (
        matrix_rank(A) if driver != "gels" and driver is not None else wrap(xp.zeros(0, xp.int64))
    )
    values = svdvals(A).detach() if driver in ("gelsd", "gelss") else wrap(xp.zeros(0, dtype))
    made = return_types("linalg_lstsq", ("solution", "residuals", "rank", "singular_values"))
    return made(solution.squeeze(-1) if vector else solution, residuals, rank, values)


for _f in (pinv, matrix_rank, lstsq):
    linalg(_f)
method(_pinverse, "pinverse")


# ---------------------------------------------------------------- norms
def _matrix_ord(x, ord, dim, keepdim):
    rows, columns = (wrap_dim(d, x._a.ndim) for d in dim)
    if ord in ("fro", None):
        return vector_norm(x, 2, (rows, columns), keepdim)
    if ord in ("nuc", 2, -2, 2.0, -2.0):
        order = [d for d in range(x._a.ndim) if d not in (rows, columns)] + [rows, columns]
        values = svdvals(x.permute(order))
        out = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord > 0 else values.amin(-1)
        if keepdim:
            for d in sorted((rows, columns)):
                out = out.unsqueeze(d)
        return out
    if ord not in (1, -1, math.inf, -math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    first, second = (rows, columns) if ord in (1, -1) else (columns, rows)
    sums = vector_norm(x, 1, first, keepdim)
    if not keepdim and first < second:
        second -= 1
    return sums.amax(second, keepdim) if ord > 0 else sums.amin(second, keepdim)


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """A norm of matrices: "fro", "nuc", ±1, ±2, ±inf."""
    A = A if dtype is None else TENSOR.cast(A, dtype.np)
    if A._a.ndim < 2:
        raise RuntimeError(
            "linalg.matrix_norm: The input tensor A must have at least 2 dimensions."
        )
    _floating("linalg.matrix_norm", A)
    return _matrix_ord(A, ord, dim, keepdim)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None, out=None):
    """A vector norm, or a matrix norm when ``ord`` is given and two dimensions are meant."""
    A = A if dtype is None else TENSOR.cast(A, dtype.np)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim)
    if isinstance(dim, int) or dim is not None and len(dim) == 1:
        return vector_norm(A, ord, dim, keepdim)
    if dim is None and A._a.ndim not in (1, 2):
        raise RuntimeError(
            "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got "
            + f"{A._a.ndim}D."
        )
    if dim is None and A._a.ndim == 1:
        return vector_norm(A, ord, 0, keepdim)
    return matrix_norm(A, ord, dim or (0, 1), keepdim)


def cond(A, p=None, *, out=None):
    """The condition number: ‖A‖ · ‖A⁻¹‖."""
    if p in (None, 2, -2):
        values = svdvals(A)
        big, small = values.narrow(-1, 0, 1), values.narrow(-1, values._a.shape[-1] - 1, 1)
        return (small / big if p == -2 else big / small).squeeze(-1)
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


for _f in (matrix_norm, norm, cond):
    linalg(_f)
linalg(vector_norm)


# ---------------------------------------------------------------- products and powers
def matrix_power(A, n, *, out=None):
    """The ``n``-th power of a square matrix, by repeated squaring; negative powers of the
    inverse.
    """
    _square("linalg.matrix_power", A)
    if n == 0:
        return wrap(xp.broadcast_to(xp.eye(A._a.shape[-1], dtype=A._a.dtype), A._a.shape).copy())
    base = inv(A) if n < 0 else A
    n = abs(n)
    if n == 1:
        return base.clone() if base is A else base
    if n == 3:
        return (base @ base) @ base
    out_, power = None, base
    while n:
        if n & 1:
            out_ = power if out_ is None else out_ @ power
        n >>= 1
        if n:
            power = power @ power
    return out_


def _exp_forward(a):
    import scipy.linalg

    return scipy.linalg.expm(a).astype(a.dtype, copy=False)


def _exp_grad(F, g, self):
    """The upper right block of exp([[Aᴴ, g], [0, Aᴴ]])."""
    a = _swap(F, self)
    n, axis = _np_shape(F, self)[-1], _ndim(F, self) - 1
    top = F.cat([a, g], axis)
    bottom = F.cat([F.zeros_like(a), a], axis)
    whole = F.matrix_exp_op(F.cat([top, bottom], axis - 1))
    return F.narrow(F.narrow(whole, axis - 1, 0, n), axis, n, n)


def _np_shape(F, x):
    return (x if F is RAW else x._a).shape


matrix_exp_op = declare(
    "matrix_exp_op",
    _exp_forward,
    "self",
    node="LinalgMatrixExpBackward0",
    formula="exp([[Aᵀ, g], [0, Aᵀ]]), upper right",
    self=_exp_grad,
)


def matrix_exp(A):
    """The matrix exponential."""
    _square("linalg.matrix_exp", A)
    return matrix_exp_op(A)


def multi_dot(tensors, *, out=None):
    """The product of matrices in the order that costs least; the first and last may be vectors."""
    tensors = list(tensors)
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    row, column = tensors[0]._a.ndim == 1, tensors[-1]._a.ndim == 1
    if row:
        tensors[0] = tensors[0].unsqueeze(0)
    if column:
        tensors[-1] = tensors[-1].unsqueeze(-1)
    out_ = _ordered_product(tensors)
    return out_.view(
        *[n for k, n in enumerate(out_._a.shape) if not (k == 0 and row or k == 1 and column)]
    )


def _ordered_product(tensors):
    sizes = [tensors[0]._a.shape[0], *[t._a.shape[1] for t in tensors]]
    n = len(tensors)
    cost = [[0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            choices = [
                (cost[i][k] + cost[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                for k in range(i, j)
            ]
            cost[i][j], cut[i][j] = min(choices)
    return _product(tensors, cut, 0, n - 1)


def _product(tensors, cut, i, j):
    if i == j:
        return tensors[i]
    k = cut[i][j]
    return _product(tensors, cut, i, k) @ _product(tensors, cut, k + 1, j)


public("chain_matmul", lambda *matrices: matrices[0] if len(matrices) == 1 else multi_dot(matrices))
cross_op = declare(
    "cross_op",
    lambda a, b, dim: xp.cross(a, b, axis=dim),
    "self other",
    "dim",
    node="LinalgCrossBackward0",
    formula="∂self: other × g    ∂other: g × self",
    self=lambda F, g, other, dim: F.cross_op(F.conj(other), g, dim),
    other=lambda F, g, self, dim: F.cross_op(g, F.conj(self), dim),
)


def cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors of three along ``dim``."""
    shape = xp.broadcast_shapes(input._a.shape, other._a.shape)
    d = wrap_dim(dim, len(shape))
    if shape[d] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input._a.shape[d]} "
            f"and {other._a.shape[d]}"
        )
    return cross_op(*[x if x._a.shape == shape else x.expand(*shape) for x in (input, other)], d)


def _old_cross(input, other, dim=None):
    """The cross product along ``dim``, the first dimension of size 3 unless given."""
    if dim is None:
        dim = next((k for k, n in enumerate(input._a.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return cross(input, other, dim=dim)


def vecdot(x, y, *, dim=-1, out=None):
    """The dot products of vectors along ``dim``, the first conjugated."""
    return (TENSOR.conj(x) * y).sum(dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A view of the diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


def vander(x, *, N=None):
    """Powers of the last dimension in a new one, rising from 0."""
    n = x._a.shape[-1] if N is None else N
    wide = x.unsqueeze(-1).expand(*x._a.shape, max(n - 1, 0))
    ones = wrap(xp.ones((*x._a.shape, 1), x._a.dtype))
    return TENSOR.cat([ones, wide.cumprod(-1)], x._a.ndim)


def tensorinv(A, ind=2, *, out=None):
    """The inverse of A as a map between its first ``ind`` dimensions and the others."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind'")
    left, right = A._a.shape[:ind], A._a.shape[ind:]
    n, m = math.prod(left), math.prod(right)
    if n != m:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            "prod(self.shape[:ind]), but got "
            f"{m} != {n}"
        )
    return inv(A.reshape(n, m)).reshape(*right, *left)


def tensorsolve(A, B, dims=None, *, out=None):
    """X with tensordot(A, X, X.ndim) = B."""
    if dims is not None:
        rest = [d for d in range(A._a.ndim) if d not in [wrap_dim(k, A._a.ndim) for k in dims]]
        A = A.permute(rest + [wrap_dim(k, A._a.ndim) for k in dims])
    shape = A._a.shape[B._a.ndim :]
    return solve(A.reshape(B._a.size, -1), B.flatten()).reshape(*shape)


def householder_product(A, tau, *, out=None):
    """The first columns of a product of Householder reflections, as ``geqrf`` gives them."""
    m, n = A._a.shape[-2:]
    eye = wrap(xp.eye(m, dtype=A._a.dtype))
    result = eye.expand(*A._a.shape[:-2], m, m) if A._a.ndim > 2 else eye
    lower = A.tril(-1)
    for k in range(tau._a.shape[-1]):
        unit = wrap(xp.eye(m, dtype=A._a.dtype)[:, k : k + 1])
        v = lower.narrow(-1, k, 1) + unit
        result = result - (result @ v) @ v.mH * tau.narrow(-1, k, 1).unsqueeze(-1)
    return result.narrow(-1, 0, n)


for _f in (
    matrix_power,
    matrix_exp,
    multi_dot,
    cross,
    vecdot,
    diagonal,
    vander,
    tensorinv,
    tensorsolve,
    householder_product,
):
    linalg(_f)
linalg(TENSOR.matmul, "matmul")
method(matrix_power)
method(matrix_exp)
method(_old_cross, "cross")
public(
    "frobenius_norm",
    lambda input, dim=(), keepdim=False: vector_norm(input, 2, axes(dim, input._a.ndim), keepdim),
)
public(
    "nuclear_norm",
    lambda input, dim=(-2, -1), keepdim=False: matrix_norm(input, "nuc", dim, keepdim),
)


# ---------------------------------------------------------------- distances between rows
def _pairs(a, b):
    return a[..., :, None, :] - b[..., None, :, :]


def _cdist_forward(x1, x2, p):
    from .statistics import _norm_forward

    difference = _pairs(x1, x2)
    return _norm_forward(difference, p, (difference.ndim - 1,), False)


def _cdist_back(F, g, x1, x2, result, p):
    """The gradient for ``x1``: over all pairs the norm's derivative, summed over the second row."""
    from .statistics import _norm_grad

    s1, s2 = _np_shape(F, x1), _np_shape(F, x2)
    wide = F.reshape(x1, (*s1[:-1], 1, s1[-1])) - F.reshape(x2, (*s2[:-2], 1, *s2[-2:]))
    shape = _np_shape(F, wide)
    axis = len(shape) - 1
    return F.sum_dims(_norm_grad(F, g, wide, result, shape, p, (axis,), False), (axis - 1,), False)


cdist_op = declare(
    "cdist_op",
    _cdist_forward,
    "x1 x2",
    "p",
    node="CdistBackward0",
    formula="g · (x1 − x2) / result, summed over pairs",
    x1=lambda F, g, x1, x2, result, p: _cdist_back(F, g, x1, x2, result, p),
    x2=lambda F, g, x1, x2, result, p: _cdist_back(
        F, F.transpose(g, -2, -1), x2, x1, F.transpose(result, -2, -1), p
    ),
)


def cdist(x1, x2, p=2.0, compute_mode="use_mm_for_euclid_dist_if_necessary"):
    """The p-norm distance between every row of ``x1`` and every row of ``x2``."""
    if x1._a.ndim < 2 or x2._a.ndim < 2:
        raise RuntimeError(
            "cdist only supports at least 2D tensors, X1 got: " + f"{min(x1._a.ndim, x2._a.ndim)}D"
        )
    if x1._a.shape[-1] != x2._a.shape[-1]:
        raise RuntimeError(
            f"X1 and X2 must have the same number of columns. X1: {x1._a.shape[-1]} X2: "
            f"{x2._a.shape[-1]}"
        )
    batch = xp.broadcast_shapes(x1._a.shape[:-2], x2._a.shape[:-2])
    x1, x2 = (
        x if x._a.shape[:-2] == batch else x.expand(*batch, *x._a.shape[-2:]) for x in (x1, x2)
    )
    return cdist_op(x1, x2, float(p))


def pdist(input, p=2.0):
    """The distances between all pairs of rows, as a vector."""
    n = input._a.shape[0]
    rows, columns = xp.triu_indices(n, 1)
    difference = input.index_select(0, wrap(rows)) - input.index_select(0, wrap(columns))
    return vector_norm(difference, p, 1)


public("cdist", cdist)
public("pdist", pdist)
