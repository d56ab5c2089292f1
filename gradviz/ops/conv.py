"""Convolutions in one, two and three dimensions, and the two products that are their derivatives.

All three maps (output, gradient of the input, gradient of the weight) go over the same columns: the
input is padded and laid
out channel first, a block of images at a time, and one column row holds what one tap of the kernel
sees. With stride 1 a tap
is a shift of the flat image, so a row is one long copy; the places where a row runs over the edge
are dropped afterwards.
"""

from __future__ import annotations

import itertools
import math

from ..backend import xp, zeros_by
from ..engine.saved_names import kept
from .declare import declare

BLOCK = (
    1 << 18
)  # elements of columns at once: they stay in cache between the copies and the product


class Geometry:
    """Where the taps of a kernel lie in a padded image."""

    def __init__(self, image, kernel, stride, padding, dilation):
        self.image, self.stride, self.padding = image, stride, padding
        self.padded = tuple(n + 2 * p for n, p in zip(image, padding, strict=True))
        self.out = tuple(
            (n - d * (k - 1) - 1) // s + 1
            for n, k, s, d in zip(self.padded, kernel, stride, dilation, strict=True)
        )
        self.taps = [
            tuple(i * d for i, d in zip(tap, dilation, strict=True))
            for tap in itertools.product(*(range(k) for k in kernel))
        ]
        self.flat = all(s == 1 for s in stride)
        self.inside = tuple(slice(p, p + n) for p, n in zip(padding, image, strict=True))
        self.area, self.area_out = math.prod(self.padded), math.prod(self.out)
        self.offsets = [self._offset(tap) for tap in self.taps]

    def _offset(self, tap):
        """Distance of a tap from the first one in the flat padded image."""
        found = 0
        for i, n in zip(tap, self.padded, strict=True):
            found = found * n + i
        return found

    def window(self, tap):
        """What a tap sees of a padded image, one slice a dimension."""
        return tuple(
            slice(i, i + s * (n - 1) + 1, s)
            for i, s, n in zip(tap, self.stride, self.out, strict=True)
        )

    def images_at_once(self, channels):
        """How many images make a block."""
        return max(
            1,
            BLOCK
            // max(1, channels * len(self.taps) * (self.area if self.flat else self.area_out)),
        )

    def width(self, count):
        """Columns of a block of ``count`` images."""
        return count * (self.area if self.flat else self.area_out)

    # ------------------------------------------------------------ images to columns and back
    def pad(self, x, room):
        """Images (n, c, …) padded and channel first, (c, n·area + spare)."""
        n, c = x.shape[:2]
        spare = self.offsets[-1] if self.flat else 0
        flat = room.get("pad", (c, n * self.area + spare), x.dtype)
        if spare or any(self.padding):
            flat[...] = 0
        whole = flat[:, : n * self.area].reshape(c, n, *self.padded)
        whole[(slice(None), slice(None), *self.inside)] = x.swapaxes(0, 1)
        return flat

    def columns(self, x, room):
        """(c · taps, width): row (c, t) is what tap t sees of channel c."""
        n, c = x.shape[:2]
        flat, width = self.pad(x, room), self.width(n)
        out = room.get("columns", (c, len(self.taps), width), x.dtype)
        whole = flat[:, : n * self.area].reshape(c, n, *self.padded)
        for t, tap in enumerate(self.taps):
            if self.flat:
                start = self.offsets[t]
                out[:, t] = flat[:, start : start + width]
            else:
                out[:, t].reshape(c, n, *self.out)[...] = whole[
                    (slice(None), slice(None), *self.window(tap))
                ]
        return out.reshape(c * len(self.taps), width)

    def uncolumns(self, columns, count, channels):
        """The sum of what every tap gives back to the images, (n, c, …); the other way round of
        ``columns``."""
        spare = self.offsets[-1] if self.flat else 0
        flat = xp.zeros((channels, count * self.area + spare), columns.dtype, like=columns)
        whole = flat[:, : count * self.area].reshape(channels, count, *self.padded)
        rows = columns.reshape(channels, len(self.taps), -1)
        for t, tap in enumerate(self.taps):
            if self.flat:
                start = self.offsets[t]
                flat[:, start : start + rows.shape[2]] += rows[:, t]
            else:
                whole[(slice(None), slice(None), *self.window(tap))] += rows[:, t].reshape(
                    channels, count, *self.out
                )
        return whole[(slice(None), slice(None), *self.inside)].swapaxes(0, 1)

    def narrow(self, wide, count):
        """Rows of width ``width`` to outputs (n, o, …)."""
        if not self.flat:
            return wide.reshape(-1, count, *self.out).swapaxes(0, 1)
        whole = wide.reshape(-1, count, *self.padded)
        return whole[(slice(None), slice(None), *(slice(0, n) for n in self.out))].swapaxes(0, 1)

    def widen(self, g, room):
        """Outputs (n, o, …) to rows of width ``width``, zero where a row runs over the edge."""
        n, o = g.shape[:2]
        if not self.flat:
            out = room.get("wide", (o, n, *self.out), g.dtype)
            out[...] = g.swapaxes(0, 1)
            return out.reshape(o, -1)
        out = room.get("wide", (o, n, *self.padded), g.dtype)
        out[...] = 0
        out[(slice(None), slice(None), *(slice(0, k) for k in self.out))] = g.swapaxes(0, 1)
        return out.reshape(o, -1)


class Room:
    """Arrays reused from block to block."""

    def __init__(self, like):
        self._kept, self._like = {}, like

    def get(self, name, shape, dtype):
        """An array of ``shape``, its values undefined."""
        found = self._kept.get(name)
        if found is None or found.size < math.prod(shape):
            found = self._kept[name] = xp.empty(math.prod(shape), dtype, like=self._like)
        return found[: math.prod(shape)].reshape(shape)


def _working(x):
    """Half precision is computed in float32."""
    return x.astype(xp.float32) if x.dtype.itemsize == 2 else x


def _groups(count, *sizes):
    """One slice a size, for every group."""
    for k in range(count):
        yield tuple(slice(k * n // count, (k + 1) * n // count) for n in sizes)


def _blocks(total, at_once):
    for start in range(0, total, at_once):
        yield slice(start, min(start + at_once, total))


# ---------------------------------------------------------------- the three products
def conv_forward(x, weight, bias, stride, padding, dilation, groups):
    """(N, C, …), (O, C/groups, …) to (N, O, …)."""
    kind = x.dtype
    x, weight = _working(x), _working(weight)
    at = Geometry(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    out = xp.empty((x.shape[0], weight.shape[0], *at.out), x.dtype, like=x)
    room = Room(x)
    for channels, outputs in _groups(groups, x.shape[1], weight.shape[0]):
        kernel = weight[outputs].reshape(outputs.stop - outputs.start, -1)
        for rows in _blocks(x.shape[0], at.images_at_once(kernel.shape[1] // len(at.taps) or 1)):
            part = x[rows, channels]
            wide = room.get("product", (kernel.shape[0], at.width(len(part))), x.dtype)
            xp.dot(kernel, at.columns(part, room), out=wide)
            out[rows, outputs] = at.narrow(wide, len(part))
    if bias is not None:
        out += bias.reshape(-1, *[1] * len(at.out))
    return out if out.dtype == kind else out.astype(kind)


def conv_input_forward(g, weight, shape, stride, padding, dilation, groups):
    """The gradient of the input, of the given shape; as a map of its own: transposed
    convolution."""
    back = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True)]
    if (
        all(s == 1 for s in stride)
        and min(back) >= 0
        and 32 * groups <= shape[1]
        and weight.shape[0] <= 2 * shape[1]
    ):
        return conv_forward(g, _turned(weight, groups), None, stride, back, dilation, groups)
    kind = g.dtype
    g, weight = _working(g), _working(weight)
    at = Geometry(shape[2:], weight.shape[2:], stride, padding, dilation)
    out = xp.empty(shape, g.dtype, like=g)
    room = Room(g)
    for channels, outputs in _groups(groups, shape[1], weight.shape[0]):
        kernel = weight[outputs].reshape(outputs.stop - outputs.start, -1).T
        count = channels.stop - channels.start
        for rows in _blocks(shape[0], at.images_at_once(count)):
            wide = at.widen(g[rows, outputs], room)
            columns = room.get("product", (kernel.shape[0], wide.shape[1]), g.dtype)
            xp.dot(kernel, wide, out=columns)
            out[rows, channels] = at.uncolumns(columns, rows.stop - rows.start, count)
    return out if out.dtype == kind else out.astype(kind)


def _turned(weight, groups):
    """The kernel of the convolution that undoes a convolution of stride 1: flipped, inputs and
    outputs exchanged."""
    flipped = weight[(slice(None), slice(None), *[slice(None, None, -1)] * (weight.ndim - 2))]
    parts = [flipped[outputs].swapaxes(0, 1) for (outputs,) in _groups(groups, weight.shape[0])]
    return parts[0] if groups == 1 else xp.concatenate(parts)


def conv_weight_forward(x, g, shape, stride, padding, dilation, groups):
    """The gradient of the weight, of the given shape."""
    kind = g.dtype
    x, g = _working(x), _working(g)
    at = Geometry(x.shape[2:], shape[2:], stride, padding, dilation)
    out = zeros_by(g, shape)
    room = Room(x)
    for channels, outputs in _groups(groups, x.shape[1], shape[0]):
        rows_of = out[outputs].reshape(outputs.stop - outputs.start, -1)
        for rows in _blocks(x.shape[0], at.images_at_once(channels.stop - channels.start)):
            columns = at.columns(x[rows, channels], room)
            rows_of += xp.dot(columns, at.widen(g[rows, outputs], room).T).T
    return out if out.dtype == kind else out.astype(kind)


def _bias_grad(F, g):
    dims = (0, *range(2, g.ndim))
    return F.sum_dims(g, dims, False)


_ATTRS = "stride padding dilation groups"
_HIDDEN = ("self", "self_sym_sizes", "weight_sym_sizes")


def _shown(transposed):
    """PyTorch's names for what both convolutions save."""
    return {
        "input": kept("self"),
        "transposed": lambda node: transposed,
        "output_padding": lambda node: (0,) * len(node.at[transposed]),
        "bias_sym_sizes_opt": lambda node: (node.shape[1],) if node.e[2] is not None else (0,),
    }


convolution = declare(
    "convolution",
    conv_forward,
    "self weight bias",
    _ATTRS,
    formula="∂self: g ⋆ᵀ weight    ∂weight: self ⋆ g    ∂bias: Σ g",
    hidden=_HIDDEN,
    also=_shown(False),
    self=lambda F, g, weight, self_shape, stride, padding, dilation, groups: F.conv_input(
        g, F.conj(weight), self_shape, stride, padding, dilation, groups
    ),
    weight=lambda F, g, self, weight_shape, stride, padding, dilation, groups: F.conv_weight(
        F.conj(self), g, weight_shape, stride, padding, dilation, groups
    ),
    bias=_bias_grad,
)


def _transposed_forward(x, weight, bias, shape, stride, padding, dilation, groups):
    out = conv_input_forward(x, weight, shape, stride, padding, dilation, groups)
    if bias is not None:
        out += bias.reshape(-1, *[1] * (out.ndim - 2))
    return out


conv_transposed = declare(
    "conv_transposed",
    _transposed_forward,
    "self weight bias",
    f"shape {_ATTRS}",
    node="ConvolutionBackward0",
    formula="∂self: g ⋆ weight    ∂weight: g ⋆ self    ∂bias: Σ g",
    hidden=_HIDDEN,
    also=_shown(True),
    self=lambda F, g, weight, stride, padding, dilation, groups: F.convolution(
        g, F.conj(weight), None, stride, padding, dilation, groups
    ),
    weight=lambda F, g, self, weight_shape, stride, padding, dilation, groups: F.conv_weight(
        g, F.conj(self), weight_shape, stride, padding, dilation, groups
    ),
    bias=_bias_grad,
)
conv_input = declare(
    "conv_input",
    conv_input_forward,
    "self weight",
    f"shape {_ATTRS}",
    node="ConvolutionBackwardBackward0",
    formula="∂self: g ⋆ weight    ∂weight: g ⋆ self",
    self=lambda F, g, weight, stride, padding, dilation, groups: F.convolution(
        g, F.conj(weight), None, stride, padding, dilation, groups
    ),
    weight=lambda F, g, self, weight_shape, stride, padding, dilation, groups: F.conv_weight(
        g, F.conj(self), weight_shape, stride, padding, dilation, groups
    ),
)
conv_weight = declare(
    "conv_weight",
    conv_weight_forward,
    "self grad",
    f"shape {_ATTRS}",
    node="ConvolutionBackwardBackward0",
    formula="∂self: grad ⋆ᵀ g    ∂grad: self ⋆ g",
    self=lambda F, g, grad, self_shape, stride, padding, dilation, groups: F.conv_input(
        F.conj(grad), g, self_shape, stride, padding, dilation, groups
    ),
    grad=lambda F, g, self, stride, padding, dilation, groups: F.convolution(
        F.conj(self), g, None, stride, padding, dilation, groups
    ),
)
