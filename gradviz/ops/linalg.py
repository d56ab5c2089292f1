"""Determinants, inverses, systems of equations, Cholesky. NumPy computes, derivatives are ours."""

from __future__ import annotations

import math

from ..backend import as_array, contiguous, xp
from ..engine import dtypes
from ..engine.dispatch import wrap
from ..engine.errors import warn_once
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import kept, nothing, part
from .declare import declare, method
from .matmul import _swap
from .mistakes import explained
from .reduce import return_types

LINALG = {}


class LinAlgError(RuntimeError):
    """A matrix is singular, or not positive-definite, or a factorisation did not converge."""


LinAlgError.__name__ = LinAlgError.__qualname__ = "_LinAlgError"


def linalg(function, name=None):
    """Make ``gradviz.linalg.<name>``."""
    name = name or function.__name__
    LINALG[name] = explained(name, function, prefix="linalg_")
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
    from .factor import _lu_parts

    diagonal = xp.diagonal(_lu_parts(a)[2])
    zero = xp.nonzero(diagonal == 0)[0]
    return int(zero[0]) + 1 if zero.size else 0


def _columns(x):
    """``x`` laid out column by column, as LAPACK leaves it and PyTorch shows it."""
    return contiguous(x.swapaxes(-2, -1)).swapaxes(-2, -1)


# ---------------------------------------------------------------- determinant, inverse
def _eye_like(F, x):
    a = x if F is RAW else x._a
    return F.constant(xp.broadcast_to(xp.eye(a.shape[-1], dtype=a.dtype, like=a), a.shape).copy())


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
    others = xp.ones(s.shape, s.dtype, like=s)
    for k in range(s.shape[-1]):
        others[..., k] = xp.delete(s, k, -1).prod(-1)
    sign = xp.linalg.det(u) * xp.linalg.det(vh)
    return xp.conj(sign)[..., None, None] * ((u * others[..., None, :]) @ vh)


RAW.cofactors = _cofactors
TENSOR.cofactors = lambda x: wrap(_cofactors(x._a))


def _lu_names(node):
    from .factor import lu_factor

    return lu_factor(TENSOR.read(node.s[0], node.s[1]).detach())


_LU = {
    "A": kept("self"),
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
    lambda a: tuple(as_array(x) for x in xp.linalg.slogdet(a)),
    "self",
    node="LinalgSlogdetBackward0",
    outputs=(True, True),
    formula="g · A⁻ᵀ",
    hidden=("self", "result"),
    joint=_slogdet_joint,
    also={**_LU, "sign": part(0)},
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
    also={"inverse": part()},
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
        inv_op(A), wrap(xp.zeros(A._a.shape[:-2], xp.int32, like=A._a))
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
        solve(A, B, left=left), wrap(xp.zeros(A._a.shape[:-2], xp.int32, like=A._a))
    )


def _triangle(a, upper, unit):
    kept = xp.triu(a) if upper else xp.tril(a)
    if unit:
        kept = kept.copy()
        n = a.shape[-1]
        diagonal = xp.arange(n, like=a)
        kept[..., diagonal, diagonal] = 1
    return kept


def _triangular_forward(a, b, upper, left, unit):
    a = _triangle(a, upper, unit)
    if left:
        return _columns(xp.linalg.solve(a, b))
    return contiguous(xp.linalg.solve(a.swapaxes(-2, -1), b.swapaxes(-2, -1)).swapaxes(-2, -1))


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


_L = {"L": part()}
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
        cholesky_op(A, upper), wrap(xp.zeros(A._a.shape[:-2], xp.int32, like=A._a))
    )


_OLD_CHOLESKY = (
    "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a "
    "future PyTorch release.\nL = torch.cholesky(A)\nshould be replaced with\nL = "
    "torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be replaced with\n"
    "U = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results for all valid "
    "(symmetric positive definite) inputs."
)


def _old_cholesky(input, upper=False):
    """The triangular factor of a positive-definite matrix."""
    warn_once(_OLD_CHOLESKY)
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
    also={"self": nothing},
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
        xp.broadcast_to(xp.eye(f.shape[-1], dtype=f.dtype, like=f), f.shape), f, upper
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
