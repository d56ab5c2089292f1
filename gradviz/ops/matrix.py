"""Pseudo-inverse, least squares, norms, powers and products of matrices, distances of rows."""

from __future__ import annotations

import math

from ..backend import as_array, on_host, xp
from ..engine import dtypes
from ..engine.dispatch import wrap
from ..engine.errors import warn_once
from ..engine.operands import all_tensors, together
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import nothing
from ..engine.tensor import wrap_dim
from .declare import FUNCTIONS, declare, method, public
from .derived import pulled_back
from .extremes import return_types
from .factor import _np, svdvals
from .linalg import _columns, _ndim, check_kind, check_square, inv, inv_ex, linalg, solve
from .lower import lowered
from .matmul import _swap
from .reduce import axes
from .statistics import vector_norm


# ---------------------------------------------------------------- pseudo-inverse, least squares
@on_host
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


def _check_pinv(A):
    if A._a.ndim < 2 or A._a.dtype.kind not in "fc" or A._a.dtype.itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({dtypes.scalar_name(A.dtype)}{{{list(A._a.shape)}}}): expected a tensor "
            "with 2 or more dimensions of float, double, cfloat or cdouble types"
        )


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The Moore–Penrose inverse."""
    _check_pinv(A)
    rtol = rcond if rtol is None else rtol
    return pinv_op(A, _rtol(A, rtol, atol), atol, hermitian)


def _pinverse(input, rcond=1e-15):
    """The Moore–Penrose inverse."""
    _check_pinv(input)
    return pinv_op(input, rcond, None, False)


def check_finfo(A):
    """Numbers that have an epsilon PyTorch's kernels know."""
    if A._a.real.dtype.name not in ("float32", "float64"):
        raise RuntimeError("This function doesn't handle types other than float and double")


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """The number of singular values above the tolerance."""
    if A._a.ndim < 2:
        raise RuntimeError(
            "torch.linalg.matrix_rank: The input tensor input must have at least 2 dimensions."
        )
    if tol is None and rtol is None:
        check_finfo(A)
    check_kind("linalg.eigh" if hermitian else "linalg.svd", A)
    if hermitian:
        values = xp.abs(xp.linalg.eigvalsh(A._a))
    else:
        values = xp.linalg.svd(A._a, compute_uv=False)
    if tol is not None:
        floor = tol._a if hasattr(tol, "_a") else tol
    else:
        floor = xp.maximum(
            _rtol(A, rtol, atol) * xp.maximum.reduce(values, -1, initial=0),
            0 if atol is None else atol,
        )
    return wrap(as_array((values > as_array(floor)[..., None]).sum(-1), dtype=xp.int64))


def _lstsq_forward(a, b):
    return _columns(xp.matmul(_pinv_of(a, xp.finfo(a.dtype).eps * max(a.shape[-2:]), False), b))


def _lstsq_a(F, g, self, b, solution, self_shape):
    inverse = F.pinv_op(self, xp.finfo(_np(F, self)).eps * max(self_shape[-2:]), None, False)
    return _pinv_grad(F, F.matmul(g, _swap(F, b)), self, inverse, self_shape)


lstsq_op = declare(
    "lstsq_op",
    _lstsq_forward,
    "self b",
    node="LinalgLstsqBackward0",
    formula="through the pseudo-inverse",
    also={"solution": nothing},
    hidden=("self_sym_sizes",),
    self=lambda F, g, self, b, self_shape: _lstsq_a(F, g, self, b, None, self_shape),
    b=lambda F, g, self, self_shape: F.matmul(
        _swap(F, F.pinv_op(self, xp.finfo(_np(F, self)).eps * max(self_shape[-2:]), None, False)), g
    ),
)


def lstsq(A, B, rcond=None, *, driver=None):
    """(solution, residuals, rank, singular_values) of min ‖A X − B‖; which of the last three hold
    something depends on the ``driver``.
    """
    if A._a.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if A._a.dtype != B._a.dtype:
        names = dtypes.scalar_name(A.dtype), dtypes.scalar_name(B.dtype)
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's "
            "dtype {} and other's dtype {}".format(*names)
        )
    check_finfo(A)
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError(
            "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)"
        )
    vector = B._a.ndim == A._a.ndim - 1
    right = B.unsqueeze(-1) if vector else B
    if right._a.shape[-2] != A._a.shape[-2]:
        last = -1 if vector else -2
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({last})")
    solution = lstsq_op(A, right)
    m, n = A._a.shape[-2:]
    real = A._a.real.dtype
    rank = wrap(xp.zeros(0, xp.int64, like=A._a)) if driver == "gels" else matrix_rank(A)
    values = residuals = wrap(xp.zeros(0, real, like=A._a))
    if m > n and (driver == "gels" or driver != "gelsy" and bool((rank._a == n).all())):
        residuals = (A @ solution - right).abs().square().sum(-2)
    if driver in ("gelsd", "gelss"):
        values = svdvals(A).detach()
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
    if A._a.dtype.kind not in "fcV" or ord in ("nuc", 2, -2):
        check_kind("linalg.matrix_norm", A)
    return _matrix_ord(A, ord, dim, keepdim)


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None, out=None):
    """A vector norm, or a matrix norm when ``ord`` is given and two dimensions are meant."""
    A = A if dtype is None else TENSOR.cast(A, dtype.np)
    if ord is None:
        return vector_norm(A, 2, dim, keepdim)
    if isinstance(ord, str):
        both = (-2, -1) if isinstance(dim, int) else dim or (0, 1)
        return matrix_norm(A, ord, both, keepdim)
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
    inverse, info = inv_ex(A)
    singular = wrap((info._a != 0)[..., None, None])
    inverse = inverse.masked_fill(singular, math.inf)
    return (matrix_norm(A, p) * matrix_norm(inverse, p)).nan_to_num(math.inf, math.inf, -math.inf)


for _f in (matrix_norm, norm, cond):
    linalg(_f)
linalg(vector_norm)


# ---------------------------------------------------------------- products and powers
def matrix_power(A, n, *, out=None):
    """The ``n``-th power of a square matrix, by repeated squaring; negative powers of the
    inverse.
    """
    check_square("linalg.matrix_power", A)
    if n == 0:
        return A.clone().copy_(wrap(xp.eye(A._a.shape[-1], dtype=A._a.dtype, like=A._a)))
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


@on_host
def _exp_forward(a):
    import scipy.linalg

    wide = a.astype(xp.float32) if a.dtype.itemsize == 2 else a
    return scipy.linalg.expm(wide).astype(a.dtype, copy=False)


def _exp_grad(F, g, self):
    """The upper right block of exp([[Aᴴ, g], [0, Aᴴ]])."""
    a = _swap(F, self)
    n, axis = _np_shape(F, self)[-1], _ndim(F, self) - 1
    blocks = xp.zeros(
        (*_np_shape(F, self)[:-2], 2 * n, 2 * n),
        (g if F is RAW else g._a).dtype,
        like=g if F is RAW else g._a,
    )
    if F is RAW:
        blocks[..., :n, :n] = blocks[..., n:, n:] = a
        blocks[..., :n, n:] = g
    else:
        blocks = wrap(blocks)
        for row, column, block in ((0, 0, a), (n, n, a), (0, n, g)):
            F.narrow(F.narrow(blocks, axis - 1, row, n), axis, column, n).copy_(block)
    whole = F.matrix_exp_op(blocks)
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
    check_square("linalg.matrix_exp", A)
    if A._a.dtype.kind not in "fcV":
        check_kind("linalg.matrix_exp", A)
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


def chain_matmul(*matrices):
    """The product of matrices, in the order that costs least."""
    warn_once(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use "
        "torch.linalg.multi_dot instead, which accepts a list of two or more tensors rather than "
        "multiple parameters."
    )
    all_tensors(matrices)
    return matrices[0].clone() if len(matrices) == 1 else multi_dot(matrices)


public("chain_matmul", chain_matmul)
cross_op = declare(
    "cross_op",
    lambda a, b, dim: _cross(a, b, dim),
    "self other",
    "dim",
    node="LinalgCrossBackward0",
    formula="∂self: other × g    ∂other: g × self",
    self=lambda F, g, other, dim: F.cross_op(F.conj(other), g, dim),
    other=lambda F, g, self, dim: F.cross_op(g, F.conj(self), dim),
)


def _cross(a, b, dim):
    if a.dtype == bool:
        raise NotImplementedError("\"cross\" not implemented for 'Bool'")
    if a.dtype != b.dtype:
        names = [dtypes.scalar_name(dtypes.of(x)) for x in (a, b)]
        raise RuntimeError("expected scalar type {} but found {}".format(*names))
    return xp.cross(a, b, axis=dim)


def cross(input, other, *, dim=-1, out=None):
    """The cross product of vectors of three along ``dim``."""
    if input._a.ndim != other._a.ndim:
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    d = wrap_dim(dim, input._a.ndim)
    if not input._a.ndim or {input._a.shape[d], other._a.shape[d]} != {3}:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {input._a.shape[d]} "
            f"and {other._a.shape[d]}"
        )
    shape = together(input, other)
    return cross_op(*[x if x._a.shape == shape else x.expand(*shape) for x in (input, other)], d)


def _old_cross(input, other, dim=None):
    """The cross product along ``dim``, the first dimension of size 3 unless given."""
    if dim is None:
        warn_once(
            "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass "
            "the dim explicitly or simply use torch.linalg.cross.\nThe default value of dim will "
            "change to agree with that of linalg.cross in a future release."
        )
        dim = next((k for k, n in enumerate(input._a.shape) if n == 3), None)
        if dim is None:
            raise RuntimeError("no dimension of size 3 in input")
    return cross(input, other, dim=dim)


def vecdot(x, y, *, dim=-1, out=None):
    """The dot products of vectors along ``dim``, the first conjugated."""
    x, y = lowered(x, y)
    for factor in (x, y):
        if factor._a.dtype.kind not in "fcV":
            check_kind("linalg.vecdot", factor)
    if x._a.ndim == y._a.ndim == 1:
        return FUNCTIONS["vdot"](x, y)
    return (TENSOR.conj(x) * y).sum(dim)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """A view of the diagonals of matrices."""
    return A.diagonal(offset, dim1, dim2)


def vander(x, *, N=None):
    """Powers of the last dimension in a new one, rising from 0."""
    if x._a.dtype.kind == "b" or x._a.dtype.itemsize == 2 and x._a.dtype.kind in "fV":
        raise RuntimeError(
            "linalg.vander supports floating point, complex, and integer tensors, but got "
            f"{dtypes.scalar_name(x.dtype)}"
        )
    n = x._a.shape[-1] if N is None else N
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    wide = x.unsqueeze(-1).expand(*x._a.shape, max(n - 1, 0))
    ones = wrap(xp.ones((*x._a.shape, 1), x._a.dtype, like=x._a))
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
    left, right = math.prod(shape), B._a.size
    if left != right:
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {left} != {right}"
        )
    return solve(A.reshape(B._a.size, -1), B.flatten()).reshape(*shape)


def geqrf(input, *, out=None):
    """(reflections, tau) of a QR decomposition: R on and above the diagonal, below it the vectors
    whose reflections make Q (LAPACK's geqrf). It has no derivative.
    """
    check_kind("geqrf", input)
    a = input._a
    flat, tau = on_host(lambda x: xp.linalg.qr(x, mode="raw"))(a)
    parts = (flat.swapaxes(-2, -1).astype(a.dtype), tau.astype(a.dtype))
    return return_types("geqrf", ("a", "tau"))(*map(wrap, parts))


def ormqr(input, tau, other, left=True, transpose=False, *, out=None):
    """``other`` times the whole Q of the reflections ``geqrf`` gives: Q on the left or right,
    transposed or not.
    """
    m, n = input._a.shape[-2:]
    room = input.new_zeros(*input._a.shape[:-2], m, m - n) if m > n else None
    square = input.narrow(-1, 0, m) if room is None else TENSOR.cat([input, room], -1)
    q = householder_product(square, tau)
    q = q.mH if transpose else q
    return q.matmul(other) if left else other.matmul(q)


def householder_product(A, tau, *, out=None):
    """The first columns of a product of Householder reflections, as ``geqrf`` gives them."""
    m, n = A._a.shape[-2:]
    if m < n:
        raise RuntimeError(
            "torch.linalg.householder_product: input.shape[-2] must be greater than or equal to "
            "input.shape[-1]"
        )
    check_kind("linalg.householder_product", A)
    return householder_op(A, tau)


def _reflections(A, tau):
    m, n = A._a.shape[-2:]
    eye = wrap(xp.eye(m, dtype=A._a.dtype, like=A._a))
    result = eye.expand(*A._a.shape[:-2], m, m) if A._a.ndim > 2 else eye
    lower = A.tril(-1)
    for k in range(tau._a.shape[-1]):
        unit = wrap(xp.eye(m, dtype=A._a.dtype, like=A._a)[:, k : k + 1])
        v = lower.narrow(-1, k, 1) + unit
        result = result - (result @ v) @ v.mH * tau.narrow(-1, k, 1).unsqueeze(-1)
    return result.narrow(-1, 0, n).mT.contiguous().mT


householder_op = declare(
    "householder_product",
    lambda a, t: _reflections(wrap(a), wrap(t))._a,
    "input tau",
    node="LinalgHouseholderProductBackward0",
    formula="∂ A − τ (A v) vᴴ, …",
    joint=lambda F, g, input, tau: pulled_back(
        F, lambda a, t: (_reflections(a, t),), (input, tau), (g,)
    ),
)


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
method(geqrf)
method(ormqr)
method(householder_product, "orgqr")
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
        which, x = ("X1", x1) if x1._a.ndim < 2 else ("X2", x2)
        raise RuntimeError(f"cdist only supports at least 2D tensors, {which} got: {x._a.ndim}D")
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


public("cdist", cdist)
