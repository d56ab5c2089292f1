"""``autocast``: matrix products and convolutions in a shorter dtype, losses in float32."""

from __future__ import annotations

import functools
import warnings

from ..backend import accelerator
from ..engine import dtypes
from ..engine.device import Device
from ..engine.dispatch import Tensor
from ..engine.modes import local, state
from ..ops.declare import public
from ..ops.lower import Autocast

_chosen = {"cpu": dtypes.bfloat16, "cuda": dtypes.float16}
_caching = {"on": True}


def is_autocast_available(device_type):
    """Whether ``autocast(device_type)`` is possible."""
    return device_type in _chosen


def get_autocast_dtype(device_type):
    """The dtype that ``autocast(device_type)`` uses unless told otherwise."""
    return _chosen[device_type]


def set_autocast_dtype(device_type, dtype):
    """Choose the dtype of later ``autocast`` blocks."""
    _chosen[device_type] = dtype


def is_autocast_enabled(device_type="cuda"):
    """Whether this thread is inside an ``autocast`` block for the device."""
    return local.autocast is not None and device_type in local.autocast


def set_autocast_enabled(device_type, enabled):
    """Switch autocast on or off for this thread."""
    was = local.autocast is not None
    local.autocast = _with(device_type, Autocast(_chosen[device_type], True) if enabled else None)
    state.special += bool(enabled) - was


def is_autocast_cache_enabled():
    """Whether blocks that do not say otherwise cast each weight once."""
    return _caching["on"]


def set_autocast_cache_enabled(enabled):
    """Choose it."""
    _caching["on"] = bool(enabled)


def clear_autocast_cache():
    """Forget the weights that were cast so far in the blocks of this thread."""
    for settings in (local.autocast or {}).values():
        if settings.cache is not None:
            settings.cache.clear()


def _with(device_type, settings):
    """What holds for all kinds of devices when ``settings`` (None: nothing) hold for this one."""
    kinds = {**(local.autocast or {}), device_type: settings}
    return {k: v for k, v in kinds.items() if v is not None} or None


class autocast:
    """Inside the block (or decorated function) products of float32 tensors are computed in
    ``dtype``."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{Device(device_type).type}'"
            )
        self.device = device_type
        self.fast_dtype = _chosen[device_type] if dtype is None else dtype
        self._cache_enabled = _caching["on"] if cache_enabled is None else cache_enabled
        if device_type == "cuda" and enabled and accelerator.gpu() is None:
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2
            )
            enabled = False
        elif enabled and self.fast_dtype not in (dtypes.bfloat16, dtypes.float16):
            warnings.warn(
                f"In {device_type.upper()} autocast, but the target dtype is not supported. "
                "Disabling autocast.\n"
                f"{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, "
                "torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = enabled

    def __enter__(self):
        self._before = local.autocast
        wanted = Autocast(self.fast_dtype, self._cache_enabled) if self._enabled else None
        around = (self._before or {}).get(self.device)
        if wanted is not None and around is not None and around.dtype is wanted.dtype:
            wanted.cache = around.cache if self._cache_enabled else None
        local.autocast = _with(self.device, wanted)
        state.special += 1
        return self

    def __exit__(self, *_):
        local.autocast = self._before
        state.special -= 1
        return False

    def __call__(self, func):
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you "
                "mean to use autocast as a context "
                "manager? For example:\n    with torch.autocast(device_type=...):\n        output "
                "= model(input)"
            )

        @functools.wraps(func)
        def wrapper(*args, **kwargs):
            with type(self)(self.device, self.fast_dtype, self._enabled, self._cache_enabled):
                return func(*args, **kwargs)

        return wrapper


def _cast_all(value, dtype):
    if isinstance(value, Tensor):
        return (
            value.to(dtype)
            if value.is_floating_point() and value.dtype is not dtypes.float64
            else value
        )
    if isinstance(value, dict):
        return {k: _cast_all(v, dtype) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_cast_all(v, dtype) for v in value)
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """For ``forward`` of a Function: run it under the autocast that holds, or outside it with cast
    inputs."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(*args, **kwargs):
        context = args[0]
        context._dtype = get_autocast_dtype(device_type)
        inside = is_autocast_enabled(device_type)
        if cast_inputs is None or not inside:
            context._fwd_used_autocast = inside
            return fwd(*args, **kwargs)
        context._fwd_used_autocast = False
        with autocast(device_type, enabled=False):
            return fwd(*_cast_all(args, cast_inputs), **_cast_all(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd=None, *, device_type):
    """For ``backward`` of a Function: run it under the autocast that ``forward`` ran under."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(*args, **kwargs):
        context = args[0]
        with autocast(device_type, enabled=context._fwd_used_autocast, dtype=context._dtype):
            return bwd(*args, **kwargs)

    return decorated


for _f in (
    is_autocast_available,
    is_autocast_enabled,
    get_autocast_dtype,
    set_autocast_dtype,
    set_autocast_enabled,
    is_autocast_cache_enabled,
    set_autocast_cache_enabled,
    clear_autocast_cache,
):
    public(_f.__name__, _f)
for _device, _word in (("cpu", "cpu"), ("cuda", "gpu")):
    public(f"get_autocast_{_word}_dtype", functools.partial(get_autocast_dtype, _device))
    public(f"set_autocast_{_word}_dtype", functools.partial(set_autocast_dtype, _device))
public("is_autocast_cpu_enabled", functools.partial(is_autocast_enabled, "cpu"))
public("set_autocast_cpu_enabled", functools.partial(set_autocast_enabled, "cpu"))
