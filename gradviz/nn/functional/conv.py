"""Convolutions, and what cuts images into patches."""

from __future__ import annotations

from ...backend import xp
from ...engine.dispatch import Tensor
from ...engine.dtypes import scalar_name
from ...engine.modes import local, state
from ...engine.operands import not_a_tensor
from ...ops import conv as table
from ...ops.declare import declare, public
from ...ops.lower import lowered
from ...ops.pad import constant_pad_nd
from ...ops.taps import Room, Strided


def spread(value, n):
    """A tuple of ``n`` from a number or a sequence."""
    if hasattr(value, "__iter__"):
        value = tuple(value)
        return value * n if len(value) == 1 else value
    return (value,) * n


def _sizes(shape):
    return "[" + ", ".join(map(str, shape)) + "]"


def _check(name, n, input, weight, bias, stride, groups, transposed):
    for position, (what, x) in enumerate((("input", input), ("weight", weight)), 1):
        if not isinstance(x, Tensor):
            raise not_a_tensor(name, what, position, x)
    if input.dim() not in (n + 1, n + 2):
        raise RuntimeError(
            f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {name}, but got input "
            f"of size: {_sizes(input.shape)}"
        )
    if input._a.dtype != weight._a.dtype:
        kinds = scalar_name(input.dtype), scalar_name(weight.dtype)
        raise RuntimeError(
            "expected scalar type {} but found {}".format(*kinds)
            if bias is None
            else "Input type ({}) and bias type ({}) should be the same".format(
                *(k.lower() for k in kinds)
            )
        )
    channels = input.shape[-n - 1]
    if groups <= 0:
        raise RuntimeError("non-positive groups is not supported")
    if weight.dim() != n + 2:
        raise RuntimeError(
            "weight should have at least three dimensions"
            if weight.dim() < 3
            else f"expected stride to be a single integer value or a list of {weight.dim() - 2} "
            "values to match the convolution dimensions, but got stride="
            f"{list(spread(stride, n))}"
        )
    if weight.shape[0] < groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but "
            f"got weight of size {_sizes(weight.shape)} instead"
        )
    if weight.shape[0] % groups:
        raise RuntimeError(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, "
            f"but got weight of size [{_sizes(weight.shape)}] instead"
        )
    made = weight.shape[1] * groups if transposed else weight.shape[0]
    if bias is not None and tuple(bias.shape) != (made,):
        kind = "transposed=1, weight" if transposed else "weight"
        raise RuntimeError(
            f"Given {kind} of size {_sizes(weight.shape)}, expected bias to be 1-dimensional with "
            f"{made} elements, but got bias of size {_sizes(bias.shape)} instead"
        )
    if not transposed and channels != weight.shape[1] * groups:
        raise RuntimeError(
            f"Given groups={groups}, weight of size {_sizes(weight.shape)}, expected "
            f"input{_sizes(_batched(input, n))} to have "
            f"{weight.shape[1] * groups} channels, but got {channels} channels instead"
        )
    if transposed and channels != weight.shape[0]:
        raise RuntimeError(
            f"Given transposed=1, weight of size {_sizes(weight.shape)}, expected "
            f"input{_sizes(_batched(input, n))} to have "
            f"{weight.shape[0]} channels, but got {channels} channels instead"
        )


def _batched(input, n):
    return input.shape if input.dim() == n + 2 else (1, *input.shape)


def _check_numbers(n, **given):
    """RuntimeError for a number of steps that is not one a dimension."""
    for what, values in given.items():
        if len(values) != n:
            raise RuntimeError(
                f"expected {what} to be a single integer value or a list of {n} values to match "
                f"the convolution dimensions, but got {what}={list(values)}"
            )


def _check_size(input, weight, stride, padding, dilation):
    if any(d <= 0 for d in dilation):
        raise RuntimeError(f"dilation should be greater than zero, but got {list(dilation)}")
    kernel = [d * (k - 1) + 1 for d, k in zip(dilation, weight.shape[2:], strict=True)]
    padded = [s + 2 * p for s, p in zip(input.shape[2:], padding, strict=True)]
    if any(a < k for a, k in zip(padded, kernel, strict=True)):
        per = " x ".join(map(str, padded))
        taps = " x ".join(map(str, kernel))
        raise RuntimeError(
            f"Calculated padded input size per channel: ({per}). Kernel size: ({taps}). Kernel "
            "size can't be greater than actual "
            "input size"
        )
    if any(s <= 0 for s in stride):
        raise RuntimeError("non-positive stride is not supported")
    if any(p < 0 for p in padding):
        raise RuntimeError("negative padding is not supported")


def _named_padding(name, input, weight, stride, padding, dilation):
    """``"same"`` and ``"valid"`` as numbers; an odd rest is padded in front of the convolution."""
    n = len(stride)
    if padding == "valid":
        return input, (0,) * n
    if padding != "same":
        raise RuntimeError(f"Invalid padding string: '{padding}'")
    if any(s != 1 for s in stride):
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:], strict=True)]
    if any(t % 2 for t in totals):
        from .pad import pad

        sides = [side for t in reversed(totals) for side in (0, t % 2)]
        input = pad(input, sides)
    return input, tuple(t // 2 for t in totals)


def _conv(n):
    name = f"conv{n}d"

    def conv(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if state.special and local.autocast is not None:
            input, weight, bias = lowered(input, weight, bias)
        _check(name, n, input, weight, bias, stride, groups, False)
        stride, dilation = spread(stride, n), spread(dilation, n)
        if isinstance(padding, str):
            input, padding = _named_padding(name, input, weight, stride, padding, dilation)
        padding = spread(padding, n)
        _check_numbers(n, stride=stride, padding=padding, dilation=dilation)
        if any(p < 0 for p in padding):
            raise RuntimeError("negative padding is not supported")
        if input.dim() == n + 1:
            out = conv(input.unsqueeze(0), weight, bias, stride, padding, dilation, groups)
            return out.squeeze(0)
        _check_size(input, weight, stride, padding, dilation)
        return table.convolution(input, weight, bias, stride, padding, dilation, groups)

    conv.__name__ = conv.__qualname__ = name
    conv.__doc__ = (
        f"Convolution over {n} dimension{'s' * (n > 1)}: input (N, C, …), weight (O, C/groups, "
        "…), bias (O)."
    )
    return conv


def _conv_transpose(n):
    name = f"conv_transpose{n}d"

    def conv(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        if state.special and local.autocast is not None:
            input, weight, bias = lowered(input, weight, bias)
        _check(name, n, input, weight, bias, stride, groups, True)
        stride, padding, extra, dilation = (
            spread(v, n) for v in (stride, padding, output_padding, dilation)
        )
        if input.dim() == n + 1:
            return conv(
                input.unsqueeze(0), weight, bias, stride, padding, extra, groups, dilation
            ).squeeze(0)
        if any(e >= s and e >= d for e, s, d in zip(extra, stride, dilation, strict=True)):
            raise RuntimeError(_too_much_padding(n, extra, stride, dilation))
        if any(e >= s for e, s in zip(extra, stride, strict=True)):
            whole = conv(input, weight, None, stride, 0, 0, groups, dilation)
            return _cut_out(whole, bias, padding, extra)
        out = tuple(
            (i - 1) * s - 2 * p + d * (k - 1) + e + 1
            for i, s, p, d, k, e in zip(
                input.shape[2:], stride, padding, dilation, weight.shape[2:], extra, strict=True
            )
        )
        shape = (input.shape[0], weight.shape[1] * groups, *out)
        return table.conv_transposed(input, weight, bias, shape, stride, padding, dilation, groups)

    conv.__name__ = conv.__qualname__ = name
    conv.__doc__ = (
        f"Transposed convolution over {n} dimension{'s' * (n > 1)}: input (N, C, …), weight (C, "
        "O/groups, …), bias (O)."
    )
    return conv


def _cut_out(whole, bias, padding, extra):
    """A transposed convolution from that without padding: what is added at the end may reach a
    stride further than any window of the convolution that it turns round.
    """
    sides = [side for p, e in zip(padding, extra, strict=True) for side in (e - p, -p)]
    out = constant_pad_nd(whole, sides[::-1], 0)
    return out if bias is None else out + bias.reshape(-1, *[1] * len(padding))


conv1d, conv2d, conv3d = _conv(1), _conv(2), _conv(3)
conv_transpose1d, conv_transpose2d, conv_transpose3d = (
    _conv_transpose(1),
    _conv_transpose(2),
    _conv_transpose(3),
)


# ---------------------------------------------------------------- patches
def _unfold_forward(x, kernel, dilation, padding, stride):
    if x.ndim == 3:
        return _unfold_forward(x[None], kernel, dilation, padding, stride)[0]
    at = Strided(x.shape[2:], kernel, stride, padding, dilation)
    return at.columns(x, Room()).reshape(-1, x.shape[0], at.width).swapaxes(0, 1).copy()


def _fold_forward(x, shape, kernel, dilation, padding, stride):
    if x.ndim == 2:
        return _fold_forward(x[None], (1, *shape), kernel, dilation, padding, stride)[0]
    out = xp.empty(shape, x.dtype, like=x)
    at = Strided(shape[2:], kernel, stride, padding, dilation)
    at.uncolumns(x.swapaxes(0, 1).reshape(x.shape[1], -1), out, Room())
    return out


unfold_op = declare(
    "im2col",
    _unfold_forward,
    "self",
    "kernel dilation padding stride",
    formula="every patch back to its place",
    node="Im2ColBackward0",
    hidden=("kernel", "self_sym_sizes"),
    also={
        "kernel_size": lambda node: node.at[0],
        "self_sym_argsize_minus_1": lambda node: node.at[-1][-1],
        "self_sym_argsize_minus_2": lambda node: node.at[-1][-2],
    },
    self=lambda F, g, self_shape, kernel, dilation, padding, stride: F.col2im(
        g, self_shape, kernel, dilation, padding, stride
    ),
)
fold_op = declare(
    "col2im",
    _fold_forward,
    "self",
    "shape kernel dilation padding stride",
    formula="the patches of g",
    node="Col2ImBackward0",
    hidden=("kernel",),
    also={"kernel_size": lambda node: node.at[1]},
    self=lambda F, g, kernel, dilation, padding, stride: F.im2col(
        g, kernel, dilation, padding, stride
    ),
)


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """Patches of (N, C, H, W) as columns (N, C · taps, patches)."""
    if input.dim() not in (3, 4):
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor for input with possibly 0 batch size and "
            "non-zero dimensions for input, but got: "
            f"{_sizes(input.shape)}"
        )
    kernel, dilation, padding, stride = (
        spread(x, 2) for x in (kernel_size, dilation, padding, stride)
    )
    image = tuple(input.shape[-2:])
    blocks = _blocks(image, kernel, dilation, padding, stride)
    if min(blocks) < 1:
        raise RuntimeError(
            f"Given input with spatial size {image}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, calculated shape of the array of sliding blocks as "
            f"{tuple(blocks)}, but its components must be at least one."
        )
    return unfold_op(input, kernel, dilation, padding, stride)


def _blocks(size, kernel, dilation, padding, stride):
    """How many patches lie along every dimension."""
    return [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, p, d, k, s in zip(size, padding, dilation, kernel, stride, strict=True)
    ]


def _too_much_padding(n, extra, stride, dilation):
    names = ("depth", "height", "width")[-max(n, 2) :]
    one = (n == 1) * (0,), (n == 1) * (1,)
    sizes = (("output_padding", (*one[0], *extra)), ("stride", (*one[1], *stride)))
    told = [
        f"{what}_{name}: {value}"
        for what, values in (*sizes, ("dilation", (*one[1], *dilation)))
        for name, value in zip(names, values, strict=True)
    ]
    return "output padding must be smaller than either stride or dilation, but got " + " ".join(
        told
    )


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns (N, C · taps, patches) summed back into images of ``output_size``."""
    if input.dim() not in (2, 3):
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and "
            f"non-zero dimensions for input, but got: {list(input.shape)}"
        )
    for name, x in (("output_size", output_size), ("kernel_size", kernel_size)):
        if not isinstance(x, int) and len(x) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(x)}")
    whole = input._a.shape[-2:]
    batch = input._a.shape[:-2]
    kernel, size = spread(kernel_size, 2), spread(output_size, 2)
    taps = kernel[0] * kernel[1]
    if whole[0] % taps:
        raise RuntimeError(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, "
            "but got "
            f"input.size(1)={whole[0]} and kernel_size=({kernel[0]}, {kernel[1]})."
        )
    shape = (*batch, whole[0] // taps, *size)
    dilation, padding, stride = (spread(x, 2) for x in (dilation, padding, stride))
    blocks = _blocks(size, kernel, dilation, padding, stride)
    if whole[1] != blocks[0] * blocks[1]:
        raise RuntimeError(
            f"Given output_size={size}, kernel_size={kernel}, dilation={dilation}, "
            f"padding={padding}, stride={stride}, expected size of input's dimension 2 to match "
            f"the "
            f"calculated number of sliding blocks {blocks[0]} * {blocks[1]} = "
            f"{blocks[0] * blocks[1]}, but got input.size(2)={whole[1]}."
        )
    return fold_op(input, shape, kernel, dilation, padding, stride)


for _f in (conv1d, conv2d, conv3d, conv_transpose1d, conv_transpose2d, conv_transpose3d):
    public(_f.__name__, _f)
