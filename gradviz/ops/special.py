"""Special functions. SciPy computes them and is loaded on first use; derivatives are ours."""

from __future__ import annotations

import math

from ..backend import as_array, on_host, xp
from ..engine import dtypes
from ..engine.dispatch import Tensor
from ..engine.memory_format import copied
from ..engine.modes import native
from ..engine.operands import is_number, tensors
from ..engine.operation import RAW, TENSOR
from ..engine.saved_names import part
from ..engine.views import rename_in_place, write
from .arithmetic import _float_if_needed
from .casting import floating, refuse, refuse_complex
from .declare import FUNCTIONS, alias, binary, declare, method, only_method, public, unary
from .mistakes import explained

SPECIAL = {}


def _scipy(name):
    """A SciPy special function of floating arrays that keeps the dtype."""

    def forward(*arrays):
        import scipy.special

        arrays = [floating(x) for x in arrays]
        wanted = xp.result_type(*arrays)
        work = [x.astype(xp.float32) if x.dtype.itemsize == 2 else x for x in arrays]
        with xp.errstate(all="ignore"):
            return as_array(getattr(scipy.special, name)(*work)).astype(wanted, copy=False)

    return forward


def _only_special(name, function):
    SPECIAL[name] = explained(name, function, prefix="special_")
    return function


_gammaln = _scipy("gammaln")


def _log_gamma(x):
    return _gammaln(xp.where(x == -xp.inf, -x, x) if x.dtype.kind in "fV" else x)


# ---------------------------------------------------------------- of one tensor, in the main
# namespace
digamma = unary(
    "digamma",
    _scipy("digamma"),
    inplace="method",
    formula="g · ψ′(self)",
    self=lambda F, g, self: g * F.polygamma(self, 1),
)
lgamma = unary(
    "lgamma",
    _log_gamma,
    inplace="method",
    formula="g · ψ(self)",
    self=lambda F, g, self: g * F.digamma(self),
)
erfinv = unary(
    "erfinv",
    _scipy("erfinv"),
    inplace="method",
    formula="g · √π/2 · exp(erfinv(self)²)",
    self=lambda F, g, self: F.exp(F.squared(F.erfinv(self))) * (0.5 * math.sqrt(math.pi)) * g,
)
i0 = unary("i0", _scipy("i0"), formula="g · I₁(self)", self=lambda F, g, self: g * F.i1(self))
deg2rad = unary(
    "deg2rad",
    lambda x: floating(x) * floating(x).dtype.type(math.pi / 180),
    node="Deg2RadBackward0",
    formula="g · π/180",
    self=lambda F, g: g * (math.pi / 180),
)
rad2deg = unary(
    "rad2deg",
    lambda x: floating(x) * floating(x).dtype.type(180 / math.pi),
    node="Rad2DegBackward0",
    formula="g · 180/π",
    self=lambda F, g: g * (180 / math.pi),
)


def _sinc_grad(F, g, self):
    angle = self * math.pi
    with xp.errstate(all="ignore"):
        slope = (angle * F.cos(angle) - F.sin(angle)) / (self * self * math.pi)
    return F.where(self == 0, F.constant_like(0, g), g * F.conj(slope))


sinc = unary(
    "sinc",
    lambda x: xp.sinc(floating(x)).astype(floating(x).dtype, copy=False),
    formula="g · (πx cos πx − sin πx)/(πx²)",
    self=_sinc_grad,
)


@on_host
def _poly_forward(x, n):
    import scipy.special

    found = as_array(scipy.special.polygamma(n, x)).astype(x.dtype, copy=False)
    pole = (x < 0) & (x == xp.floor(x))
    if n == 1 and pole.any():  # as large there as the sine of the rounded angle lets it be
        pi = x.dtype.type(math.pi)
        return xp.where(pole, xp.square(pi / xp.sin(pi * x)), found)
    return found


_KERNELS = {0: "digamma", 1: "trigamma"}


def _poly(x, n):
    if x.dtype.kind == "c":
        raise NotImplementedError(
            f'"{_KERNELS.get(n, "polygamma")}" not implemented for '
            f"'{dtypes.scalar_name(dtypes.of(x))}'"
        )
    return _poly_forward(floating(x), n)


polygamma_op = declare(
    "polygamma",
    _poly,
    "self",
    "n",
    formula="g · ψ⁽ⁿ⁺¹⁾(self)",
    self=lambda F, g, self, n: g * F.polygamma(self, n + 1),
)


def polygamma(n, input):
    """The ``n``-th derivative of the digamma function."""
    _check_order(n)
    return polygamma_op(input, n)


def _polygamma_(self, n):
    """In-place ``polygamma``."""
    _check_order(n)
    return write(polygamma_op.op, (self,), (n,))


def _check_order(n):
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")


public("polygamma", polygamma)
only_method(lambda self, n: polygamma(n, self), "polygamma")


def _mvlgamma_grad(F, g, self, p):
    if F is RAW:
        return g * sum(F.digamma(self - self.dtype.type(k / 2)) for k in range(p))
    steps = xp.arange(1 - p, 1, like=self._a).astype(self._a.dtype) / 2
    wide = F.constant(steps) + F.unsqueeze(self, self._a.ndim)
    return g * F.sum_dims(F.digamma(wide), (wide._a.ndim - 1,), False)


def _mvlgamma(x, p):
    log_gamma = _log_gamma
    out = sum(log_gamma(floating(x) - xp.asarray(k / 2, floating(x).dtype)) for k in range(p))
    return out + out.dtype.type(p * (p - 1) / 4 * math.log(math.pi))


mvlgamma_op = declare(
    "mvlgamma", _mvlgamma, "self", "p", formula="g · Σ ψ(self − k/2)", self=_mvlgamma_grad
)


def mvlgamma(input, p):
    """The logarithm of the multivariate gamma function of dimension ``p``."""
    _check_dimension(p)
    return mvlgamma_op(input, p)


def mvlgamma_(self, p):
    """In-place ``mvlgamma``."""
    if self._a.dtype.kind in "biu":
        raise RuntimeError(
            f"mvlgamma: result type {dtypes.scalar_name(self.dtype)} can't be cast to the desired "
            f"output type {dtypes.scalar_name(dtypes.default.float)}"
        )
    _check_dimension(p)
    return write(mvlgamma_op.op, (self,), (p,))


def _check_dimension(p):
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")


method(mvlgamma)
only_method(mvlgamma_)
only_method(_polygamma_, "polygamma_")
rename_in_place(polygamma_op.op, "PolygammaBackward1")


def _logit_forward(x, eps):
    x = floating(x)
    if eps is not None:
        x = xp.clip(x, x.dtype.type(eps), x.dtype.type(1 - eps))
    with xp.errstate(all="ignore"):
        return xp.log(x / (1 - x))


def _logit_grad(F, g, self, eps):
    if eps is None:
        return F.where(
            (self >= 0) & (self <= 1), g / (self * (1 - self)), F.constant_like(xp.nan, g)
        )
    inside = (self >= eps) & (self <= 1 - eps)
    return F.where(inside, g / (self * (1 - self)), F.constant_like(0, g))


logit_op = declare(
    "logit", _logit_forward, "self", "eps", formula="g / (self (1 − self))", self=_logit_grad
)
method(lambda input, eps=None: logit_op(input, eps), "logit")
method(lambda self, eps=None: write(logit_op.op, (self,), (eps,)), "logit_")


def _nan_to_num(x, nan, posinf, neginf):
    if x.dtype.kind not in "fc":
        return copied(x)
    return xp.nan_to_num(
        x, copy=True, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf
    )


nan_to_num_op = declare(
    "nan_to_num",
    _nan_to_num,
    "self",
    "nan posinf neginf",
    formula="g where self is finite",
    self=lambda F, g, self: g * F.cast(F.isfinite(self), (g if F is RAW else g._a).dtype),
)


def nan_to_num(input, nan=None, posinf=None, neginf=None):
    """A copy with numbers in the place of NaN and of the infinities."""
    refuse_complex("nan_to_num", input)
    return nan_to_num_op(input, nan, posinf, neginf)


method(nan_to_num)
method(
    lambda self, nan=None, posinf=None, neginf=None: write(
        nan_to_num_op.op, (self,), (nan, posinf, neginf)
    ),
    "nan_to_num_",
)


# ---------------------------------------------------------------- of two tensors
def _underivable(name):
    def derivative(F, g, self, other):
        raise NotImplementedError(f"the derivative for '{name}' is not implemented.")

    return derivative


def _xlogy(a, b):
    a, b = floating(a), floating(b)
    with xp.errstate(all="ignore"):
        return xp.where(xp.isnan(b), b, xp.where(a == 0, a.dtype.type(0), a * xp.log(b)))


def _xlog1py(a, b):
    a, b = floating(a), floating(b)
    with xp.errstate(all="ignore"):
        return xp.where(xp.isnan(b), b, xp.where(a == 0, a.dtype.type(0), a * xp.log1p(b)))


def _xlogy_self(F, g, self, other):
    zero = (self == 0) & (other <= 0)
    return F.masked_fill(F.xlogy(g, other), zero, 0)


xlogy = binary(
    "xlogy",
    _xlogy,
    by_number=("XlogyBackward1", "XlogyBackward2"),
    formula="∂self: g · ln other    ∂other: g · self/other",
    self=_xlogy_self,
    other=lambda F, g, self, other: g * self / other,
)
xlog1py = binary(
    "xlog1py",
    _xlog1py,
    node="SpecialXlog1PyBackward0",
    by_number=("SpecialXlog1PyBackward1", "SpecialXlog1PyBackward2"),
    expose=False,
    self=lambda F, g, self, other: F.masked_fill(
        F.xlog1py(g, other), (self == 0) & (other <= -1), 0
    ),
    other=lambda F, g, self, other: g * self / (other + 1),
)


def _share(F, g, power, apart):
    """``g`` times exp(self)/(exp(self) + exp(other)), by how far other is above self."""
    with xp.errstate(all="ignore"):
        return g / F.conj(power(apart) + 1)


def _logaddexp(a, b):
    if a.dtype.kind != "c":
        return xp.logaddexp(a, b)
    larger = a.real > b.real
    top, low = xp.where(larger, a, b), xp.where(larger, b, a)
    return top + xp.log1p(xp.exp(low - top))


logaddexp = binary(
    "logaddexp",
    _logaddexp,
    numbers=False,
    inplace=False,
    formula="g · σ(self − other)",
    self=lambda F, g, self, other: _share(F, g, F.exp, other - self),
    other=lambda F, g, self, other: _share(F, g, F.exp, self - other),
)
logaddexp2 = binary(
    "logaddexp2",
    xp.logaddexp2,
    numbers=False,
    inplace=False,
    self=lambda F, g, self, other: _share(F, g, lambda x: F.pow_base(x, 2), other - self),
    other=lambda F, g, self, other: _share(F, g, lambda x: F.pow_base(x, 2), self - other),
)


def _copysign_self(F, g, self, result):
    with xp.errstate(all="ignore"):
        return g * F.masked_fill(result / self, self == 0, 0)


copysign = binary(
    "copysign",
    lambda a, b: xp.copysign(floating(a), floating(b)),
    by_number=("CopysignBackward0", "CopysignBackward1"),
    formula="g · result/self",
    self=_copysign_self,
    other=lambda F, g: F.zeros_like(g),
)
heaviside = binary(
    "heaviside",
    lambda a, b: xp.where(a == 0, b, (a > 0).astype(a.dtype)),
    expose=False,
    node="NotImplemented",
    self=refuse("heaviside"),
    other=refuse("heaviside"),
)
heaviside_in_place = binary(
    "heaviside_",
    heaviside.op.forward,
    expose=False,
    node="NotImplemented",
    self=refuse("heaviside_"),
    other=refuse("heaviside_"),
)


def _checked_heaviside(input, values):
    """1 above 0, 0 below, ``values`` at 0; RuntimeError for complex numbers or two dtypes."""
    input, values = tensors("heaviside", input, values)
    if "c" in (input._a.dtype.kind, values._a.dtype.kind):
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    if input._a.dtype != values._a.dtype:
        raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
    return input, values


def _heaviside(input, values):
    """1 above 0, 0 below, ``values`` at 0; RuntimeError for complex numbers or two dtypes."""
    return heaviside(*_checked_heaviside(input, values))


def _heaviside_(self, values):
    """In-place ``heaviside``."""
    return write(heaviside_in_place.op, _checked_heaviside(self, values))


method(_heaviside, "heaviside")
only_method(_heaviside_, "heaviside_")
nextafter = binary(
    "nextafter",
    xp.nextafter,
    numbers=False,
    formula="g where self ≠ other",
    self=lambda F, g, self, other: F.where(self != other, g, F.constant_like(0, g)),
    other=lambda F, g, self, other: F.zeros_like(g),
)


igamma = binary(
    "igamma",
    _scipy("gammainc"),
    numbers=False,
    self=_underivable("igamma: input"),
    other=lambda F, g, self, other: g * F.exp((self - 1) * F.log(other) - other - F.lgamma(self)),
)
igammac = binary(
    "igammac",
    _scipy("gammaincc"),
    numbers=False,
    self=_underivable("igammac: input"),
    other=lambda F, g, self, other: -g * F.exp((self - 1) * F.log(other) - other - F.lgamma(self)),
)
zeta = binary(
    "zeta",
    _scipy("zeta"),
    node="SpecialZetaBackward0",
    by_number=("SpecialZetaBackward1", "SpecialZetaBackward2"),
    expose=False,
    self=_underivable("zeta"),
    other=lambda F, g, self, other: g * -self * F.zeta(self + 1.0, other),
)
for _n in ("xlogy_",):
    public(_n, getattr(Tensor, _n))
ldexp_op = binary(
    "ldexp",
    lambda a, b: floating(a) * xp.exp2(floating(b)).astype(floating(a).dtype),
    numbers=False,
    formula="∂self: g · 2^other",
    self=lambda F, g, other: g * F.conj(F.exp2(other)),
    other=lambda F, g, result: g * F.conj(result) * math.log(2),
)


def float_power(input, exponent, *, out=None):
    """``input ** exponent`` in double precision."""
    for x in (input, exponent):
        if not isinstance(x, Tensor) and not is_number(x):
            raise TypeError
    wide = xp.dtype(
        xp.complex128
        if any(
            isinstance(x, complex) or isinstance(x, Tensor) and x.is_complex()
            for x in (input, exponent)
        )
        else xp.float64
    )
    input, exponent = (
        TENSOR.cast(x, wide) if isinstance(x, Tensor) else x for x in (input, exponent)
    )
    return FUNCTIONS["pow"](input, exponent, out=out)


def frexp(input):
    """(mantissa, exponent) with ``input = mantissa · 2^exponent``."""
    from .extremes import return_types

    return return_types("frexp", ("mantissa", "exponent"))(*frexp_op(input))


def _reciprocal_of_squares(F, self, other):
    """1/(self² + other²), 0 where that is infinite: no gradient comes from the origin."""
    squares = self * self + other * other
    return F.masked_fill(F.reciprocal(squares), squares == 0, 0)


atan2 = binary(
    "atan2",
    lambda a, b: xp.arctan2(floating(a), floating(b)),
    numbers=False,
    formula="∂self: g · other/(self²+other²)    ∂other: −g · self/(self²+other²)",
    self=lambda F, g, self, other: g * other * _reciprocal_of_squares(F, self, other),
    other=lambda F, g, self, other: g * -self * _reciprocal_of_squares(F, self, other),
)
for _end in ("", "_"):
    alias(f"arctan2{_end}", f"atan2{_end}")
hypot = binary(
    "hypot",
    xp.hypot,
    numbers=False,
    formula="∂self: g · self/result    ∂other: g · other/result",
    self=lambda F, g, self, result: g * self / result,
    other=lambda F, g, other, result: g * other / result,
)
frexp_op = declare(
    "frexp",
    lambda x: _frexp(x),
    "self",
    outputs=(True, False),
    formula="g · 2^−exponent",
    hidden=("result",),
    also={"exponent": part(1)},
    joint=lambda F, g, result: (g[0] / F.exp2(_exponent(F, result, g[0])),),
)


def _exponent(F, result, g):
    exponent = result[1]
    return F.cast(exponent if F is RAW else exponent.detach(), (g if F is RAW else g._a).dtype)


def _frexp(x):
    if x.dtype.kind not in "fV":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    mantissa, exponent = xp.frexp(x)
    return mantissa, exponent.astype(xp.int32)


method(float_power)
method(frexp)


def float_power_(self, exponent):
    """In-place ``float_power``, of double precision only."""
    complexes = isinstance(exponent, complex) or (
        isinstance(exponent, Tensor) and exponent._a.dtype.kind == "c"
    )
    wanted = dtypes.complex128 if complexes or self._a.dtype.kind == "c" else dtypes.float64
    if self.dtype is not wanted:
        raise RuntimeError(
            f"the base given to float_power_ has dtype {dtypes.scalar_name(self.dtype)} but the "
            f"operation's result requires dtype {dtypes.scalar_name(wanted)}"
        )
    return self.pow_(TENSOR.cast(exponent, wanted.np) if isinstance(exponent, Tensor) else exponent)


only_method(float_power_)


# ---------------------------------------------------------------- integers
gcd = binary("gcd", xp.gcd, numbers=False, self=None, other=None)
lcm = binary("lcm", xp.lcm, numbers=False, self=None, other=None)
for _n in ("gcd_", "lcm_", "ldexp_"):
    public(_n, getattr(Tensor, _n))
bitwise_left_shift = binary("bitwise_left_shift", xp.left_shift, self=None, other=None)
bitwise_right_shift = binary("bitwise_right_shift", xp.right_shift, self=None, other=None)
Tensor.__lshift__, Tensor.__rshift__ = bitwise_left_shift, bitwise_right_shift
Tensor.__rlshift__ = lambda self, other: bitwise_left_shift(other, self)
Tensor.__rrshift__ = lambda self, other: bitwise_right_shift(other, self)
Tensor.__ilshift__, Tensor.__irshift__ = Tensor.bitwise_left_shift_, Tensor.bitwise_right_shift_

isposinf = unary(
    "isposinf",
    lambda x: x == xp.inf if x.dtype.kind in "fV" else xp.zeros(x.shape, bool, like=x),
    inplace=False,
    self=None,
)
isneginf = unary(
    "isneginf",
    lambda x: xp.isneginf(x) if x.dtype.kind == "f" else xp.zeros(x.shape, bool, like=x),
    inplace=False,
    self=None,
)
isreal = unary(
    "isreal",
    lambda x: x.imag == 0 if x.dtype.kind == "c" else xp.ones(x.shape, bool, like=x),
    inplace=False,
    self=None,
)


def positive(input):
    """The tensor itself; RuntimeError for bool."""
    if input._a.dtype == bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


method(positive)
Tensor.__pos__ = positive

# ---------------------------------------------------------------- in the special namespace only
erfcx = unary(
    "erfcx",
    _scipy("erfcx"),
    node="SpecialErfcxBackward0",
    expose=False,
    self=lambda F, g, self, result: (2 * self * result - 2 / math.sqrt(math.pi)) * g,
)
i1 = unary(
    "i1",
    _scipy("i1"),
    node="SpecialI1Backward0",
    expose=False,
    self=lambda F, g, self, result: _i1_grad(F, g, self, result),
)
i0e = unary(
    "i0e",
    _scipy("i0e"),
    node="SpecialI0EBackward0",
    expose=False,
    self=lambda F, g, self, result: g * (F.i1e(self) - F.sgn(self) * result),
)
i1e = unary(
    "i1e",
    _scipy("i1e"),
    node="SpecialI1EBackward0",
    expose=False,
    self=lambda F, g, self, result: _i1e_grad(F, g, self, result),
)


def _i1_grad(F, g, self, result):
    safe, near = _apart_from_zero(F, self)
    slope = F.i0(safe) - result * F.reciprocal(safe)
    return g * F.where(near, slope, F.constant_like(0.5, result))


def _apart_from_zero(F, self):
    """``self``, something else where it is 0; and where it is not."""
    near = F.abs(self) > 0
    return F.where(near, self, F.constant_like(1, self)), near


def _i1e_grad(F, g, self, result):
    safe, near = _apart_from_zero(F, self)
    slope = F.i0e(safe) - result * (F.sgn(safe) + F.reciprocal(safe))
    return g * F.where(near, slope, F.constant_like(0.5, result))


ndtri = unary(
    "ndtri",
    _scipy("ndtri"),
    node="SpecialNdtriBackward0",
    expose=False,
    self=lambda F, g, result: g * math.sqrt(2 * math.pi) * F.exp(F.squared(result) / 2),
)
log_ndtr = unary(
    "log_ndtr",
    _scipy("log_ndtr"),
    node="SpecialLogNdtrBackward0",
    expose=False,
    self=lambda F, g, self, result: (
        g / math.sqrt(2 * math.pi) * F.exp(-(result + F.squared(self) / 2))
    ),
)


def _entr(x):
    x = floating(x)
    with xp.errstate(all="ignore"):
        return xp.where(
            x > 0, -x * xp.log(x), xp.where(x == 0, x.dtype.type(0), x.dtype.type(-xp.inf))
        )


def _entr_grad(F, g, self):
    with xp.errstate(all="ignore"):
        return g * -(F.log(self) + 1)


entr = unary(
    "entr",
    _entr,
    node="SpecialEntrBackward0",
    expose=False,
    formula="−g · (1 + ln self)",
    self=_entr_grad,
)


def ndtr(input):
    """The standard normal distribution function."""
    with native():
        return (TENSOR.erf(_float_if_needed(input, 1.0) * math.sqrt(0.5)) + 1) * 0.5


for _n in ("erfcx", "i1", "i0e", "i1e", "ndtri", "log_ndtr", "entr", "ndtr"):
    _only_special(_n, globals()[_n])
_only_special("xlog1py", xlog1py)
_only_special("zeta", zeta)
for _n in ("j0", "j1"):
    _only_special(
        f"bessel_{_n}",
        unary(f"bessel_{_n}", _scipy(_n), expose=False, self=None),
    )
_only_special(
    "round",
    lambda input, *, decimals=0, out=None: FUNCTIONS["round"](input, decimals=decimals, out=out),
)
for _new, _old in [
    ("psi", "digamma"),
    ("gammaln", "lgamma"),
    ("expit", "sigmoid"),
    ("gammainc", "igamma"),
    ("gammaincc", "igammac"),
    ("multigammaln", "mvlgamma"),
]:
    _only_special(_new, FUNCTIONS[_old])
for _n in (
    "digamma",
    "erf",
    "erfc",
    "erfinv",
    "exp2",
    "expm1",
    "i0",
    "log1p",
    "log_softmax",
    "logit",
    "logsumexp",
    "polygamma",
    "sinc",
    "softmax",
    "xlogy",
):
    if _n in FUNCTIONS:
        _only_special(_n, FUNCTIONS[_n])
