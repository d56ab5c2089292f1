"""Discrete Fourier transforms: three operations, real to complex, complex to real, complex to
complex; the others are made of them.
"""

from __future__ import annotations

import math

from ..backend import beside, contiguous, readable, xp
from ..engine import dtypes
from ..engine.dispatch import Tensor, wrap
from ..engine.errors import warn_once
from ..engine.operation import RAW, TENSOR
from ..engine.tensor import existing_dim
from .create import check_range
from .declare import FUNCTIONS, declare, method
from .mistakes import explained
from .pad import constant_pad_nd

FFT = {}
NONE, ROOT, COUNT = 0, 1, 2  # how a transform is scaled: not, by 1/√n, by 1/n


def _scaled(x, normalization, shape, dims):
    if normalization == NONE:
        return x
    n = math.prod(shape[d] for d in dims)
    if not n:
        return x
    return x * x.real.dtype.type(1 / n if normalization == COUNT else 1 / math.sqrt(n))


def _by_stride(x, dims):
    """Dimensions from that of the largest steps in memory to that of the smallest."""
    return sorted(dims, key=lambda d: -x.strides[d])


def _laid_out(x, dim, transform):
    """``transform(array, axes)``: its result lies in memory as PyTorch lays it, what is not
    transformed first.
    """
    order = (*_by_stride(x, [d for d in range(x.ndim) if d not in dim]), *dim)
    x = contiguous(x.transpose(order))
    found = transform(x, tuple(order.index(d) for d in dim))
    return found.transpose([order.index(d) for d in range(x.ndim)])


def _c2c_forward(x, dim, normalization, forward):
    def transform(x, axes):
        return xp.fft.fftn(x, axes=axes) if forward else xp.fft.ifftn(x, axes=axes, norm="forward")

    found = _laid_out(x, _by_stride(x, dim), transform)
    return _scaled(found.astype(x.dtype, copy=False), normalization, x.shape, dim)


c2c_op = declare(
    "fft_c2c",
    _c2c_forward,
    "self",
    "dim normalization forward",
    node="FftC2CBackward0",
    formula="the other transform of g",
    self=lambda F, g, dim, normalization, forward: F.fft_c2c(g, dim, normalization, not forward),
)
_WIDE = {xp.dtype(xp.float32): xp.complex64, xp.dtype(xp.float64): xp.complex128}


def _r2c_forward(x, dim, normalization, onesided):
    transform = xp.fft.rfftn if onesided else xp.fft.fftn
    dims = (*_by_stride(x, dim[:-1]), dim[-1])
    found = _laid_out(x, dims, lambda x, axes: transform(x, axes=axes))
    return _scaled(found.astype(_WIDE[x.dtype], copy=False), normalization, x.shape, dim)


def _r2c_grad(F, g, self, self_shape, dim, normalization, onesided):
    if onesided:
        last = dim[-1]
        have = (g if F is RAW else g._a).shape[last]
        missing = self_shape[last] - have
        if missing and F is TENSOR:
            whole = wrap(xp.zeros(self_shape, g._a.dtype, like=g._a))
            F.narrow(whole, last, 0, have).copy_(g)
            g = whole
        elif missing:
            sides = tuple((0, missing * (d == last)) for d in range(len(self_shape)))
            g = F.constant_pad_nd(g, sides, 0)
    return F.real(F.fft_c2c(g, dim, normalization, False))


r2c_op = declare(
    "fft_r2c",
    _r2c_forward,
    "self",
    "dim normalization onesided",
    node="FftR2CBackward0",
    formula="Re of the other transform of g",
    hidden=("self_sym_sizes",),
    self=_r2c_grad,
)


def _c2r_forward(x, dim, normalization, last):
    real = xp.float32 if x.dtype == xp.complex64 else xp.float64
    if len(dim) > 1:
        x = _c2c_forward(x, dim[:-1], NONE, False)

    def transform(x, axes):
        return xp.fft.irfftn(x, [last], axes=axes, norm="forward").astype(real, copy=False)

    found = _laid_out(x, dim[-1:], transform)
    return _scaled(found, normalization, found.shape, dim)


def _c2r_grad(F, g, dim, normalization, last):
    out = F.fft_r2c(g, dim, normalization, True)
    n = (out if F is RAW else out._a).shape[dim[-1]]
    double = last - n
    if not double:
        return out
    if F is TENSOR:
        F.times_(F.narrow(out, dim[-1], 1, double), 2)
        return out
    weights = xp.ones(
        [n if d == dim[-1] else 1 for d in range((out if F is RAW else out._a).ndim)],
        (g if F is RAW else g._a).dtype,
    )
    weights[(slice(None),) * dim[-1] + (slice(1, 1 + double),)] = 2
    return out * F.constant(beside(weights, g if F is RAW else g._a))


c2r_op = declare(
    "fft_c2r",
    _c2r_forward,
    "self",
    "dim normalization last",
    node="FftC2RBackward0",
    formula="the other transform of g",
    hidden=("last",),
    self=_c2r_grad,
)


# ---------------------------------------------------------------- arguments
def _scale_of(name, norm, forward):
    if norm in (None, "backward"):
        return NONE if forward else COUNT
    if norm == "ortho":
        return ROOT
    if norm == "forward":
        return COUNT if forward else NONE
    raise RuntimeError(f'Invalid normalization mode: "{norm}"')


def _promoted(x, need_complex=False):
    if x._a.dtype.itemsize == 2 and x._a.dtype.kind in "fV":
        raise RuntimeError(f"Unsupported dtype {dtypes.scalar_name(x.dtype)}")
    if x._a.dtype.kind in "biu":
        x = TENSOR.cast(x, dtypes.default.float.np)
    if need_complex and x._a.dtype.kind != "c":
        x = TENSOR.cast(x, xp.dtype(_WIDE[x._a.dtype]))
    return x


def _resized(x, sizes):
    """``x`` cut or filled with zeros to ``sizes`` (dimension: size)."""
    pad = [0, 0] * x._a.ndim
    for d, n in sizes.items():
        have = x._a.shape[d]
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
        if n < have:
            x = x.narrow(d, 0, n)
        elif n > have:
            pad[2 * (x._a.ndim - 1 - d) + 1] = n - have
    return constant_pad_nd(x, tuple(pad), 0) if any(pad) else x


def _dims(x, s, dim):
    """(dimensions, sizes) of an n-dimensional transform."""
    n = x._a.ndim
    if dim is None and s is not None and len(s) > n:
        raise RuntimeError(
            f"Got shape with {len(s)} values but input tensor only has {n} dimensions."
        )
    if dim is None:
        dims = tuple(range(n)) if s is None else tuple(range(n - len(s), n))
    else:
        dims = tuple(existing_dim(d, n) for d in ((dim,) if isinstance(dim, int) else dim))
    if len(set(dims)) != len(dims):
        raise RuntimeError("FFT dims must be unique")
    if s is not None and len(s) != len(dims):
        raise RuntimeError("When given, dim and shape arguments must have the same length")
    return dims, [-1] * len(dims) if s is None else list(s)


def _some(name, dims):
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _check_points(x, dims):
    for d in dims:
        if x._a.shape[d] < 1:
            raise RuntimeError(f"Invalid number of data points ({x._a.shape[d]}) specified")


def _last(x, dims, sizes):
    """The last size of a real result: 2 (n − 1) unless given."""
    _check_points(x, _whole(dims, sizes))
    last = sizes[-1] if sizes[-1] != -1 else 2 * (x._a.shape[dims[-1]] - 1)
    if last < 1:
        raise RuntimeError(f"Invalid number of data points ({last}) specified")
    return last


def _whole(dims, sizes):
    """The dimensions of which no size was given."""
    return [d for d, n in zip(dims, sizes, strict=True) if n == -1]


def _given(dims, sizes):
    return {d: n for d, n in zip(dims, sizes, strict=True) if n != -1}


def fft_function(function):
    """Make ``gradviz.fft.<name>``."""
    name = function.__name__
    FFT[name] = explained(name, function, prefix="fft_")
    return function


# ---------------------------------------------------------------- n dimensions
def _complex_nd(name, x, s, dim, norm, forward):
    dims, sizes = _dims(x, s, dim)
    _check_points(x, _whole(dims, sizes))
    x = _resized(_promoted(x, need_complex=True), _given(dims, sizes))
    return c2c_op(x, dims, _scale_of(name, norm, forward), forward)


@fft_function
def fftn(input, s=None, dim=None, norm=None, *, out=None):
    """The transform over several dimensions."""
    return _complex_nd("fftn", input, s, dim, norm, True)


@fft_function
def ifftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse transform over several dimensions."""
    return _complex_nd("ifftn", input, s, dim, norm, False)


@fft_function
def rfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The transform of real input; the last dimension keeps only the half that is not redundant."""
    if input._a.dtype.kind == "c":
        raise RuntimeError(
            f"rfftn expects a real-valued input tensor, but got {dtypes.scalar_name(input.dtype)}"
        )
    dims, sizes = _dims(input, s, dim)
    _some("rfftn", dims)
    _check_points(input, _whole(dims, sizes))
    x = _resized(_promoted(input), _given(dims, sizes))
    return r2c_op(x, dims, _scale_of("rfftn", norm, True), True)


@fft_function
def irfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of ``rfftn``; the last size is 2 (n − 1) unless given."""
    dims, sizes = _dims(input, s, dim)
    _some("irfftn", dims)
    x = _promoted(input, need_complex=True)
    last = _last(x, dims, sizes)
    x = _resized(x, {**_given(dims[:-1], sizes[:-1]), dims[-1]: last // 2 + 1})
    return c2r_op(x, dims, _scale_of("irfftn", norm, False), last)


@fft_function
def hfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The transform of Hermitian input: real output."""
    dims, sizes = _dims(input, s, dim)
    _some("hfftn", dims)
    x = _promoted(input, need_complex=True)
    last = _last(x, dims, sizes)
    x = _resized(x, {**_given(dims[:-1], sizes[:-1]), dims[-1]: last // 2 + 1})
    scale = _scale_of("hfftn", norm, True)
    if len(dims) > 1:
        x = c2c_op(x, dims[:-1], scale, True)
    return c2r_op(TENSOR.conj(x), dims[-1:], scale, last)


@fft_function
def ihfftn(input, s=None, dim=None, norm=None, *, out=None):
    """The inverse of ``hfftn``."""
    dims, sizes = _dims(input, s, dim)
    _some("ihfftn", dims)
    _check_points(input, _whole(dims, sizes))
    if input._a.dtype.kind == "c":
        raise RuntimeError(
            f"Only supports floating-point dtypes, but found: {dtypes.scalar_name(input.dtype)}"
        )
    x = _resized(_promoted(input), _given(dims, sizes))
    scale = _scale_of("ihfftn", norm, False)
    x = r2c_op(x, dims[-1:], scale, True)
    if len(dims) == 1:
        return TENSOR.conj(x)
    return c2c_op(TENSOR.conj_physical(x), dims[:-1], scale, False)


# ---------------------------------------------------------------- one and two dimensions
@fft_function
def fft(input, n=None, dim=-1, norm=None, *, out=None):
    """The transform along ``dim``."""
    return _one("fft", input, n, dim, norm, True)


@fft_function
def ifft(input, n=None, dim=-1, norm=None, *, out=None):
    """The inverse transform along ``dim``."""
    return _one("ifft", input, n, dim, norm, False)


def _one(name, input, n, dim, norm, forward):
    x = _promoted(input)
    d = existing_dim(dim, x._a.ndim)
    x = _resized(x, {} if n is None else {d: n})
    if x._a.shape[d] < 1:
        raise RuntimeError(f"Invalid number of data points ({x._a.shape[d]}) specified")
    scale = _scale_of(name, norm, forward)
    if x._a.dtype.kind == "c":
        return c2c_op(x, (d,), scale, forward)
    found = r2c_op(x, (d,), scale, False)
    return found if forward else TENSOR.conj(found)


def _last_one(function):
    def one(input, n=None, dim=-1, norm=None, *, out=None):
        if name in ("rfft", "ihfft") and input._a.dtype.kind == "c":
            raise RuntimeError(
                f"{name} expects a real input tensor, but got {dtypes.scalar_name(input.dtype)}"
            )
        _promoted(input)  # its dtype is refused first
        return function(input, None if n is None else (n,), (dim,), norm)

    def two(input, s=None, dim=(-2, -1), norm=None, *, out=None):
        return function(input, s, dim, norm)

    name = function.__name__[:-1]
    for made, suffix in ((one, ""), (two, "2")):
        made.__name__ = name + suffix
        made.__doc__ = (
            f"``{function.__name__}`` over {'one dimension' if not suffix else 'two dimensions'}."
        )
    return one, two


for _n in (rfftn, irfftn, hfftn, ihfftn):
    for _f in _last_one(_n):
        fft_function(_f)
for _n in (fftn, ifftn):
    fft_function(_last_one(_n)[1])


# ---------------------------------------------------------------- frequencies and shifts
@fft_function
def fftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of ``fft`` for ``n`` points at distance ``d``."""
    _check_frequencies("fftfreq", dtype)
    made = (dtype or dtypes.default.float).np
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    found = xp.fft.fftfreq(n, d).astype(made) if n else xp.zeros(0, made)
    return wrap(found).requires_grad_(requires_grad)


@fft_function
def rfftfreq(n, d=1.0, *, out=None, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of ``rfft`` for ``n`` points at distance ``d``."""
    _check_frequencies("rfftfreq", dtype)
    made = (dtype or dtypes.default.float).np
    count = int(n / 2) + 1  # rounds to zero
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    with xp.errstate(all="ignore"):
        found = xp.arange(count) / xp.asarray(n * d, float)
    return wrap(found.astype(made)).requires_grad_(requires_grad)


def _check_frequencies(name, dtype):
    if dtype is not None and dtype.category < 2:
        raise RuntimeError(f"{name} requires a floating point or complex dtype")
    if dtype is not None:
        check_range("arange", dtype)


def _shift(input, dim, way):
    dims, _ = _dims(input, None, dim)
    if not dims:
        raise RuntimeError("`shifts` required")
    return input.roll([way(input._a.shape[d]) for d in dims], list(dims))


@fft_function
def fftshift(input, dim=None):
    """The zero frequency moved to the middle."""
    return _shift(input, dim, lambda n: n // 2)


@fft_function
def ifftshift(input, dim=None):
    """The inverse of ``fftshift``."""
    return _shift(input, dim, lambda n: (n + 1) // 2)


# ---------------------------------------------------------------- short-time transform
def _reflected(x, width):
    """``x`` with ``width`` mirrored elements on both sides of the last dimension."""
    n = x._a.shape[-1]
    index = xp.pad(xp.arange(n), width, mode="reflect")
    return x.index_select(-1, wrap(beside(index, x._a)))


def _window(window, win_length, n_fft, like):
    found = window
    if window is None:
        found = wrap(xp.ones(win_length, like.real.dtype, like=like))
    left = (n_fft - win_length) // 2
    return (
        constant_pad_nd(found, (left, n_fft - win_length - left), 0)
        if win_length < n_fft
        else found
    )


_NO_WINDOW = (
    "A window was not provided. A rectangular window will be applied,which is known to cause "
    "spectral leakage. Other windows such as torch.hann_window or torch.hamming_window are "
    "recommended to reduce spectral leakage.To suppress this warning and use a rectangular window, "
    "explicitly set `window=torch.ones(n_fft, device=<device>)`."
)


def stft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
    align_to_window=None,
):
    """Transforms of windows every ``hop_length``: (…, frequencies, frames), complex."""
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    if center and not isinstance(input, Tensor):
        input.dim()  # what PyTorch's Python asks first
    if window is None:
        warn_once(_NO_WINDOW)
    if not return_complex and not input.is_complex():
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will "
            "further require that "
            "return_complex=True in a future PyTorch release."
        )
    x = input if input._a.ndim == 2 else input.unsqueeze(0)
    if center:
        half = n_fft // 2
        x = _reflected(x, half) if pad_mode == "reflect" else constant_pad_nd(x, (half, half), 0)
    frames = x.unfold(-1, n_fft, hop) * _window(window, width, n_fft, x._a)
    half_only = not x.is_complex() if onesided is None else onesided
    scale = ROOT if normalized else NONE
    frames = frames if half_only else _promoted(frames, need_complex=True)
    found = r2c_op(frames, (2,), scale, True) if half_only else c2c_op(frames, (2,), scale, True)
    found = found.transpose(1, 2)
    return found if input._a.ndim == 2 else found.squeeze(0)


def istft(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    normalized=False,
    onesided=None,
    length=None,
    return_complex=False,
):
    """The signal of which ``input`` is the short-time transform, by weighted overlap and
    addition.
    """
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    x = input if input._a.ndim == 3 else input.unsqueeze(0)
    half_only = x._a.shape[1] == n_fft // 2 + 1 if onesided is None else onesided
    scale = ROOT if normalized else COUNT
    x = x.transpose(1, 2)
    if half_only:
        frames = c2r_op(x, (2,), scale, n_fft)
    else:
        frames = c2c_op(x, (2,), scale, False)
        frames = frames if return_complex else FUNCTIONS["real"](frames)
    weights = _window(window, width, n_fft, x._a)
    total = n_fft + hop * (frames._a.shape[1] - 1)
    shape = (frames._a.shape[0], total)
    signal = TENSOR.from_windows(frames * weights, shape, 1, n_fft, hop)
    energy = TENSOR.from_windows(
        (weights * weights).expand(*frames._a.shape).clone(), shape, 1, n_fft, hop
    )
    start = n_fft // 2 if center else 0
    end = total - (n_fft // 2 if center else 0) if length is None else min(start + length, total)
    signal, energy = signal.narrow(1, start, end - start), energy.narrow(1, start, end - start)
    if readable(energy._a) and abs(energy._a).min() < 1e-11:
        raise RuntimeError("istft(...) window overlap add min: 1")
    out = signal / energy
    if length is not None and length > out._a.shape[1]:
        out = constant_pad_nd(out, (0, length - out._a.shape[1]), 0)
    return out if input._a.ndim == 3 else out.squeeze(0)


method(stft)
method(istft)
