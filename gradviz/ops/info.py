"""Limits of dtypes, window functions, and the older constructors."""

from __future__ import annotations

import math

from ..backend import as_strided, beside, xp
from ..engine import dtypes
from ..engine.construct import array_of, mark
from ..engine.device import CPU, Device, default, layout, of
from ..engine.device import like as like_of
from ..engine.dispatch import Tensor, wrap
from ..engine.errors import warn_once
from ..engine.memory_format import memory_format
from ..engine.modes import local
from .create import check_range
from .declare import only_method, public, tensor_argument
from .shape import alias_op


class finfo:
    """Limits of a floating dtype: ``eps``, ``max``, ``min``, ``tiny``, ``resolution``, ``bits``."""

    def __init__(self, type=None):
        dtype = dtypes.default.float if type is None else type
        if dtype.category < 2:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle "
                f"'{__name__}.finfo'"
            )
        dtype = dtype.to_real()
        if dtype is dtypes.bfloat16:
            import ml_dtypes

            found = ml_dtypes.finfo(dtype.np)
        else:
            found = xp.finfo(dtype.np)
        self.dtype, self.bits = dtype.name, dtype.itemsize * 8
        self.eps, self.max, self.min = float(found.eps), float(found.max), float(found.min)
        self.tiny = self.smallest_normal = float(found.smallest_normal)
        self.resolution = float(found.resolution)

    def __repr__(self):
        return (
            f"finfo(resolution={_short(self.resolution)}, min={_short(self.min)}, "
            f"max={_short(self.max)}, eps={_short(self.eps)}, "
            f"smallest_normal={_short(self.smallest_normal)}, tiny={_short(self.tiny)}, "
            f"dtype={self.dtype})"
        )


def _short(x):
    return f"{x:g}"


class iinfo:
    """Limits of an integer dtype: ``max``, ``min``, ``bits``."""

    def __init__(self, type):
        if type.category != 1:
            raise TypeError(
                f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{type}'"
            )
        found = xp.iinfo(type.np)
        self.dtype, self.bits, self.max, self.min = (
            type.name,
            type.itemsize * 8,
            int(found.max),
            int(found.min),
        )

    def __repr__(self):
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"


public("finfo", finfo)
public("iinfo", iinfo)


# ---------------------------------------------------------------- windows
def _cosines(n, periodic, weights):
    """Σ weights · cos(2πk i/n), signs alternating."""
    if n == 1:
        return xp.ones(1)
    angle = 2 * math.pi * xp.arange(n) / (n if periodic else n - 1)
    return sum(w * (-1) ** k * xp.cos(k * angle) for k, w in enumerate(weights))


def _window(name, values):
    def function(
        window_length,
        periodic=True,
        *args,
        dtype=None,
        layout=None,
        device=None,
        requires_grad=False,
        **named,
    ):
        if dtype is not None and dtype.category < 2:
            raise RuntimeError(
                f"{name} expects floating point dtypes, got: TensorOptions(dtype="
                f"{dtypes.c_name(dtype)}, device=cpu, layout=Strided (default), requires_grad="
                "false (default), pinned_memory=false, memory_format=(nullopt))"
            )
        if window_length < 0:
            raise RuntimeError(
                f"{name} requires non-negative window_length, got window_length={window_length}"
            )
        if dtype is not None and window_length > 1:
            check_range("arange", dtype)
        made = values(window_length, periodic, *args, **named) if window_length else xp.zeros(0)
        made = made.astype((dtype or dtypes.default.float).np)
        return mark(wrap(beside(made, like_of(device))), requires_grad)

    function.__name__ = name
    function.__doc__ = (
        f"The {name.split('_')[0].title()} window; ``periodic`` for spectra, else symmetric."
    )
    public(name, function)


def _bartlett(n, periodic):
    if n == 1:
        return xp.ones(1)
    wide = n + 1 if periodic else n
    return (1 - xp.abs(2 * xp.arange(wide) / (wide - 1) - 1))[:n]


def _kaiser(n, periodic, beta=12.0):
    if n == 1:
        return xp.ones(1)
    wide = n + 1 if periodic else n
    return xp.kaiser(wide, beta)[:n]


_window("hann_window", lambda n, periodic: _cosines(n, periodic, (0.5, 0.5)))
_window(
    "hamming_window",
    lambda n, periodic, alpha=0.54, beta=0.46: _cosines(n, periodic, (alpha, beta)),
)
_window("blackman_window", lambda n, periodic: _cosines(n, periodic, (0.42, 0.5, 0.08)))
_window("bartlett_window", _bartlett)
_window("kaiser_window", _kaiser)


# ---------------------------------------------------------------- older names
class _OlderType(type):
    """A type that makes tensors of one dtype, and whose objects they are."""

    def __call__(cls, *args, device=None):
        if len(args) == 1 and not isinstance(args[0], int):
            return wrap(array_of(args[0], cls.dtype))
        return wrap(xp.zeros(args or (0,), cls.dtype.np))

    def __instancecheck__(cls, thing):
        return isinstance(thing, Tensor) and thing.dtype is cls.dtype and thing.is_cpu


def _legacy(name, dtype):
    text = f"A {dtype} tensor of the given sizes, or of the given data."
    public(name, _OlderType(name, (), {"dtype": dtype, "__module__": "gradviz", "__doc__": text}))


for _d in ("float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
    _legacy(dtypes.PUBLIC[_d].type_name, dtypes.PUBLIC[_d])


public("layout", layout)
public("memory_format", memory_format)
public("newaxis", None)


class _Settings:
    threads = 1


def set_num_threads(n):
    """Accepted and remembered; NumPy's own libraries decide how many threads compute."""
    if not isinstance(n, int) or n < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _Settings.threads = n


def set_default_device(device):
    """The device of new tensors; RuntimeError where it is not there."""
    default.set(CPU if device is None else Device(device))


public("set_num_threads", set_num_threads)
public("get_num_threads", lambda: _Settings.threads)
public("set_default_device", set_default_device)
public("get_default_device", lambda: default.device if default.like is None else of(default.like))
public("is_anomaly_enabled", lambda: local.anomaly)
public("is_anomaly_check_nan_enabled", lambda: local.anomaly_nan)


def range_(
    start, end=None, step=1, *, dtype=None, device=None, requires_grad=False, layout=None, out=None
):
    """Numbers from ``start`` to ``end``, both ends included."""
    warn_once(
        "torch.range is deprecated and will be removed in a future release because its behavior is "
        "inconsistent with Python's range builtin. Instead, use torch.arange, which produces "
        "values in [start, end)."
    )
    start, end = (0, start) if end is None else (start, end)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    dtype = dtype or dtypes.default.float
    check_range("range", dtype)
    n = math.floor((end - start) / step) + 1
    if dtype.category == 1:
        start, step = int(start), int(step)
        n = (int(end) - start) // step + 1
    values = start + xp.arange(n, like=like_of(device)) * step
    return mark(wrap(values.astype(dtype.np)), requires_grad)


def empty_permuted(
    size,
    physical_layout,
    *,
    dtype=None,
    device=None,
    requires_grad=False,
    layout=None,
    pin_memory=False,
):
    """An uninitialised tensor whose dimensions lie in memory in the given order."""
    kind = (dtype or dtypes.default.float).np
    base = xp.zeros([size[d] for d in physical_layout], kind, like=like_of(device))
    return mark(
        wrap(base.transpose([list(physical_layout).index(d) for d in range(len(size))])),
        requires_grad,
    )


for _n, _f in [
    ("range", range_),
    ("empty_permuted", empty_permuted),
]:
    public(_n, _f)
for _n in ("is_conj", "is_neg", "is_inference", "is_signed", "detach", "detach_", "zero_", "fill_"):
    public(_n, lambda input, *args, _n=_n: getattr(tensor_argument(_n, input), _n)(*args))
public("get_device", lambda input: input.get_device())
only_method(lambda self: -1 if self.device.type == "cpu" else self.device.index, "get_device")
only_method(lambda self, *, dtype=None, masked_grad=None: self, "to_dense")
only_method(lambda self, *size: self.view(*size), "resize")
only_method(
    lambda self, size, stride, dtype=None, device=None, requires_grad=False, layout=None: wrap(
        as_strided(
            xp.zeros(
                1 + sum((n - 1) * s for n, s in zip(size, stride, strict=True)),
                (dtype or self.dtype).np,
                like=self._a if device is None else like_of(device),
            ),
            size,
            [s * (dtype or self.dtype).itemsize for s in stride],
        )
    ),
    "new_empty_strided",
)


def _as_subclass(self, cls):
    """A view of class ``cls``; TypeError unless that inherits from ``Tensor``."""
    if not isinstance(cls, type):
        raise TypeError(f"cls must be a type (got {type(cls).__name__})")
    if not issubclass(cls, Tensor):
        raise TypeError(
            "Creating a Tensor subclass from a class that does not inherit from Tensor is not "
            "possible. Make sure your class inherits from Tensor."
        )
    made = alias_op(self)
    made.__class__ = cls
    return made


only_method(_as_subclass, "as_subclass")


Tensor.__reversed__ = lambda self: self.flip(0) if self._a.ndim else self
