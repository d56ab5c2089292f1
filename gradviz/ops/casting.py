"""What derivatives are written with: casts, conjugates, signs and refusals."""

from __future__ import annotations

import operator

from ..backend import readable, xp, zeros_by
from ..engine import dispatch, dtypes, memory_format
from ..engine.dispatch import Tensor, wrap
from ..engine.memory_format import copied, in_format
from ..engine.modes import is_recording, local, state
from ..engine.node import LEAF, Output
from ..engine.operation import RAW, TENSOR
from ..engine.views import rename_in_place
from .declare import declare, method, unary

ndarray = xp.ndarray


def _conj(x):
    return xp.conj(x) if x.dtype.kind == "c" else x


def floating(x):
    """``x``, whole numbers in the default dtype of floating-point ones."""
    return x if x.dtype.kind in "fcV" else memory_format.cast(x, dtypes.default.float.np)


def is_half(dtype):
    """Whether a NumPy dtype is float16 or bfloat16."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def _floating(function):
    """A ufunc that turns integers into the default float, as PyTorch does."""

    def forward(x):
        return function(floating(x))

    forward.__name__ = function.__name__
    return forward


def _cast(x, dtype):
    if x.dtype == dtype:
        return x
    x = x.real if x.dtype.kind == "c" and dtype.kind not in "c" else x
    return memory_format.cast(x, dtype)


RAW.plus, TENSOR.plus = operator.add, operator.add
RAW.constant = lambda array: array
TENSOR.constant = wrap
RAW.cast = _cast
RAW.zeros_like = lambda x: zeros_by(x, x.shape)
TENSOR.zeros_like = lambda x: wrap(xp.zeros(x._a.shape, x._a.dtype, like=x._a))
RAW.astype = lambda x, like: x.astype(like.dtype)


def _sign(x):
    """x/|x|, 0 at 0 and, of a real number, at NaN."""
    if x.dtype.kind == "f":
        out = xp.sign(x)
        return xp.nan_to_num(out, copy=False) if readable(out) and xp.isnan(out).any() else out
    if x.dtype.kind != "c":
        return xp.sign(x)
    size = xp.abs(x)
    return xp.where(size == 0, 0, x / xp.where(size == 0, 1, size))


def refuse(name):
    """The derivative of an operation that PyTorch records without one."""

    def derivative(F, g):
        raise RuntimeError(f"derivative for aten::{name} is not implemented")

    derivative.refused = name
    return derivative


def lacking(name):
    """The derivative of an operation for which PyTorch says that there is none."""

    def derivative(F, g):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    derivative.refused = name
    return derivative


def refuse_complex(name, *tensors):
    """RuntimeError for a tracked complex tensor, of which PyTorch records nothing here."""
    if is_recording() and any(x._a.dtype.kind == "c" and x.requires_grad for x in tensors):
        raise RuntimeError(
            f"{name} does not support automatic differentiation for outputs with complex dtype."
        )


conj = unary("conj", _conj, expose=False, self=lambda F, g: F.conj(g))
conj_physical = unary("conj_physical", _conj, self=lambda F, g: F.conj_physical(g))
rename_in_place(conj_physical.op, "ConjPhysicalBackward1")
RAW.conj = operator.methodcaller("conjugate")  # real arrays give themselves back
TENSOR.conj = lambda x: conj(x) if x._a.dtype.kind == "c" else x
method(lambda input: conj_physical(input) if input._a.dtype.kind == "c" else input, "conj_physical")
method(lambda self: TENSOR.conj(self), "conj")
for _name in ("resolve_conj", "resolve_neg"):  # nothing waits to be resolved
    method(lambda input: input if isinstance(input, Tensor) else input._a, _name)

to_copy = declare(
    "to_copy",
    lambda x, dtype: _cast(x, dtype) if x.dtype != dtype else copied(x),
    "self",
    "dtype",
    node="ToCopyBackward0",
    formula="g",
    self=lambda F, g: g,
)


to_format = declare(
    "to_format",
    lambda x, dtype, format: in_format(_cast(x, dtype) if x.dtype != dtype else copied(x), format),
    "self",
    "dtype format",
    node="ToCopyBackward0",
    formula="g",
    self=lambda F, g: g,
)


def cast(x, dtype):
    """``x`` in a NumPy dtype; an integer result asks nothing of the graph."""
    if x._a.dtype == dtype:
        return x
    return to_copy(x, dtype) if dtype.kind in "fcV" else wrap(to_copy.op.forward(x._a, dtype))


def converted(x, dtype):
    """``x`` in the NumPy dtype in which an operation computes: that has no node of its own, since
    the gradient comes back in the dtype of ``x`` anyway.
    """
    if x._a.dtype == dtype or x._g is None or dtype.kind not in "fcV":
        return cast(x, dtype)
    if state.special and (not is_recording() or local.dual is not None):
        return cast(x, dtype)
    made = wrap(_cast(x._a, dtype))
    made._g = Output(x, 0) if x._g is LEAF else x._g
    made._v, made._converted = dispatch._cell(x), x  # writes into x count, and x is what was saved
    return made


TENSOR.cast = cast
TENSOR.astype = lambda x, like: TENSOR.cast(x, like._a.dtype)
