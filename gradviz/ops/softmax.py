"""logsumexp, softmax and log_softmax."""

from __future__ import annotations

from ..backend import contiguous, xp
from ..engine import dtypes
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import wrap_dim
from . import fused
from . import rows as by_rows
from .casting import is_half
from .declare import declare, method
from .reduce import _as, _finish, _sum_dims, axes

ndarray = xp.ndarray
add_reduce = xp.add.reduce


def _logsumexp_forward(x, dims, keepdim):
    top = xp.maximum.reduce(x, dims, None, None, True, -xp.inf)
    top = xp.where(xp.isfinite(top), top, top.dtype.type(0))
    with xp.errstate(divide="ignore"):
        out = xp.log(_sum_dims(xp.exp(x - top), dims, True)) + top
    return out if keepdim else out.reshape(tuple(n for i, n in enumerate(x.shape) if i not in dims))


def _logsumexp_grad(F, g, self, result, self_shape, dim, keepdim):
    if not keepdim:
        g, result = (F.with_dims(x, self_shape, dim) for x in (g, result))
    return g * F.conj(F.exp(self - result))


logsumexp_op = declare(
    "logsumexp",
    _logsumexp_forward,
    "self",
    "dim keepdim",
    formula="g · exp(self − result)",
    hidden=("self_sym_sizes",),
    self=_logsumexp_grad,
)


def logsumexp(input, dim, keepdim=False, *, out=None):
    """log Σ exp along ``dim``; integers count as floats."""
    if dim is None:
        raise TypeError
    x = input if input._a.dtype.kind not in "biu" else TENSOR.cast(input, dtypes.default.float.np)
    return _finish("logsumexp", logsumexp_op(x, axes(dim, x._a.ndim), keepdim), out, input)


method(logsumexp)


def _softmax_forward(x, dim):
    if x.ndim == 0:
        return xp.ones((), x.dtype, like=x)
    if x.size == 0:
        return x.copy()
    if _in_rows(x, dim):
        return by_rows.softmax(x)
    if x.__class__ is not ndarray:
        return fused.softmax(x, dim)
    e = xp.exp(contiguous(x) - xp.maximum.reduce(x, dim, None, None, True))
    e /= add_reduce(e, dim, None, None, True)
    return e


def _half_log_softmax(x, dim):
    """Half precision is computed in single; on the CPU the sum of the powers along the last
    dimension and its logarithm are rounded in between.
    """
    wide = x.astype(xp.float32)
    if dim not in (-1, x.ndim - 1) or x.__class__ is not ndarray:
        return _log_softmax_forward(wide, dim).astype(x.dtype)
    shifted = wide - xp.maximum.reduce(wide, -1, None, None, True)
    total = add_reduce(xp.exp(shifted), -1, None, None, True).astype(x.dtype)
    logs = xp.log(total.astype(xp.float32)).astype(x.dtype).astype(xp.float32)
    return (shifted - logs).astype(x.dtype)


def _log_softmax_forward(x, dim):
    if x.ndim == 0:
        return xp.zeros((), x.dtype, like=x)
    if x.size == 0:
        return x.copy()
    if is_half(x.dtype):
        return _half_log_softmax(x, dim)
    if _in_rows(x, dim):
        return by_rows.log_softmax(x)
    if x.__class__ is not ndarray:
        return fused.log_softmax(x, dim)
    shifted = contiguous(x) - xp.maximum.reduce(x, dim, None, None, True)
    shifted -= xp.log(add_reduce(xp.exp(shifted), dim, None, None, True))
    return shifted


def _in_rows(x, dim):
    """Whether the kernels over rows pay; half precision needs them."""
    if x.__class__ is not ndarray or dim not in (-1, x.ndim - 1):
        return False
    return x.size > 4096 or (x.dtype.itemsize == 2 and x.size)


def _along(F, x, dim):
    return F.sum_dims(x, (dim,) if (x if F is RAW else x._a).ndim else (), True)


def _softmax_back(g, result, dim):
    if _in_rows(result, dim):
        return by_rows.softmax_back(g, result)
    if result.__class__ is not ndarray and result.ndim:
        return fused.softmax_back(g, result, dim)
    return result * (g - _along(RAW, g * result, dim))


def _log_softmax_back(g, result, dim):
    if _in_rows(result, dim):
        return by_rows.log_softmax_back(g, result)
    if result.__class__ is not ndarray and result.ndim:
        return fused.log_softmax_back(g, result, dim)
    return g - xp.exp(result) * _along(RAW, g, dim)


softmax_backward = declare(
    "softmax_backward_data",
    _softmax_back,
    "grad_output output",
    "dim",
    formula="∂g: output · (g − Σ g · output)    ∂output: g · (grad − Σ grad · output) − …",
    grad_output=lambda F, g, output, dim: F.softmax_backward_data(g, output, dim),
    output=lambda F, g, grad_output, output, dim: (
        g * (grad_output - _along(F, grad_output * output, dim))
        - grad_output * _along(F, g * output, dim)
    ),
)
log_softmax_backward = declare(
    "log_softmax_backward_data",
    _log_softmax_back,
    "grad_output output",
    "dim",
    formula="∂g: g − Σ g · exp(output)    ∂output: −g · exp(output) · Σ grad",
    grad_output=lambda F, g, output, dim: g - _along(F, g * F.exp(output), dim),
    output=lambda F, g, grad_output, output, dim: (
        -(g * F.exp(output) * _along(F, grad_output, dim))
    ),
)


softmax_op = declare(
    "softmax",
    _softmax_forward,
    "self",
    "dim",
    node="SoftmaxBackward0",
    formula="result · (g − Σ g · result)",
    self=lambda F, g, result, dim: F.softmax_backward_data(g, result, dim),
)
log_softmax_op = declare(
    "log_softmax",
    _log_softmax_forward,
    "self",
    "dim",
    node="LogSoftmaxBackward0",
    formula="g − exp(result) · Σ g",
    self=lambda F, g, result, dim: F.log_softmax_backward_data(g, result, dim),
)


def softmax(input, dim, dtype=None):
    """exp(x) / Σ exp(x) along ``dim``."""
    input = _as(input, dtype, TENSOR.cast)
    d = wrap_dim(dim, input._a.ndim)
    _refuse_kinds("softmax", input, d)
    return softmax_op(input, d)


def log_softmax(input, dim, dtype=None):
    """log(softmax(x)) along ``dim``."""
    input = _as(input, dtype, TENSOR.cast)
    d = wrap_dim(dim, input._a.ndim)
    _refuse_kinds("log_softmax", input, d)
    return log_softmax_op(input, d)


def _refuse_kinds(name, input, dim):
    if input._a.dtype.kind in "biuc" and input._a.size:
        kernel = f"{name}_{'lastdim_' if dim >= input._a.ndim - 1 else ''}kernel_impl"
        raise NotImplementedError(
            f"\"{kernel}\" not implemented for '{dtypes.scalar_name(input.dtype)}'"
        )


method(softmax)
method(log_softmax)
