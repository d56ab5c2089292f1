"""Normalisation layers."""

from __future__ import annotations

import math

from ...backend import xp
from ...engine.dtypes import float32, scalar_name
from ...engine.operation import TENSOR
from ...ops import norm as table
from ...ops.casting import is_half
from ...ops.declare import public
from ...ops.info import finfo
from .loss import not_differentiable


def _sizes(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def _check_kinds(input, *others):
    """One dtype for all; a half-precision input may have float32 parameters."""
    mixed = input._a.dtype.itemsize == 2
    for x in others:
        if (
            x is not None
            and x._a.dtype != input._a.dtype
            and not (mixed and x._a.dtype == xp.float32)
        ):
            raise RuntimeError("mixed dtype (CPU): all inputs must share same datatype.")


def _check_spread(size):
    count = size[0] * math.prod(size[2:])
    if count == 1:
        raise ValueError(
            f"Expected more than 1 value per channel when training, got input size {size}"
        )


def batch_norm(
    input,
    running_mean,
    running_var,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-05,
):
    """Normalise every channel of (N, C, …) over the batch in training, by the running statistics
    otherwise.

    In training the running statistics move towards those of the batch, by ``momentum``.
    """
    if training:
        _check_spread(input.size())
    channels = input.shape[1] if input.dim() > 1 else 0
    for name, x in (
        ("running_mean", running_mean),
        ("running_var", running_var),
        ("weight", weight),
        ("bias", bias),
    ):
        if x is not None and x.numel() != channels:
            raise RuntimeError(f"{name} should contain {channels} elements not {x.numel()}")
    if not training and (running_mean is None or running_var is None):
        missing = "running_mean" if running_mean is None else "running_var"
        raise RuntimeError(f"{missing} must be defined in evaluation mode")
    not_differentiable("native_batch_norm", running_mean=running_mean, running_var=running_var)
    _check_kinds(input, weight, bias)
    if not training:
        running = running_mean._a, running_var._a
        still = running_mean._a.copy(), running_var._a.copy()
        return table.batch_norm(input, weight, bias, *still, eps, False, *running)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var must either both be None or neither be None")
    mean, variance = table.batch_statistics(input._a)
    if running_mean is not None:
        _move(running_mean, mean, momentum)
        count = input.numel() // channels
        _move(running_var, variance * (count / (count - 1)), momentum)
    running = (None if x is None else x._a for x in (running_mean, running_var))
    return table.batch_norm(input, weight, bias, mean, variance, eps, True, *running)


def _move(running, now, momentum):
    array = running._a
    array *= array.dtype.type(1 - momentum)
    array += (now * momentum).astype(array.dtype)


def instance_norm(
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-05,
):
    """Normalise every channel of every sample of (N, C, …)."""
    if use_input_stats:
        if math.prod(input.shape[2:]) == 1:
            raise ValueError(
                f"Expected more than 1 spatial element when training, got input size {input.size()}"
            )
    elif running_mean is None or running_var is None:
        raise RuntimeError(
            "Expected running_mean and running_var to be defined when use_input_stats is false"
        )
    n, c = input.shape[:2]
    if weight is not None:
        weight = weight.repeat(n)
    if bias is not None:
        bias = bias.repeat(n)
    mean, variance = (None if x is None else x.repeat(n) for x in (running_mean, running_var))
    merged = input.contiguous().view(1, n * c, *input.shape[2:])
    out = batch_norm(merged, mean, variance, weight, bias, use_input_stats, momentum, eps)
    for own, moved in ((running_mean, mean), (running_var, variance)):
        if own is not None and use_input_stats:
            own._a[...] = moved._a.reshape(n, c).mean(0)
    return out.view(input.shape)


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05):
    """Normalise over the last dimensions, which are ``normalized_shape``."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least "
            "one element, but got "
            "normalized_shape = []"
        )
    for name, x in (("weight", weight), ("bias", bias)):
        if x is not None and tuple(x.shape) != shape:
            raise RuntimeError(
                f"Expected {name} to be of same shape as normalized_shape, but got {name} of "
                f"shape {_sizes(x.shape)} and "
                f"normalized_shape = {_sizes(shape)}"
            )
    if tuple(input.shape[input.dim() - len(shape) :]) != shape or input.dim() < len(shape):
        wanted = ", ".join(map(str, ("*", *shape)))
        raise RuntimeError(
            f"Given normalized_shape={_sizes(shape)}, expected input with shape [{wanted}], but "
            "got input of "
            f"size{_sizes(input.shape)}"
        )
    _check_kinds(input, weight, bias)
    return table.layer_norm(input, weight, bias, len(shape), eps, [])


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05):
    """Normalise groups of channels of (N, C, …), sample by sample."""
    if input.dim() < 2:
        raise RuntimeError(
            f"Expected at least 2 dimensions for input tensor but received {input.dim()}"
        )
    channels = input.shape[1]
    if channels % num_groups:
        raise RuntimeError(
            "Expected number of channels in input to be divisible by num_groups, but got input "
            f"of shape {_sizes(input.shape)} and "
            f"num_groups={num_groups}"
        )
    for name, one in (("weight", weight), ("bias", bias)):
        if one is not None and tuple(one.shape) != (channels,):
            raise RuntimeError(
                f"Expected {name} to be a vector of size equal to the number of channels in input, "
                f"but got {name} of shape {_sizes(one.shape)} and input of shape "
                f"{_sizes(input.shape)}"
            )
    _check_spread((input.shape[0] * channels // num_groups, num_groups, *input.shape[2:]))
    _check_kinds(input, weight, bias)
    return table.group_norm(input, weight, bias, num_groups, eps, [])


def rms_norm(input, normalized_shape, weight=None, eps=None):
    """Divide by the root of the mean square over the last dimensions."""
    shape = tuple(normalized_shape)
    if not shape:
        raise RuntimeError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one "
            "element, but got normalized_shape = []"
        )
    if weight is not None and tuple(weight.shape) != shape:
        raise RuntimeError(
            "Expected weight to be of same shape as normalized_shape, but got weight of shape "
            f"{_sizes(weight.shape)} and normalized_shape = {_sizes(shape)}"
        )
    if input.dim() < len(shape):
        raise ValueError(
            f"Input tensor must have at least {len(shape)} dimensions, but got {input.dim()}"
        )
    if input.dtype.category < 2:
        raise NotImplementedError(f"\"rms_norm\" not implemented for '{scalar_name(input.dtype)}'")
    if tuple(input.shape[input.dim() - len(shape) :]) != shape:
        wanted = "*" + ", ".join(map(str, shape))
        raise RuntimeError(
            f"Given normalized_shape={_sizes(shape)}, expected input with shape [{wanted}], but "
            "got input of "
            f"size{_sizes(input.shape)}"
        )
    dims = list(range(input.dim() - len(shape), input.dim()))
    half = is_half(input._a.dtype)
    wide = TENSOR.cast(input, float32.np) if half else input
    eps = finfo(wide.dtype).eps if eps is None else eps
    out = wide * TENSOR.add_number(wide.pow(2).mean(dims, keepdim=True), eps).rsqrt()
    if weight is not None:
        out = out * weight
    return TENSOR.cast(out, input._a.dtype) if half else out


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """Divide by a power of the mean square of neighbouring channels."""
    from .pad import pad
    from .pooling import avg_pool2d, avg_pool3d

    if input.dim() < 3:
        raise ValueError(
            f"Expected 3D or higher dimensionality input (got {input.dim()} dimensions)"
        )
    if input.numel() == 0:
        return input
    square = input.mul(input)
    if input.dim() == 3:
        mean = avg_pool2d(
            pad(square.unsqueeze(1), (0, 0, size // 2, (size - 1) // 2)), (size, 1), stride=1
        ).squeeze(1)
    else:
        shape = input.size()
        square = square.view(shape[0], 1, shape[1], shape[2], -1)
        square = pad(square, (0, 0, 0, 0, size // 2, (size - 1) // 2))
        mean = avg_pool3d(square, (size, 1, 1), stride=1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


def _public_layer_norm(
    input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True
):
    return layer_norm(input, normalized_shape, weight, bias, eps)


def _public_batch_norm(
    input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
):
    return batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)


def _public_instance_norm(
    input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
):
    return instance_norm(
        input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps
    )


public("layer_norm", _public_layer_norm)
public("batch_norm", _public_batch_norm)
public("instance_norm", _public_instance_norm)
public("group_norm", group_norm)
public("rms_norm", rms_norm)
