"""Convolutions in one, two and three dimensions, and the two products that are their derivatives.

All three maps (output, gradient of the input, gradient of the weight) are products of matrices over
the same columns (``taps.py``), a block of images at a time.
"""

from __future__ import annotations

import functools

from ..backend import xp, zeros_by
from ..engine.node import FREED, freed
from ..engine.operation import RAW
from ..engine.saved import read_array
from ..engine.saved_names import kept
from .casting import _conj
from .declare import declare
from .layout import channels_kept
from .taps import ADD, Room, Shifted, Strided, best_rows, product_cost

ndarray = xp.ndarray


@functools.lru_cache(256)
def _layout(image, weight_shape, stride, padding, dilation, groups, taller, adds=False):
    """How images become columns. ``taller``: the kernel may be made taller; ``adds``: columns are
    added up rather than filled.
    """
    kernel = weight_shape[2:]
    if any(s != 1 for s in stride):
        return Strided(image, kernel, stride, padding, dilation)
    rows = 1
    if taller and dilation[0] == 1:
        height = image[0] + 2 * padding[0] - kernel[0] + 1
        rows = best_rows(weight_shape[1], kernel, weight_shape[0] // groups, height)
    return Shifted(image, kernel, padding, dilation, rows, adds)


def _finite(x):
    """Whether a kernel that meets ``x`` may be made taller: its zeros, on lines that it does not
    see, would turn infinity into NaN. It need not be made taller for a device.
    """
    if x.__class__ is not ndarray:
        return False
    if not x.flags.c_contiguous:
        return bool(xp.isfinite(x).all())
    flat = x.reshape(-1)
    with xp.errstate(all="ignore"):
        return bool(xp.isfinite(flat.dot(flat)))


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
    at = map(tuple, (stride, padding, dilation))
    at = _layout(x.shape[2:], weight.shape, *at, groups, _finite(x))
    out = xp.empty((x.shape[0], weight.shape[0], *at.out), x.dtype, like=x)
    room = Room()
    for channels, outputs in _groups(groups, x.shape[1], weight.shape[0]):
        kernel = at.matrix(weight[outputs], None if bias is None else bias[outputs])
        for images in _blocks(x.shape[0], at.images_at_once(weight.shape[1])):
            columns = at.columns(x[images, channels], room, bias is not None)
            wide = room.get("product", (kernel.shape[0], columns.shape[1]), x)
            at.narrow(xp.dot(kernel, columns, out=wide), out[images, outputs])
    return out if out.dtype == kind else out.astype(kind)


def conv_input_forward(g, weight, shape, stride, padding, dilation, groups):
    """The gradient of the input, of the given shape; as a map of its own: transposed
    convolution."""
    back = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[2:], padding, strict=True)]
    if all(s == 1 for s in stride) and min(back) >= 0 and _better_turned(weight, shape, groups):
        return conv_forward(g, _turned(weight, groups), None, stride, back, dilation, groups)
    kind = g.dtype
    g, weight = _working(g), _working(weight)
    at = map(tuple, (stride, padding, dilation))
    at = _layout(
        tuple(shape[2:]),
        weight.shape,
        *at,
        groups,
        _finite(g),
        True,
    )
    out = xp.empty(shape, g.dtype, like=g)
    room = Room()
    for channels, outputs in _groups(groups, shape[1], weight.shape[0]):
        kernel = at.matrix(weight[outputs]).T
        for images in _blocks(shape[0], at.images_at_once(weight.shape[1])):
            wide = at.widen(g[images, outputs], room)
            columns = room.get("product", (kernel.shape[0], wide.shape[1]), g)
            at.uncolumns(xp.dot(kernel, wide, out=columns), out[images, channels], room)
    return out if out.dtype == kind else out.astype(kind)


def _better_turned(weight, shape, groups):
    """Whether the gradient of the input costs less as a convolution with the turned kernel than as
    columns that are added up."""
    o, c, *kernel = weight.shape
    o, height = o // groups, shape[2]
    rows = best_rows(c, kernel, o, height)
    added = product_cost(c, kernel, o, height, rows, ADD)
    return product_cost(o, kernel, c, height, best_rows(o, kernel, c, height)) < added


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
    at = map(tuple, (stride, padding, dilation))
    at = _layout(
        x.shape[2:],
        tuple(shape),
        *at,
        groups,
        x.__class__ is ndarray,
    )
    out = zeros_by(g, shape)
    room = Room()
    for channels, outputs in _groups(groups, x.shape[1], shape[0]):
        total = 0
        for images in _blocks(x.shape[0], at.images_at_once(shape[1])):
            columns = at.columns(x[images, channels], room)
            total = total + xp.dot(columns, at.widen(g[images, outputs], room).T)
        if x.shape[0]:
            out[outputs] = at.unmatrix(total)
    return out if out.dtype == kind else out.astype(kind)


def _bias_grad(F, g):
    dims = (0, *range(2, g.ndim))
    return F.sum_dims(g, dims, False)


_ATTRS = "stride padding dilation groups"
_HIDDEN = ("self",)


def _output_padding(node):
    if node.s is FREED:
        freed()
    image, kernel = (read_array(*node.s[k : k + 2]).shape[2:] for k in (0, 2))
    return _beyond(node.shape[2:], image, kernel, *node.at[1:4])


def _shown(transposed):
    """PyTorch's names for what both convolutions save."""
    return {
        "input": kept("self"),
        "transposed": lambda node: transposed,
        "output_padding": _output_padding if transposed else lambda node: (0,) * len(node.at[0]),
        "bias_sym_sizes_opt": lambda node: (node.shape[1],) if node.e[2] is not None else (0,),
    }


def _beyond(out, image, kernel, stride, padding, dilation):
    """The output padding of a transposed convolution, from the sizes of its output and input."""
    return tuple(
        o - ((n - 1) * s - 2 * p + d * (k - 1) + 1)
        for o, n, k, s, p, d in zip(out, image, kernel, stride, padding, dilation, strict=True)
    )


def _joint(F, g, self, weight, needs, *at):
    """The gradients of both convolutions; ``at`` ends with whether it is the transposed one."""
    if F is RAW:
        return _gradients(g, self, weight, needs, *at)
    made = F.convolution_backward(g, self, weight, *at, tuple(needs))
    return tuple(x if n else None for x, n in zip(made, needs, strict=True))


def _gradients(g, x, weight, needs, stride, padding, dilation, groups, transposed):
    at = stride, padding, dilation, groups
    given = of_weight = None
    if needs[0] and transposed:
        given = conv_forward(g, _conj(weight), None, *at)
    elif needs[0]:
        given = conv_input_forward(g, _conj(weight), x.shape, *at)
    if needs[1]:
        pair = (g, _conj(x)) if transposed else (_conj(x), g)
        of_weight = conv_weight_forward(*pair, weight.shape, *at)
    return given, of_weight, _bias_grad(RAW, g) if needs[2] else None


def _backward_forward(g, x, weight, *at):
    """What nobody needs is an array of no element."""
    found = _gradients(g, x, weight, at[-1], *at[:-1])
    return tuple(xp.zeros(0, g.dtype, like=g) if f is None else f for f in found)


def _backward_joint(
    F, g, grad_output, self, weight, needs, stride, padding, dilation, groups, transposed
):
    """The second derivative: ``g`` are the gradients for those of input, weight and bias."""
    at = stride, padding, dilation, groups
    of_input, of_weight, of_bias = g
    parts, given, kernel = [], None, None
    if of_input is not None and transposed:
        parts.append(F.conv_input(of_input, weight, grad_output.shape, *at))
        kernel = (grad_output, F.conj(of_input))
    elif of_input is not None:
        parts.append(F.convolution(of_input, weight, None, *at))
        kernel = (F.conj(of_input), grad_output)
    if of_weight is not None and transposed:
        parts.append(F.conv_input(self, of_weight, grad_output.shape, *at))
        given = F.convolution(grad_output, F.conj(of_weight), None, *at) if needs[1] else None
    elif of_weight is not None:
        parts.append(F.convolution(self, of_weight, None, *at))
        if needs[1]:
            given = F.conv_input(grad_output, F.conj(of_weight), self.shape, *at)
    if of_bias is not None:
        wide = F.reshape(of_bias, (-1, *[1] * (len(self.shape) - 2)))
        parts.append(F.expand_to(wide, tuple(grad_output.shape)))
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    of_kernel = None
    if needs[2] and kernel is not None:
        of_kernel = F.conv_weight(*kernel, weight.shape, *at)
    return total, given, of_kernel


def _backward_output_padding(node):
    if node.s is FREED:
        freed()
    out, image, kernel = (read_array(*node.s[k : k + 2]).shape[2:] for k in (0, 2, 4))
    stride, padding, dilation, _, transposed = node.at[:5]
    if not transposed:
        return (0,) * len(stride)
    return _beyond(out, image, kernel, stride, padding, dilation)


declare(
    "convolution_backward",
    _backward_forward,
    "grad_output self weight",
    f"{_ATTRS} transposed wanted",
    outputs=True,
    formula="∂g: h ⋆ weight + self ⋆ h    ∂self: g ⋆ᵀ h    ∂weight: h ⋆ g",
    hidden=("self",),
    also={
        "input": kept("self"),
        "output_padding": _backward_output_padding,
    },
    joint=_backward_joint,
)
convolution = declare(
    "convolution",
    channels_kept(conv_forward),
    "self weight bias",
    _ATTRS,
    formula="∂self: g ⋆ᵀ weight    ∂weight: self ⋆ g    ∂bias: Σ g",
    hidden=_HIDDEN,
    also=_shown(False),
    joint=lambda F, g, self, weight, needs, stride, padding, dilation, groups: _joint(
        F, g, self, weight, needs, stride, padding, dilation, groups, False
    ),
)


def _transposed_forward(x, weight, bias, shape, stride, padding, dilation, groups):
    out = conv_input_forward(x, weight, shape, stride, padding, dilation, groups)
    if bias is not None:
        out += bias.reshape(-1, *[1] * (out.ndim - 2))
    return out


conv_transposed = declare(
    "conv_transposed",
    channels_kept(_transposed_forward),
    "self weight bias",
    f"shape {_ATTRS}",
    node="ConvolutionBackward0",
    formula="∂self: g ⋆ weight    ∂weight: g ⋆ self    ∂bias: Σ g",
    hidden=_HIDDEN,
    also=_shown(True),
    joint=lambda F, g, self, weight, needs, stride, padding, dilation, groups: _joint(
        F, g, self, weight, needs, stride, padding, dilation, groups, True
    ),
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
