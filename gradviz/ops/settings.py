"""Switches of the library: accepted and remembered, so that programs that set them run. All of
gradviz's operations are deterministic and computed in full precision whatever they say.
"""

from __future__ import annotations

import importlib
import warnings

from ..engine import dtypes
from ..engine.errors import Warnings, warn_once
from .declare import public

_MODES = ("default", "warn", "error")
_PRECISIONS = ("highest", "high", "medium")
_FLOATING = {"HalfTensor": "float16", "FloatTensor": "float32", "DoubleTensor": "float64"}
_FLOATING["BFloat16Tensor"] = "bfloat16"


class _Switches:
    deterministic = 0  # an index of _MODES
    precision = "highest"
    interop_threads = 1


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Remember whether only deterministic algorithms are wanted."""
    if not isinstance(mode, bool):
        raise TypeError(
            "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not "
            f"{type(mode).__name__}"
        )
    _Switches.deterministic = (1 if warn_only else 2) if mode else 0


def set_deterministic_debug_mode(debug_mode):
    """``"default"`` or 0, ``"warn"`` or 1, ``"error"`` or 2."""
    if not isinstance(debug_mode, str | int):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                f"{debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in range(len(_MODES)):
        raise RuntimeError(
            f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}"
        )
    _Switches.deterministic = int(debug_mode)


def set_float32_matmul_precision(precision):
    """``"highest"``, ``"high"`` or ``"medium"``; products of float32 are computed in float32."""
    if precision not in _PRECISIONS:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
            "setFloat32MatmulPrecision call has no effect.",
            UserWarning,
            stacklevel=2,
        )
    else:
        _Switches.precision = precision


def set_warn_always(b):
    """Whether warnings that are given once are given each time."""
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    Warnings.always = b


def set_num_interop_threads(n):
    """Accepted and remembered."""
    if not isinstance(n, int) or n < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _Switches.interop_threads = n


def set_flush_denormal(mode):
    """Always False: NumPy has no such mode."""
    if not isinstance(mode, bool):
        raise RuntimeError(f"flush_denormal expects a bool, but got {type(mode).__name__}")
    return False


_TENSOR_TYPES = (
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use "
    "torch.set_default_dtype() and torch.set_default_device() as alternatives."
)


def set_default_tensor_type(t):
    """Make the dtype of an older tensor type (``"torch.DoubleTensor"``) the default of floats."""
    warn_once(_TENSOR_TYPES)
    name = t if isinstance(t, str) else getattr(t, "__name__", "")
    dtype = _FLOATING.get(name.rpartition(".")[2])
    if dtype is None:
        older = isinstance(t, str) and name.endswith("Tensor")
        raise TypeError(
            ("" if older else "invalid type object: ")
            + "only floating-point types are supported as the default type"
        )
    dtypes.set_default_dtype(dtypes.PUBLIC[dtype])


def get_device_module(device=None):
    """``gradviz.cuda`` or ``gradviz.cpu``."""
    kind = "cpu" if device is None else str(getattr(device, "type", device)).partition(":")[0]
    return importlib.import_module(f"gradviz.{kind}")


def compile(model=None, **options):
    """``model`` itself, or a decorator that gives it back: there is no compiler, and the graph
    stays visible.
    """
    if model is None:
        return lambda model: compile(model, **options)
    assert callable(model), f"A callable function is expected, but {type(model)} is provided."
    return model


for _f in (
    use_deterministic_algorithms,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_warn_always,
    set_num_interop_threads,
    set_flush_denormal,
    set_default_tensor_type,
    get_device_module,
    compile,
):
    public(_f.__name__, _f)
public("are_deterministic_algorithms_enabled", lambda: _Switches.deterministic > 0)
public("is_deterministic_algorithms_warn_only_enabled", lambda: _Switches.deterministic == 1)
public("get_deterministic_debug_mode", lambda: _Switches.deterministic)
public("get_float32_matmul_precision", lambda: _Switches.precision)
public("is_warn_always_enabled", lambda: Warnings.always)
public("get_num_interop_threads", lambda: _Switches.interop_threads)
