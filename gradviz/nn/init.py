"""Starting values of parameters, drawn as PyTorch draws them. All work in place under ``no_grad``
and return the tensor."""

from __future__ import annotations

import math
import warnings

from ..backend import xp
from ..engine.dispatch import wrap
from ..engine.modes import no_grad
from ..ops.declare import FUNCTIONS
from ..ops.random import normal_array, stream_of, uniform_array

_LINEAR = frozenset(
    (
        "linear",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "sigmoid",
    )
)


def calculate_gain(nonlinearity, param=None):
    """The factor by which a nonlinearity shrinks what passes it."""
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "selu":
        return 3.0 / 4
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif not isinstance(param, bool) and isinstance(param, (int, float)):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def uniform_(tensor, a=0.0, b=1.0, generator=None):
    """Numbers uniform in [a, b)."""
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def normal_(tensor, mean=0.0, std=1.0, generator=None):
    """Numbers from the normal distribution."""
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def trunc_normal_(tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None):
    """Normal numbers, cut to [a, b]."""
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of "
            "values may be incorrect.",
            stacklevel=2,
        )
    if tensor.is_meta:
        return tensor
    with no_grad():
        inside = _normal_below((b - mean) / std) - _normal_below((a - mean) / std)
        draw = _redrawn_normal if inside > 0.3 else _accepted_uniform
        return tensor.copy_(wrap(draw(tensor._a, mean, std, a, b, stream_of(generator, tensor._a))))


def _normal_below(x):
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


def _redrawn_normal(array, mean, std, a, b, generator):
    """Normal numbers, those outside drawn again."""
    kind = array.dtype.type
    out = normal_array(array.size, array.dtype, generator, mean, std).reshape(array.shape)
    while (outside := (out < kind(a)) | (out > kind(b))).any():
        fresh = normal_array(array.size, array.dtype, generator, mean, std).reshape(array.shape)
        out = xp.where(outside, fresh, out)
    return out


def _accepted_uniform(array, mean, std, a, b, generator):
    """Uniform numbers, each accepted with the probability that the normal density gives it."""
    peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
    out, pending = xp.zeros(array.shape, array.dtype), xp.ones(array.shape, bool)
    while pending.any():
        drawn = uniform_array(array.size, array.dtype, generator, a, b).reshape(array.shape)
        out = xp.where(pending, drawn, out)
        density = -0.5 * ((drawn - mean) / std) ** 2 - peak
        chance = uniform_array(array.size, array.dtype, generator).reshape(array.shape)
        with xp.errstate(divide="ignore"):
            pending = pending & (xp.log(chance) > density)
    return out


def constant_(tensor, val):
    """One value everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor):
    """Ones."""
    return constant_(tensor, 1.0)


def zeros_(tensor):
    """Zeros."""
    return constant_(tensor, 0.0)


def eye_(tensor):
    """The identity matrix."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        return tensor.copy_(FUNCTIONS["eye"](*tensor.shape, dtype=tensor.dtype))


def dirac_(tensor, groups=1):
    """A convolution that passes its input on, as far as channels allow."""
    if tensor.ndimension() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    sizes = tensor.size()
    if sizes[0] % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    per = sizes[0] // groups
    values = xp.zeros(sizes, tensor._a.dtype, like=tensor._a)
    middle = tuple(n // 2 for n in sizes[2:])
    for g in range(groups):
        for d in range(min(per, sizes[1])):
            values[(g * per + d, d, *middle)] = 1
    return _copy(tensor, values)


def _copy(tensor, values):
    with no_grad():
        return tensor.copy_(wrap(values))


def _calculate_fan_in_and_fan_out(tensor):
    if tensor.dim() < 2:
        raise ValueError(
            "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"
        )
    field = math.prod(tensor.shape[2:])
    return tensor.size(1) * field, tensor.size(0) * field


def _calculate_correct_fan(tensor, mode):
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of {['fan_in', 'fan_out']}")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor, gain=1.0, generator=None):
    """Uniform with variance ``2 · gain² / (fan_in + fan_out)``."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    bound = math.sqrt(3.0) * (gain * math.sqrt(2.0 / float(fan_in + fan_out)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor, gain=1.0, generator=None):
    """Normal with variance ``2 · gain² / (fan_in + fan_out)``."""
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return normal_(tensor, 0.0, gain * math.sqrt(2.0 / float(fan_in + fan_out)), generator)


def _is_empty(tensor):
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return True
    return False


def kaiming_uniform_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Uniform with variance ``gain² / fan``."""
    if _is_empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    bound = math.sqrt(3.0) * std
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor, a=0, mode="fan_in", nonlinearity="leaky_relu", generator=None):
    """Normal with variance ``gain² / fan``."""
    if _is_empty(tensor):
        return tensor
    std = calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))
    return normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor, gain=1, generator=None):
    """A matrix with orthonormal rows or columns, times ``gain``."""
    if tensor.ndimension() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.size(0)
    columns = tensor.numel() // rows
    drawn = tensor.new_empty((rows, columns))
    drawn.normal_(0, 1, generator=generator)
    flat = drawn._a.T if rows < columns else drawn._a
    q, r = xp.linalg.qr(flat)
    q = q * xp.sign(xp.diag(r))
    return _copy(tensor, (q.T if rows < columns else q).reshape(tensor.shape) * q.dtype.type(gain))


def sparse_(tensor, sparsity, std=0.01, generator=None):
    """Normal numbers with the fraction ``sparsity`` of each column zero."""
    if tensor.ndimension() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            chosen = FUNCTIONS["randperm"](rows)._a[:zeros]
            tensor._a[chosen, column] = 0
    return tensor


def _deprecated(function):
    name = function.__name__

    def old(*args, **kwargs):
        warnings.warn(
            f"`nn.init.{name[:-1]}` is now deprecated in favor of `nn.init.{name}`.",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    old.__name__ = name[:-1]
    old.__doc__ = f"The old name of ``{name}``."
    return old


for _f in (
    uniform_,
    normal_,
    constant_,
    eye_,
    dirac_,
    xavier_uniform_,
    xavier_normal_,
    kaiming_uniform_,
    kaiming_normal_,
    orthogonal_,
    sparse_,
):
    globals()[_f.__name__[:-1]] = _deprecated(_f)
