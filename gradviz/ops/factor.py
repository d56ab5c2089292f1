"""Factorisations: QR, LU, LDL, singular values, eigenvalues."""

from __future__ import annotations

import math

from ..backend import beside, contiguous, host, on_host, xp
from ..engine.dispatch import wrap
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import part
from .casting import refuse
from .declare import declare, method
from .extremes import return_types
from .linalg import (
    _columns,
    _matrix,
    _ndim,
    _square,
    lapack,
    linalg,
    raise_first,
    solve_triangular,
    zero_pivots,
)
from .matmul import _swap


# ---------------------------------------------------------------- QR, LU
def _qr_forward(a, mode):
    if mode == "r":
        return xp.zeros(0, a.dtype, like=a), _columns(xp.linalg.qr(a, "r"))
    return tuple(map(_columns, xp.linalg.qr(a, mode)))


def _sym_inverse_adjoint(F, x):
    both = x + _swap(F, x)
    d = F.diagonal(both, 0, -2, -1)
    if F is TENSOR:
        F.times_(d, 0.5)
        return both
    return both - F.diag_embed_op(d * 0.5, 0, -2, -1)


def _qr_joint(F, g, result, self_shape, mode):
    q, r = result
    gq, gr = g
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. "
            "Please use "
            "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr."
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


_QR = {"Q": part(0), "R": part(1)}
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


@on_host
def packed_lu(a):
    """Packed factors and pivots of a batch."""
    flat = a.reshape(math.prod(a.shape[:-2]), *a.shape[-2:])
    packed = xp.empty_like(flat)
    pivots = xp.empty((len(flat), min(a.shape[-2:])), xp.int32)
    for k, one in enumerate(flat if a.size else ()):
        packed[k], exchanged, _ = lapack("getrf", xp.asfortranarray(one))
        pivots[k] = exchanged + 1
    return _columns(packed.reshape(a.shape)), pivots.reshape(*a.shape[:-2], pivots.shape[-1])


@on_host
def _permutation(pivots, n):
    """The matrix P with A = P L U."""
    flat = pivots.reshape(math.prod(pivots.shape[:-1]), pivots.shape[-1])
    out = xp.zeros((len(flat), n, n))
    for k, row in enumerate(flat):
        order = xp.arange(n)
        for i, p in enumerate(row):
            order[[i, p - 1]] = order[[p - 1, i]]
        out[k, order, xp.arange(n)] = 1
    return out.reshape(*pivots.shape[:-1], n, n)


def _lu_grad(F, g_lower, g_upper, lower, upper, permutation):
    """P L⁻ᴴ [tril(Lᴴ g_L, −1) + triu(g_U Uᴴ)] U⁻ᴴ for a square matrix. What a longer L or U has
    besides is a function of the square part.
    """
    rows, columns = (lower if F is RAW else lower._a), (upper if F is RAW else upper._a)
    k = rows.shape[-1]
    tall, wide = rows.shape[-2] - k, columns.shape[-1] - k
    if wide:
        return _wide_lu(F, g_lower, g_upper, lower, upper, permutation, k, wide)
    if tall:
        return _tall_lu(F, g_lower, g_upper, lower, upper, permutation, k, tall)
    inner = None
    if g_lower is not None:
        inner = F.tril(F.matmul(_swap(F, lower), g_lower), -1)
    if g_upper is not None:
        part = F.triu(F.matmul(g_upper, _swap(F, upper)), 0)
        inner = part if inner is None else inner + part
    inner = F.triangular_op(_swap(F, lower), inner, True, True, True)
    inner = F.triangular_op(_swap(F, upper), inner, False, False, False)
    return F.matmul(permutation, inner) if permutation is not None else inner


def _wide_lu(F, g_lower, g_upper, lower, upper, permutation, k, more):
    """A = P L [U₁ U₂]: the gradient of A₂ is P L⁻ᴴ g₂; through U₂ that of L is −(L⁻ᴴ g₂) U₂ᴴ."""
    axis = _ndim(F, upper) - 1
    u1, u2 = F.narrow(upper, axis, 0, k), F.narrow(upper, axis, k, more)
    if g_upper is None:
        first = _lu_grad(F, g_lower, None, lower, u1, None)
        return F.matmul(permutation, F.cat([first, F.zeros_like(u2)], axis))
    g1, g2 = F.narrow(g_upper, axis, 0, k), F.narrow(g_upper, axis, k, more)
    rest = F.triangular_op(_swap(F, lower), g2, True, True, True)
    through = -F.matmul(rest, _swap(F, u2))
    g_lower = through if g_lower is None else g_lower + through
    first = _lu_grad(F, g_lower, g1, lower, u1, None)
    return F.matmul(permutation, F.cat([first, rest], axis))


def _tall_lu(F, g_lower, g_upper, lower, upper, permutation, k, more):
    """A = P [L₁; L₂] U: the gradient of A₂ is g₂ U⁻ᴴ; through L₂ that of U is −L₂ᴴ (g₂ U⁻ᴴ)."""
    axis = _ndim(F, lower) - 2
    l1, l2 = F.narrow(lower, axis, 0, k), F.narrow(lower, axis, k, more)
    if g_lower is None:
        first = _lu_grad(F, None, g_upper, l1, upper, None)
        return F.matmul(permutation, F.cat([first, F.zeros_like(l2)], axis))
    g1, g2 = F.narrow(g_lower, axis, 0, k), F.narrow(g_lower, axis, k, more)
    rest = F.triangular_op(_swap(F, upper), g2, False, False, False)
    through = -F.matmul(_swap(F, l2), rest)
    g_upper = through if g_upper is None else g_upper + through
    first = _lu_grad(F, g1, g_upper, l1, upper, None)
    return F.matmul(permutation, F.cat([first, rest], axis))


def _lu_forward_parts(a, pivot):
    packed, pivots = packed_lu(a)
    n, m = a.shape[-2:]
    k = min(n, m)
    lower = xp.tril(packed[..., :k], -1)
    diagonal = xp.arange(k, like=lower)
    lower[..., diagonal, diagonal] = 1
    return _permutation(pivots, n).astype(a.dtype), lower, xp.triu(packed[..., :k, :])


def _lu_joint(F, g, result):
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
        "P": part(0),
        "L": part(1),
        "U": part(2),
        "pivot": lambda node: node.at[0],
    },
)


def _check_pivot(pivot):
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def lu(A, *, pivot=True, out=None):
    """(P, L, U) with A = P L U."""
    _matrix("linalg.lu", A)
    _check_pivot(pivot)
    return return_types("linalg_lu", ("P", "L", "U"))(*lu_op(A, pivot))


def _lu_factor_joint(F, g, result, self_shape):
    packed, pivots = result
    array = pivots if F is RAW else pivots._a
    m, n = self_shape[-2:]
    k, axis = min(m, n), len(self_shape) - 1
    permutation = F.constant(
        _permutation(array, m).astype((packed if F is RAW else packed._a).dtype)
    )
    left, top = F.narrow(packed, axis, 0, k), F.narrow(packed, axis - 1, 0, k)
    eye = xp.eye(m, k, dtype=_np(F, packed), like=array)
    lower = F.tril(left, -1) + F.constant(xp.broadcast_to(eye, (*self_shape[:-2], m, k)).copy())
    return (_lu_grad(F, *_lu_parts(F, g[0], k, axis), lower, F.triu(top, 0), permutation),)


def _lu_parts(F, g, k, axis):
    """The gradients of both factors from that of the packed ones."""
    return F.tril(F.narrow(g, axis, 0, k), -1), F.triu(F.narrow(g, axis - 1, 0, k), 0)


lu_factor_op = declare(
    "lu_factor_op",
    lambda a, pivot: packed_lu(a),
    "self",
    "pivot",
    node="LinalgLuFactorExBackward0",
    outputs=(True, False),
    formula="P L⁻ᵀ [tril(Lᵀ g) + triu(g Uᵀ)] U⁻ᵀ",
    joint=_lu_factor_joint,
    hidden=("self_sym_sizes", "result"),
    also={
        "LU": part(0),
        "pivots": part(1),
        "pivot": lambda node: node.at[0],
    },
)


_NO_PIVOT = (
    "torch.{name}: {{where}}U[{{place}},{{place}}] is zero and using it on lu_solve would result "
    "in a division by zero. If you still want to perform the factorization, consider calling "
    "linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


def _factored(name, A, pivot, check):
    _matrix(name, A)
    _check_pivot(pivot)
    packed, pivots = lu_factor_op(A, pivot)
    info = zero_pivots(packed._a)
    if check:
        raise_first(info, RuntimeError, _NO_PIVOT.format(name=name))
    return packed, pivots, wrap(info)


def lu_factor(A, *, pivot=True, out=None):
    """(LU, pivots): both factors in one matrix, and the row exchanges, counted from 1. RuntimeError
    where U has a zero on its diagonal.
    """
    made = return_types("linalg_lu_factor", ("LU", "pivots"))
    return made(*_factored("linalg.lu_factor", A, pivot, True)[:2])


def lu_factor_ex(A, *, pivot=True, check_errors=False):
    """(LU, pivots, info) of ``lu_factor``: info is the place of the first zero pivot, else 0."""
    made = return_types("linalg_lu_factor_ex", ("LU", "pivots", "info"))
    return made(*_factored("linalg.lu_factor_ex", A, pivot, check_errors))


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


def _old_lu_solve(input, LU_data, LU_pivots, *, out=None):
    """X with A X = input from the factors of A, as ``lu_factor`` gives them."""
    return lu_solve(LU_data, LU_pivots, input)


method(_old_lu_solve, "lu_solve")


def ldl_factor_ex(A, *, hermitian=False, check_errors=False):
    """(LD, pivots, info) of a symmetric matrix, by LAPACK."""
    _square("torch.linalg.ldl_factor_ex", A)
    found = _ldl_op(A, "hetrf" if hermitian and A.is_complex() else "sytrf")
    return return_types("linalg_ldl_factor_ex", ("LD", "pivots", "info"))(*found)


def _ldl(x, name):
    flat = host(x).reshape(math.prod(x.shape[:-2]), *x.shape[-2:])
    packed, pivots = xp.empty(flat.shape, flat.dtype), xp.empty(flat.shape[:-1], xp.int32)
    info = xp.zeros(len(flat), xp.int32)
    for k, one in enumerate(flat if flat.size else ()):
        triangle, pivots[k], info[k] = lapack(name, xp.asfortranarray(one), lower=1)
        packed[k] = xp.tril(triangle)
    return (
        beside(_columns(packed.reshape(x.shape)), x),
        beside(pivots.reshape(x.shape[:-1]), x),
        beside(info.reshape(x.shape[:-2]), x),
    )


_ldl_op = declare(
    "ldl_op",
    _ldl,
    "self",
    "name",
    node="NotImplemented",
    outputs=(True, False, False),
    self=refuse("linalg_ldl_factor_ex"),
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
    rights = xp.broadcast_to(host(B._a), shape).reshape(-1, *shape[-2:])
    lefts = xp.broadcast_to(host(LD._a), (*shape[:-2], n, n)).reshape(-1, n, n)
    places = xp.broadcast_to(host(pivots._a), (*shape[:-2], n)).reshape(-1, n)
    out = [
        lapack(name, xp.asfortranarray(a), p, b, lower=1)[0]
        for a, p, b in zip(lefts, places, rights, strict=True)
    ]
    return wrap(beside(contiguous(xp.stack(out)).reshape(shape), B._a))


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
    array = x if F is RAW else x._a
    return F.masked_fill(x, F.constant(xp.eye(array.shape[-1], dtype=bool, like=array)), value)


def _svd_joint(F, g, result, self_shape, full_matrices):
    u, s, vh = result
    gu, gs, gvh = g
    m, n = self_shape[-2:]
    k = min(m, n)
    axis = _ndim(F, u) - 1
    if full_matrices:
        u, vh = F.narrow(u, axis, 0, k), F.narrow(vh, axis - 1, 0, k)
        gu = None if gu is None else F.narrow(gu, axis, 0, k)
        gvh = None if gvh is None else F.narrow(gvh, axis - 1, 0, k)
    if gu is None and gvh is None:
        if m >= n:
            return (F.matmul(u, F.unsqueeze(gs, axis) * vh),)
        return (F.matmul(u * F.unsqueeze(gs, axis - 1), vh),)
    inner = None if gs is None else F.diag_embed_op(gs, 0, -2, -1)
    square = s * s
    gap = _filled(F, _row(F, square) - _column(F, square), 1)
    for piece in (
        None if gu is None else _skew(F, F.matmul(_swap(F, u), gu)) / gap * _row(F, s),
        None if gvh is None else _column(F, s) * (_skew(F, F.matmul(vh, _swap(F, gvh))) / gap),
    ):
        if piece is not None:
            inner = piece if inner is None else inner + piece
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


def _svd_forward(a, full):
    u, s, vh = xp.linalg.svd(a, full)
    return _columns(u), s, _columns(vh)


_SVD = {
    "U": part(0),
    "S": part(1),
    "Vh": part(2),
    "S_sym_argsize_minus_1": lambda node: node.shape[1][-1],
}
svd_op = declare(
    "svd_op",
    _svd_forward,
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
    _matrix("linalg.svd", A)
    return svd_op(A, False)[1]


def _old_svd(input, some=True, compute_uv=True):
    """(U, S, V) with input = U diag(S) Vᴴ."""
    _matrix("linalg.svd", input)
    u, s, vh = svd_op(input, not some)
    if not compute_uv:
        m, n = input._a.shape[-2:]
        u, vh = (
            wrap(xp.zeros((*input._a.shape[:-2], k, k), input._a.dtype, like=input._a))
            for k in (m, n)
        )
    return return_types("svd", ("U", "S", "V"))(u, s, TENSOR.conj(TENSOR.transpose(vh, -2, -1)))


for _f in (svd, svdvals):
    linalg(_f)
method(_old_svd, "svd")


def _eigh_joint(F, g, result, uplo):
    values, vectors = result
    gl, gv = g
    if gv is None:
        scaled = vectors * F.unsqueeze(gl, _ndim(F, vectors) - 2)
        return (F.matmul(scaled, _swap(F, vectors)),)
    inner = None if gl is None else F.cast(F.diag_embed_op(gl, 0, -2, -1), _np(F, vectors))
    turned = F.matmul(_swap(F, vectors), gv)
    gap = _filled(F, _row(F, values) - _column(F, values), 1)
    part = _filled(F, turned / gap, 0)
    inner = part if inner is None else inner + part
    out = F.matmul(vectors, F.matmul(inner, _swap(F, vectors)))
    return ((out + _swap(F, out)) * 0.5,)


def _eigh_forward(a, uplo):
    values, vectors = xp.linalg.eigh(a, uplo)
    return values, _columns(vectors)


_EIG = {
    "eigenvalues": part(0),
    "eigenvectors": part(1),
}
eigh_op = declare(
    "eigh_op",
    _eigh_forward,
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
    _square("linalg.eigh", A)
    return eigh_op(A, UPLO.upper())[0]


def _eig_forward(a):
    values, vectors = xp.linalg.eig(a)
    wide = xp.complex64 if a.dtype in (xp.float32, xp.complex64) else xp.complex128
    return values.astype(wide), _columns(vectors.astype(wide))


def _eig_joint(F, g, result):
    values, vectors = result
    gl, gv = g
    inner = None
    if gv is None:
        scaled = F.unsqueeze(gl, _ndim(F, vectors) - 1) * _swap(F, vectors)
        return (F.solve_op(_swap(F, vectors), scaled, False),)
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
    _square("linalg.eig", A)
    return eig_op(A)[0]


for _f in (eigh, eigvalsh, eig, eigvals):
    linalg(_f)
