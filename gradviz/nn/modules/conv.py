"""Convolutions as modules."""

from __future__ import annotations

import math

from ...ops.declare import FUNCTIONS
from .. import functional as F
from .. import init
from ..functional.conv import spread
from ..parameter import Parameter, UninitializedParameter
from .lazy import LazyMixin
from .module import Module

empty = FUNCTIONS["empty"]


class _ConvNd(Module):
    dims = 2
    transposed = False
    function = None

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride,
        padding,
        output_padding,
        groups,
        bias,
        dilation,
        padding_mode,
        device,
        dtype,
    ):
        super().__init__()
        _check(in_channels, out_channels, groups, padding, stride, padding_mode, self.dims)
        n = self.dims
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size, self.stride, self.dilation = (
            spread(kernel_size, n),
            spread(stride, n),
            spread(dilation, n),
        )
        self.padding = padding if isinstance(padding, str) else spread(padding, n)
        self.output_padding, self.groups, self.padding_mode = (
            spread(output_padding, n),
            groups,
            padding_mode,
        )
        self._reversed_padding_repeated_twice = self._both_sides()
        first, second = (
            (in_channels, out_channels) if self.transposed else (out_channels, in_channels)
        )
        self.weight = Parameter(
            empty(first, second // groups, *self.kernel_size, device=device, dtype=dtype)
        )
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def _both_sides(self):
        if not isinstance(self.padding, str):
            return [side for p in reversed(self.padding) for side in (p, p)]
        out = [0, 0] * self.dims
        if self.padding == "same":
            for k, (d, size) in enumerate(
                zip(reversed(self.dilation), reversed(self.kernel_size), strict=True)
            ):
                total = d * (size - 1)
                out[2 * k], out[2 * k + 1] = total // 2, total - total // 2
        return out

    def reset_parameters(self):
        """Draw new values."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def _conv_forward(self, input, weight, bias):
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = 0
        return type(self).function(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )

    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def extra_repr(self):
        out = (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )
        zero, one = (0,) * self.dims, (1,) * self.dims
        for name, value, plain in (
            ("padding", self.padding, zero),
            ("dilation", self.dilation, one),
            ("output_padding", self.output_padding, zero),
            ("groups", self.groups, 1),
        ):
            if value != plain:
                out += f", {name}={value}"
        if self.bias is None:
            out += ", bias=False"
        return out if self.padding_mode == "zeros" else f"{out}, padding_mode={self.padding_mode}"


def _check(in_channels, out_channels, groups, padding, stride, padding_mode, n):
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    if in_channels % groups != 0:
        raise ValueError("in_channels must be divisible by groups")
    if out_channels % groups != 0:
        raise ValueError("out_channels must be divisible by groups")
    if isinstance(padding, str):
        if padding not in ("same", "valid"):
            raise ValueError(
                f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}"
            )
        if padding == "same" and any(s != 1 for s in spread(stride, n)):
            raise ValueError("padding='same' is not supported for strided convolutions")
    modes = ("zeros", "reflect", "replicate", "circular")
    if padding_mode not in modes:
        raise ValueError(
            f"padding_mode must be one of {set(modes)}, but got padding_mode='{padding_mode}'"
        )


class _Conv(_ConvNd):
    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        dilation=1,
        groups=1,
        bias=True,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            0,
            groups,
            bias,
            dilation,
            padding_mode,
            device,
            dtype,
        )


class Conv1d(_Conv):
    """Convolution of (N, C, L)."""

    dims, function = 1, staticmethod(F.conv1d)


class Conv2d(_Conv):
    """Convolution of (N, C, H, W)."""

    dims, function = 2, staticmethod(F.conv2d)


class Conv3d(_Conv):
    """Convolution of (N, C, D, H, W)."""

    dims, function = 3, staticmethod(F.conv3d)


class _ConvTransposeNd(_ConvNd):
    transposed = True

    def __init__(
        self,
        in_channels,
        out_channels,
        kernel_size,
        stride=1,
        padding=0,
        output_padding=0,
        groups=1,
        bias=True,
        dilation=1,
        padding_mode="zeros",
        device=None,
        dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        super().__init__(
            in_channels,
            out_channels,
            kernel_size,
            stride,
            padding,
            output_padding,
            groups,
            bias,
            dilation,
            padding_mode,
            device,
            dtype,
        )

    def forward(self, input, output_size=None):
        extra = (
            self.output_padding if output_size is None else self._output_padding(input, output_size)
        )
        return type(self).function(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            extra,
            self.groups,
            self.dilation,
        )

    def _output_padding(self, input, output_size):
        n = self.dims
        output_size = list(output_size)[-n:]
        out = []
        for k in range(n):
            size = input.size(k + input.dim() - n)
            least = (
                (size - 1) * self.stride[k]
                - 2 * self.padding[k]
                + self.dilation[k] * (self.kernel_size[k] - 1)
                + 1
            )
            if not least <= output_size[k] <= least + self.stride[k] - 1:
                raise ValueError(
                    f"requested an output size of {output_size}, but valid sizes range from "
                    f"{least} to "
                    f"{least + self.stride[k] - 1} (for an input of {input.size()[2:]})"
                )
            out.append(output_size[k] - least)
        return tuple(out)


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of (N, C, L)."""

    dims, function = 1, staticmethod(F.conv_transpose1d)


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of (N, C, H, W)."""

    dims, function = 2, staticmethod(F.conv_transpose2d)


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of (N, C, D, H, W)."""

    dims, function = 3, staticmethod(F.conv_transpose3d)


class _LazyConv(LazyMixin):
    """Learns ``in_channels`` from its first input."""

    def __init__(
        self, out_channels, kernel_size, *args, bias=True, device=None, dtype=None, **kwargs
    ):
        super().__init__(0, 0, kernel_size, *args, bias=False, device=device, dtype=dtype, **kwargs)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args):
        """Take the shape from ``input``."""
        if not self.has_uninitialized_params():
            return
        if input.dim() not in (self.dims + 1, self.dims + 2):
            raise RuntimeError(
                f"Expected {self.dims + 1}D (unbatched) or {self.dims + 2}D (batched) input to "
                f"{type(self).__name__}, but got input "
                f"of size: {input.shape}"
            )
        self.in_channels = input.shape[-self.dims - 1]
        first, second = (
            (self.in_channels, self.out_channels)
            if self.transposed
            else (self.out_channels, self.in_channels)
        )
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


def _lazy(cls):
    return type(
        f"Lazy{cls.__name__}",
        (_LazyConv, cls),
        {
            "cls_to_become": cls,
            "__module__": __name__,
            "__doc__": f"``{cls.__name__}`` that learns its input channels from its first input.",
        },
    )


LazyConv1d, LazyConv2d, LazyConv3d = _lazy(Conv1d), _lazy(Conv2d), _lazy(Conv3d)
LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d = map(
    _lazy, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
)


class Unfold(Module):
    """Patches of images as columns."""

    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.kernel_size, self.dilation, self.padding, self.stride = (
            kernel_size,
            dilation,
            padding,
            stride,
        )

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Module):
    """Columns summed back into images."""

    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def forward(self, input):
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self):
        return (
            f"output_size={self.output_size}, kernel_size={self.kernel_size}, "
            f"dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )
