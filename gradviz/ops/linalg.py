"""Determinants, inverses, systems of equations, Cholesky. NumPy computes, derivatives are ours."""

from __future__ import annotations

import math

from ..backend import MetaArray, as_array, beside, contiguous, host, meta, readable, xp
from ..engine import dtypes
from ..engine.dispatch import wrap
from ..engine.errors import warn_once
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import kept, part
from .declare import declare, method
from .extremes import return_types
from .matmul import _swap
from .mistakes import explained

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
# The kernels that have no half precision; of the others PyTorch says that it is too low.
_KERNELS = {
    "linalg.cholesky": "cholesky_cpu",
    "cholesky": "cholesky_cpu",
    "cholesky_solve": "cholesky_solve_cpu",
    "cholesky_inverse": "cholesky_inverse_out_cpu",
    "linalg.lu": "lu_cpu",
    "linalg.lu_factor": "lu_cpu",
    "linalg.lu_factor_ex": "lu_cpu",
    "linalg.solve": "lu_cpu",
    "linalg.det": "lu_cpu",
    "linalg.qr": "geqrf_cpu",
    "geqrf": "geqrf_cpu",
    "linalg.svd": "linalg_svd_cpu",
    "linalg.eig": "linalg_eig_out_cpu",
    "linalg.eigh": "linalg_eigh_cpu",
    "linalg.householder_product": "orgqr_cpu",
    "linalg.solve_triangular": "triangular_solve_cpu",
    "torch.linalg.ldl_factor_ex": "ldl_factor_kernel_cpu",
}
# These leave whole numbers to the kernel too.
_UNCHECKED = frozenset(
    "cholesky cholesky_solve cholesky_inverse linalg.lu linalg.lu_factor linalg.lu_factor_ex geqrf "
    "linalg.eigh linalg.householder_product linalg.solve_triangular".split()
)


def check_kind(name, x):
    """Floating-point or complex numbers of full precision; RuntimeError or NotImplementedError."""
    kind, shown = x._a.dtype, dtypes.scalar_name(x.dtype)
    whole = kind.kind not in "fcV"
    if not whole and kind.itemsize > 2:
        return
    if name == "linalg.eig" and whole:
        raise RuntimeError(f"Unknown Complex ScalarType for {shown}")
    if name in _KERNELS and (not whole or name in _UNCHECKED):
        raise NotImplementedError(f"\"{_KERNELS[name]}\" not implemented for '{shown}'")
    if whole:
        raise RuntimeError(
            f"{name}: Expected a floating point or complex tensor as input. Got {shown}"
        )
    raise RuntimeError(f"{name}: Low precision dtypes not supported. Got {shown}")


def _matrix(name, x, argument="A"):
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    check_kind(name, x)


def check_square(name, x, argument="A"):
    """Square matrices, whatever their elements."""
    if x._a.ndim < 2:
        raise RuntimeError(f"{name}: The input tensor {argument} must have at least 2 dimensions.")
    n, m = x._a.shape[-2:]
    if n != m:
        raise RuntimeError(
            f"{name}: {argument} must be batches of square matrices, but they are {n} by {m} "
            "matrices"
        )


def _square(name, x, argument="A"):
    check_square(name, x, argument)
    check_kind(name, x)


# ---------------------------------------------------------------- LAPACK, matrix by matrix
def lapack(name, *args, **kwargs):
    """What SciPy's LAPACK gives for one matrix."""
    import scipy.linalg.lapack

    (function,) = scipy.linalg.lapack.get_lapack_funcs((name,), args[:1])
    return function(*args, **kwargs)


def _one_by_one(function, a, *others):
    """``function`` of every matrix of a batch, on the host."""
    if isinstance(a, MetaArray):
        made = function(*[xp.eye(*x.shape[-2:], dtype=x.dtype) for x in (a, *others)])
        return meta.fresh((*a.shape[:-2], *made.shape), made.dtype)
    batches = [x.reshape(-1, *x.shape[-2:]) for x in (host(a), *map(host, others))]
    found = [function(*matrices) for matrices in zip(*batches, strict=True)]
    return beside(xp.stack(found).reshape((*a.shape[:-2], *found[0].shape)), a)


def _solved(a, b):
    """X with A X = B by elimination: infinite or NaN where A is singular."""
    packed, pivots, _ = lapack("getrf", a)
    return lapack("getrs", packed, pivots, b)[0]


def zero_pivots(packed):
    """For packed LU factors the 1-based place of the first zero pivot of every matrix, 0 where
    there is none.
    """
    zero = xp.diagonal(packed, 0, -2, -1) == 0
    if not zero.shape[-1]:
        return xp.zeros(packed.shape[:-2], xp.int32, like=packed)
    return xp.where(zero.any(-1), zero.argmax(-1) + 1, 0).astype(xp.int32)


def _singular(a, result):
    """Where the elimination that gave ``result`` met a zero pivot, a matrix."""
    if not readable(result) or xp.isfinite(result).all():
        return xp.zeros(a.shape[:-2], xp.int32, like=a)
    from .factor import packed_lu

    return zero_pivots(packed_lu(a)[0])


def raise_first(info, error, text):
    """``error`` with ``text`` (of ``where`` and ``place``) for the first matrix whose info is not
    0.
    """
    if isinstance(info, MetaArray):
        return
    wrong = xp.flatnonzero(host(info))
    if not wrong.size:
        return
    where = f"(Batch element {wrong[0]}): " if info.ndim else ""
    raise error(text.format(where=where, place=int(host(info).reshape(-1)[wrong[0]])))


_NO_INVERSE = (
    "{name}: {{where}}The diagonal element {{place}} is zero, the inversion could not be completed "
    "because the input matrix is singular."
)
_NO_SOLUTION = "{name}: {{where}}The solver failed because the input matrix is singular."
_NO_FACTOR = (
    "{name}: {{where}}The factorization could not be completed because the input is not "
    "positive-definite (the leading minor of order {{place}} is not positive-definite)."
)


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
    array = result if F is RAW else result._a
    if not readable(array) or array.all():
        return F.times_inverse(g * F.conj(result), self)
    return _unsqueeze2(F, g) * F.cofactors(self) if a.size else F.zeros_like(self)


def _times_inverse(scale, A):
    """``scale`` times the inverse of the conjugate transpose, by solving, as PyTorch records it."""
    wide = scale.unsqueeze(-1).expand(A._a.shape[:-1]).diag_embed()
    return solve_op(_swap(TENSOR, A), TENSOR.transpose(wide, -2, -1), False)


RAW.times_inverse = lambda scale, a: _unsqueeze2(RAW, scale) * _swap(RAW, RAW.inv_op(a))
TENSOR.times_inverse = _times_inverse


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
    if g[1] is not None:
        grads.append(F.times_inverse(g[1], self))
    if g[0] is not None and (sign if F is RAW else sign._a).dtype.kind == "c":
        turn = F.imag(F.conj(g[0]) * sign) * -1j
        grads.append(F.times_inverse(turn, self))
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
    return return_types("linalg_slogdet", ("sign", "logabsdet"))(sign, log)


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
        eye = xp.eye(a.shape[-1], dtype=a.dtype)
        return _columns(_one_by_one(lambda one: _solved(one, eye), a))


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
    return _inverse("linalg.inv", A, True)[0]


def inv_ex(A, *, check_errors=False):
    """(inverse, info): info is 0 where it worked, else the place of the zero pivot."""
    made = return_types("linalg_inv_ex", ("inverse", "info"))
    return made(*_inverse("linalg.inv_ex", A, check_errors))


def _inverse(name, A, check):
    _square("linalg.inv", A)
    result = inv_op(A)
    info = _singular(A._a, result._a)
    if check:
        raise_first(info, LinAlgError, _NO_INVERSE.format(name=name))
    return result, wrap(info)


for _f in (det, slogdet, inv, inv_ex):
    linalg(_f)
method(det)
method(slogdet)
method(logdet)
method(inv, "inverse")


# ---------------------------------------------------------------- systems of equations
def _solve_forward(a, b, vector):
    right = b[..., None] if vector else b
    try:
        found = xp.linalg.solve(a, right)
    except xp.linalg.LinAlgError:
        batch = xp.broadcast_shapes(a.shape[:-2], right.shape[:-2])
        a, right = (xp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, right))
        found = _one_by_one(_solved, a, right)
    found = _columns(found)
    return found[..., 0] if vector else found


def _solve_joint(F, g, A, result, needs, vector):
    if vector:
        g, result = F.unsqueeze(g, -1), F.unsqueeze(result, -1)
    of_b = F.solve_op(_swap(F, A), g, False)
    of_a = -F.matmul(of_b, _swap(F, result)) if needs[0] else None
    return of_a, F.squeeze_dim(of_b, -1) if vector else of_b


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
    joint=_solve_joint,
)


def solve(A, B, *, left=True, out=None):
    """X with A X = B (X A = B with ``left=False``); B is a vector, a batch of vectors, or matrices.
    LinAlgError for a singular A.
    """
    return _solution("torch.linalg.solve", A, B, left, True)[0]


def solve_ex(A, B, *, left=True, check_errors=False):
    """(result, info) of ``solve``: info is 0 where it worked, else the place of the zero pivot."""
    made = return_types("linalg_solve_ex", ("result", "info"))
    return made(*_solution("torch.linalg.solve_ex", A, B, left, check_errors))


def _solution(name, A, B, left, check):
    check_square("linalg.solve", A)
    if A._a.dtype.kind not in "fcV":
        check_kind("linalg.solve", A)
    if A._a.dtype != B._a.dtype:
        raise RuntimeError(
            "linalg.solve: Expected A and B to have the same dtype, but found A of type "
            f"{dtypes.scalar_name(A.dtype)} and B of type {dtypes.scalar_name(B.dtype)} instead"
        )
    vector = _fits_system(A, B, left)
    check_kind("linalg.solve", A)
    if vector and B._a.ndim < A._a.ndim - 1:
        B = B.expand(*A._a.shape[:-1])
    turned = not left and not vector
    result = solve_op(A.mT, B.mT, False) if turned else solve_op(A, B, vector)
    info = _singular(A._a, result._a)
    if check:
        raise_first(info, LinAlgError, _NO_SOLUTION.format(name=name))
    return TENSOR.transpose(result, -2, -1) if turned else result, wrap(info)


def _fits_system(A, B, left):
    """Whether B is a vector or a batch of them; RuntimeError where its size is not that of A."""
    vector = B._a.ndim == 1 or A._a.ndim - 1 == B._a.ndim and B._a.shape == A._a.shape[:-1]
    rows = B._a.shape[-1] if vector else B._a.shape[-2 if left else -1]
    n = A._a.shape[-1]
    if rows != n or vector and not left and n != 1:
        shown = f"{B._a.shape[-1]}x1" if vector else f"{B._a.shape[-2]}x{B._a.shape[-1]}"
        equation = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {equation} ({n}x{n} "
            f"and {shown})"
        )
    return vector


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


def _triangular_grads(F, g, self, result, needs, upper, left, unitriangular):
    back = F.triangular_op(_swap(F, self), g, not upper, left, unitriangular)
    if not needs[0]:
        return None, back
    whole = -(F.matmul(back, _swap(F, result)) if left else F.matmul(_swap(F, result), back))
    if upper:
        return F.triu(whole, 1 if unitriangular else 0), back
    return F.tril(whole, -1 if unitriangular else 0), back


triangular_op = declare(
    "triangular_op",
    _triangular_forward,
    "self B",
    "upper left unitriangular",
    node="LinalgSolveTriangularBackward0",
    formula="∂B: A⁻ᵀ g    ∂A: −(A⁻ᵀ g) Xᵀ, in the triangle",
    joint=_triangular_grads,
)


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """X with A X = B, of which only a triangle of A is read."""
    _square("linalg.solve_triangular", A)
    return triangular_op(A, B, bool(upper), left, unitriangular)


for _f in (solve, solve_ex, solve_triangular):
    linalg(_f)


# ---------------------------------------------------------------- Cholesky
def _cholesky_forward(a, upper):
    a = xp.conj(a.swapaxes(-2, -1)) if upper else a
    try:
        lower = xp.linalg.cholesky(a)
    except xp.linalg.LinAlgError:
        lower = _one_by_one(lambda one: lapack("potrf", one, lower=1, clean=1)[0], a)
    return _columns(xp.conj(lower.swapaxes(-2, -1)) if upper else lower)


def _indefinite(a, factor):
    """The order of the first leading minor that is not positive-definite, 0 where all are."""
    real = factor.real if factor.dtype.kind == "c" else factor
    if not readable(real) or (xp.diagonal(real, 0, -2, -1) > 0).all():
        return xp.zeros(a.shape[:-2], xp.int32, like=a)
    return _one_by_one(lambda one: xp.asarray(lapack("potrf", one, lower=1)[1], xp.int32), a)


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
    phi = F.tril(F.matmul(_swap(F, lower), back), 0)
    both = (phi + _swap(F, F.tril(phi, -1))) * 0.5
    left = F.triangular_op(_swap(F, lower), both, True, True, False)
    return F.triangular_op(lower, left, False, False, False)


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
    return _factor("linalg.cholesky", A, upper, True)[0]


def cholesky_ex(A, *, upper=False, check_errors=False):
    """(L, info) of ``cholesky``: info is 0 where it worked, else the order of the first leading
    minor that is not positive-definite.
    """
    made = return_types("linalg_cholesky_ex", ("L", "info"))
    return made(*_factor("linalg.cholesky_ex", A, upper, check_errors))


def _factor(name, A, upper, check, operation=cholesky_op, called="linalg.cholesky"):
    _square(called, A)
    result = operation(A, upper)
    info = _indefinite(A._a, result._a)
    if check:
        raise_first(info, LinAlgError, _NO_FACTOR.format(name=name))
    return result, wrap(info)


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
    return _factor("cholesky", input, upper, True, old_cholesky_op, "cholesky")[0]


def _chol_solve_forward(b, factor, upper):
    lower = xp.conj(xp.triu(factor).swapaxes(-2, -1)) if upper else xp.tril(factor)
    return _columns(xp.linalg.solve(xp.conj(lower.swapaxes(-2, -1)), xp.linalg.solve(lower, b)))


def _chol_solve_grads(F, g, self, input2, result, needs, upper):
    solved = F.chol_solve_op(g, input2, upper)
    if not needs[1]:
        return solved, None
    common = F.matmul(solved, _swap(F, result))
    common = common + _swap(F, common)
    return solved, -(F.matmul(input2, common) if upper else F.matmul(common, input2))


chol_solve_op = declare(
    "chol_solve_op",
    _chol_solve_forward,
    "self input2",
    "upper",
    node="CholeskySolveBackward0",
    formula="∂B: (L Lᵀ)⁻¹ g",
    joint=_chol_solve_grads,
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
