"""Complex tensors: parts, angle, polar form, and the views between complex and real."""

from __future__ import annotations

import math

from ..backend import as_array, as_strided, contiguous, xp
from ..engine import dtypes
from ..engine.dispatch import Tensor, chain
from ..engine.operation import RAW, TENSOR
from ..engine.strides import storage_offset
from ..engine.tensor import element_strides
from .declare import binary, declare, public, unary
from .index import setitem
from .join import select_op

REAL = {xp.dtype(xp.complex64): xp.dtype(xp.float32), xp.dtype(xp.complex128): xp.dtype(xp.float64)}
COMPLEX = {real: made for made, real in REAL.items()}


def _as_real(x):
    real = REAL[x.dtype]
    strides = (*x.strides, real.itemsize)
    return (
        as_strided(x.view() if x.ndim else x.reshape(1), (*x.shape, 1), strides).view(real)
        if x.size
        else xp.zeros((*x.shape, 2), real, like=x)
    )


def _as_complex(x):
    made = COMPLEX[x.dtype]
    if x.strides[-1] != x.itemsize or x.size == 0:
        x = contiguous(x)
    return x.view(made)[..., 0] if x.ndim > 1 else x.view(made).reshape(())


def _check_pairs(x):
    if x.size and x.strides[-1] != x.itemsize:
        raise RuntimeError("Tensor must have a last dimension with stride 1")


def _as_complex_copy(x):
    return _as_complex(contiguous(x))


view_as_real_op = declare(
    "view_as_real_op",
    _as_real,
    "self",
    node="ViewAsRealBackward0",
    view=True,
    formula="g as complex",
    self=lambda F, g: F.pack_complex(g),
)
view_as_complex_op = declare(
    "view_as_complex_op",
    _as_complex,
    "self",
    node="ViewAsComplexBackward0",
    view=True,
    formula="g as pairs",
    self=lambda F, g: F.unpack_complex(g),
)


def _chained(function):
    """A view of other numbers remembers the way from its base."""

    def view(input):
        return chain(input, function(input), function.op)

    view.op = function.op
    setattr(TENSOR, function.op.name, view)
    return view


def _again(x):
    """The view of a base that may have been turned since it was made."""
    _check_pairs(x)
    return _as_complex(x)


view_as_complex_op.op.again = _again
view_as_real_op, view_as_complex_op = _chained(view_as_real_op), _chained(view_as_complex_op)
declare(
    "pack_complex",
    _as_complex_copy,
    "self",
    node="ViewAsComplexBackward0",
    self=lambda F, g: F.unpack_complex(g),
)
declare(
    "unpack_complex",
    lambda x: _as_real(contiguous(x)).reshape(*x.shape, 2),
    "self",
    node="ViewAsRealBackward0",
    self=lambda F, g: F.pack_complex(g),
)


def view_as_real(input):
    """A real view of a complex tensor with a last dimension of 2."""
    if input._a.dtype.kind != "c":
        raise RuntimeError("view_as_real is only supported for complex tensors")
    return view_as_real_op(input)


def view_as_complex(input):
    """A complex view of a real tensor whose last dimension is 2."""
    if input._a.dtype not in COMPLEX:
        raise RuntimeError(
            "view_as_complex is only supported for half, float and double tensors, but got a "
            f"tensor of scalar type: {_scalar(input)}"
        )
    if input._a.ndim == 0:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if input._a.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    _check_pairs(input._a)
    if any(s % 2 for s in element_strides(input._a)[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if storage_offset(input._a) % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    return view_as_complex_op(input)


def _scalar(x):
    from ..engine import dtypes

    return dtypes.scalar_name(x.dtype)


def real(input):
    """The real part, a view; the tensor itself when it is real."""
    return (
        select_op(view_as_real_op(input), input._a.ndim, 0) if input._a.dtype.kind == "c" else input
    )


def imag(input):
    """The imaginary part, a view; RuntimeError for a real tensor."""
    if input._a.dtype.kind != "c":
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return select_op(view_as_real_op(input), input._a.ndim, 1)


for _f in (view_as_real, view_as_complex, real, imag):
    public(_f.__name__, _f)
Tensor.real = property(real, lambda self, value: setitem(real(self), ..., value))
Tensor.imag = property(imag, lambda self, value: setitem(imag(self), ..., value))
RAW.real, TENSOR.real = (lambda x: x.real), real
RAW.imag, TENSOR.imag = (lambda x: x.imag), imag


def _join(real_, imag_):
    out = xp.empty(xp.broadcast_shapes(real_.shape, imag_.shape), COMPLEX[real_.dtype], like=real_)
    out.real, out.imag = real_, imag_
    return out


complex_op = binary(
    "complex",
    _join,
    "real imag",
    node="ComplexBackward0",
    formula="∂real: Re g    ∂imag: Im g",
    expose=False,
    real=lambda F, g, real: F.real(g),
    imag=lambda F, g, imag: F.imag(g),
)


def complex_(real, imag, *, out=None):
    """The complex tensor with the given parts."""
    if real._a.dtype not in COMPLEX or imag._a.dtype not in COMPLEX:
        raise RuntimeError(
            f"Expected both inputs to be Half, Float or Double tensors but got {_scalar(real)} "
            f"and {_scalar(imag)}"
        )
    if real._a.dtype != imag._a.dtype:
        raise RuntimeError(
            f"Expected object of scalar type {_scalar(real)} but got scalar type {_scalar(imag)} "
            "for second argument"
        )
    return complex_op(real, imag)


def _polar_abs(F, g, result):
    return F.real(F.conj(g) * F.sgn(result))


def _polar_angle(F, g, result):
    return F.real(F.conj(g) * (result * 1j))


polar_op = binary(
    "polar_op",
    lambda r, a: _join(*(as_array(part) for part in (r * xp.cos(a), r * xp.sin(a)))),
    "abs angle",
    node="PolarBackward0",
    expose=False,
    formula="∂abs: Re(ḡ · sgn result)    ∂angle: Re(ḡ · i · result)",
    abs=_polar_abs,
    angle=_polar_angle,
)
public("complex", complex_)


def polar(abs, angle, *, out=None):
    """Complex numbers from their sizes and angles."""
    if not {abs._a.dtype.name, angle._a.dtype.name} <= {"float16", "float32", "float64"}:
        names = dtypes.scalar_name(abs.dtype), dtypes.scalar_name(angle.dtype)
        raise RuntimeError(
            "Expected both inputs to be Half, Float or Double tensors but got {} and {}".format(
                *names
            )
        )
    return polar_op(abs, angle)


public("polar", polar)


def _angle(x):
    if x.dtype.kind == "c":
        return xp.angle(x)
    out = xp.where(x < 0, math.pi, 0.0)
    if x.dtype.kind == "f":
        return xp.where(xp.isnan(x), x, out).astype(x.dtype)
    return out.astype(xp.float32)


def _angle_grad(F, g, self):
    if (self if F is RAW else self._a).dtype.kind != "c":
        return F.zeros_like(g)
    with xp.errstate(all="ignore"):
        turned = g * self / F.abs(self) ** 2 * 1j
    return F.where(self == 0, F.constant_like(0, self), turned)


angle = unary("angle", _angle, inplace=False, formula="g · (−Im + i Re)/|self|²", self=_angle_grad)
RAW.join, TENSOR.join = _join, complex_op
