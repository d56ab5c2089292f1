"""Pooling: the largest or the mean of what a window sees."""

from __future__ import annotations

import itertools
import math

from ..backend import beside, contiguous, xp, zeros_by
from ..engine.node import FREED, freed
from ..engine.saved import read_tensor
from .declare import declare
from .layout import channels_kept
from .matmul import products


class Windows:
    """Where windows lie in images of the given size; a tap is one place inside a window."""

    def __init__(self, image, kernel, stride, padding, dilation, out, given=None, ceil_mode=False):
        self.image, self.kernel, self.stride, self.padding, self.out = (
            image,
            kernel,
            stride,
            padding,
            out,
        )
        self.dilation, self.ceil_mode = dilation, ceil_mode
        self.given = stride if given is None else given  # the stride as it was asked for
        self.taps = [
            tuple(i * d for i, d in zip(tap, dilation, strict=True))
            for tap in itertools.product(*(range(k) for k in kernel))
        ]
        reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
        self.whole = tuple(
            max(n + 2 * p, (o - 1) * s + r)
            for n, p, o, s, r in zip(image, padding, out, stride, reach, strict=True)
        )
        self.inside = (..., *(slice(p, p + n) for p, n in zip(padding, image, strict=True)))

    def padded(self, x, value):
        """Images with ``value`` around them; the images themselves when nothing is missing."""
        if self.whole == self.image:
            return x
        out = xp.full((*x.shape[: -len(self.image)], *self.whole), value, x.dtype, like=x)
        out[self.inside] = x
        return out

    def seen(self, x, tap):
        """What one tap sees of padded images."""
        return x[
            (
                ...,
                *(
                    slice(i, i + s * (o - 1) + 1, s)
                    for i, s, o in zip(tap, self.stride, self.out, strict=True)
                ),
            )
        ]


def _lowest(dtype):
    return -xp.inf if dtype.kind in "fV" else xp.iinfo(dtype).min


def largest(x, at):
    """(values, taps): the largest element of each window and which tap it is (the first of
    equals)."""
    padded = at.padded(x, _lowest(x.dtype))
    best = at.seen(padded, at.taps[0]).copy()
    tap = xp.zeros(best.shape, xp.uint8 if len(at.taps) <= 256 else xp.int32, like=x)
    with xp.errstate(invalid="ignore"):
        # a GPU is not asked: it would wait
        odd = x.dtype.kind in "fV" and (x.__class__ is not xp.ndarray or xp.isnan(x.sum()))
    now = xp.empty_like(best)
    for k, place in enumerate(at.taps[1:], 1):
        xp.copyto(now, at.seen(padded, place))
        higher = now > best
        if odd:
            higher |= xp.isnan(now)
        xp.maximum(best, now, out=best)
        # arithmetic on bytes is quicker than writing through a mask
        flags = higher.view(xp.uint8)
        tap *= 1 - flags
        tap += flags * tap.dtype.type(k)
    return best, tap


def largest_values(x, at):
    """The largest element of each window."""
    padded = at.padded(x, _lowest(x.dtype))
    best = at.seen(padded, at.taps[0]).copy()
    for place in at.taps[1:]:
        xp.maximum(best, at.seen(padded, place), out=best)
    return best


def flat_indices(tap, at):
    """The places of the largest elements, counted through the image without padding."""
    coordinates = []
    taps = xp.asarray(at.taps, like=tap)
    n = len(at.image)
    for d in range(n):
        start = xp.arange(at.out[d], like=tap) * at.stride[d] - at.padding[d]
        coordinates.append(taps[tap, d] + start.reshape(-1, *[1] * (n - 1 - d)))
    found = xp.zeros(tap.shape, xp.int64, like=tap)
    for c, size in zip(coordinates, at.image, strict=True):
        found = found * size + c
    return found


def _give(g, tap, at):
    """Every window's gradient to its largest element."""
    out = zeros_by(g, (*g.shape[: -len(at.image)], *at.whole))
    finite = g.__class__ is xp.ndarray and xp.isfinite(g).all()
    for k, place in enumerate(at.taps):
        part = g * (tap == k) if finite else xp.where(tap == k, g, g.dtype.type(0))
        chosen = at.seen(out, place)
        # adding to the zeros that are there turns −0 into 0
        chosen += part
    return contiguous(out[at.inside])


def _take(x, tap, at):
    """The elements that were the largest."""
    padded = at.padded(x, 0)
    out = at.seen(padded, at.taps[0]).copy()
    for k, place in enumerate(at.taps[1:], 1):
        xp.copyto(out, at.seen(padded, place), where=tap == k)
    return out


declare(
    "max_pool_take",
    _take,
    "self",
    "tap at",
    node="MaxPoolTakeBackward0",
    self=lambda F, g, self_shape, tap, at: F.max_pool_give(g, self_shape, tap, at),
)
declare(
    "max_pool_give",
    lambda g, shape, tap, at: _give(g, tap, at),
    "self",
    "shape tap at",
    node="MaxPoolGiveBackward0",
    self=lambda F, g, tap, at: F.max_pool_take(g, tap, at),
)


def _none(F, g):
    """The derivative for an image of which the backward knows the size only."""
    return F.zeros_like(g)


def _backward_of(node):
    return node.replace("Backward0", "BackwardBackward0")


_ARGUMENTS = {
    "kernel_size": lambda node: _windows_of(node).kernel,
    "stride": lambda node: _windows_of(node).given,
    "padding": lambda node: _windows_of(node).padding,
    "dilation": lambda node: _windows_of(node).dilation,
    "ceil_mode": lambda node: _windows_of(node).ceil_mode,
}


def _windows_of(node):
    return next(x for x in node.at if x.__class__ is Windows)


def _kept_indices(read):
    """The saved indices of a node: those that were returned, or made now by ``read(node)``."""

    def result1(node):
        if node.s is FREED:
            freed()
        kept = node.s[2:4]
        return read_tensor(*kept) if kept else read(node)

    return result1


def _max_pool(name, node):
    back = f"{name}_backward"
    declare(
        back,
        lambda g, x, tap, at: _give(g, tap, at),
        "grad_output self",
        "tap at",
        node=_backward_of(node),
        formula="∂g: g at the places of the largest",
        hidden=("tap", "at"),
        also={"indices": lambda node: flat_indices(*node.at)},
        grad_output=lambda F, g, tap, at: F.max_pool_take(g, tap, at),
        self=_none,
    )
    # the values were computed together with the taps: the box hands them over
    return declare(
        name,
        channels_kept(lambda x, box, tap, at: box[0]),
        "self",
        "box tap at",
        node=node,
        formula="g to the largest of each window",
        hidden=("tap", "at"),
        also=_ARGUMENTS
        | {"result1": _kept_indices(lambda node: flat_indices(node.at[1], node.at[2]))},
        # PyTorch saves the images too, for their sizes
        self=lambda F, g, self, tap, at: getattr(F, back)(g, self, tap, at),
    )


max_pool = {
    2: _max_pool("max_pool2d_with_indices", "MaxPool2DWithIndicesBackward0"),
    3: _max_pool("max_pool3d_with_indices", "MaxPool3DWithIndicesBackward0"),
}


# ---------------------------------------------------------------- means
def _mean_forward(x, at, divisor):
    padded = at.padded(x, 0)
    out = at.seen(padded, at.taps[0]).copy()
    for place in at.taps[1:]:
        out += at.seen(padded, place)
    divisor = beside(divisor, out) if divisor.ndim else divisor
    if out.dtype.kind == "i":
        return xp.trunc(out / divisor).astype(out.dtype)
    out /= divisor
    return out


def _mean_back(g, at, divisor):
    share = g / (beside(divisor, g) if divisor.ndim else divisor)
    out = zeros_by(share, (*g.shape[: -len(at.image)], *at.whole))
    for place in at.taps:
        seen = at.seen(out, place)
        seen += share
    return contiguous(out[at.inside])


_MEANS = _ARGUMENTS | {
    "count_include_pad": lambda node: node.at[2][0],
    "divisor_override": lambda node: node.at[2][1],
}
del _MEANS["dilation"]


def _avg_pool(n):
    declare(
        f"avg_pool{n}d_back",
        lambda g, x, at, divisor, asked: _mean_back(g, at, divisor),
        "grad_output self",
        "at divisor asked",
        node=f"AvgPool{n}DBackwardBackward0",
        formula="∂g: Σ g / n",
        hidden=("at", "divisor", "asked"),
        also=_MEANS,
        grad_output=lambda F, g, at, divisor, asked: getattr(F, f"avg_pool{n}d_op")(
            g, at, divisor, asked
        ),
        self=_none,
    )
    return declare(
        f"avg_pool{n}d_op",
        channels_kept(lambda x, at, divisor, asked: _mean_forward(x, at, divisor)),
        "self",
        "at divisor asked",
        node=f"AvgPool{n}DBackward0",
        formula="g / size of the window, to all it sees",
        hidden=("at", "divisor", "asked"),
        also=_MEANS,
        self=lambda F, g, self, at, divisor, asked: getattr(F, f"avg_pool{n}d_back")(
            g, self, at, divisor, asked
        ),
    )


avg_pool = {n: _avg_pool(n) for n in (1, 2, 3)}


def divisor(at, include_pad, override, dtype):
    """By what the sum of each window is divided."""
    if override is not None:
        return dtype.type(override)
    if include_pad:
        # windows that ceil_mode lets run over the padded edge count only what lies inside it
        end = [n + p for n, p in zip(at.image, at.padding, strict=True)]
        start = [-p for p in at.padding]
    else:
        end, start = list(at.image), [0] * len(at.image)
    parts = []
    for d, (low, high) in enumerate(zip(start, end, strict=True)):
        first = xp.arange(at.out[d]) * at.stride[d] - at.padding[d]
        last = xp.minimum(first + at.kernel[d], at.image[d] + at.padding[d])
        if not include_pad:
            first, last = xp.maximum(first, low), xp.minimum(last, high)
        parts.append((last - first).reshape(-1, *[1] * (len(at.image) - 1 - d)))
    total = math.prod(at.kernel)
    found = parts[0]
    for p in parts[1:]:
        found = found * p
    return dtype.type(total) if (found == total).all() else found.astype(dtype)


# ---------------------------------------------------------------- bins of any size
def bins(size, count):
    """Start and end of ``count`` bins that cover ``size`` elements."""
    return [(k * size // count, -((-(k + 1) * size) // count)) for k in range(count)]


def _matrix(size, count, dtype):
    """Averages along one dimension as a matrix (count, size)."""
    out = xp.zeros((count, size), dtype)
    for k, (a, b) in enumerate(bins(size, count)):
        out[k, a:b] = 1.0 / (b - a)
    return out


def _along(x, matrices):
    n = len(matrices)
    for k, m in enumerate(matrices):
        axis = x.ndim - n + k
        x = xp.moveaxis(products(xp.moveaxis(x, axis, -1), beside(m.T, x)), -1, axis)
    return contiguous(x)


def _adaptive_forward(x, image, out):
    return _along(x, [_matrix(n, o, x.dtype) for n, o in zip(image, out, strict=True)])


def _adaptive_back(g, image, out):
    return _along(g, [_matrix(n, o, g.dtype).T for n, o in zip(image, out, strict=True)])


def _adaptive_avg(n):
    declare(
        f"adaptive_avg_pool{n}d_back",
        lambda g, x, image, out: _adaptive_back(g, image, out),
        "grad_output self",
        "image out",
        node=f"AdaptiveAvgPool{n}DBackwardBackward0",
        formula="∂g: Σ g / n",
        hidden=("image", "out"),
        also={
            f"grad_output_sym_argsize_minus_{k}": lambda node, k=k: node.at[1][-k]
            for k in range(1, n + 1)
        },
        grad_output=lambda F, g, image, out: getattr(F, f"adaptive_avg_pool{n}d_op")(g, image, out),
        self=_none,
    )
    return declare(
        f"adaptive_avg_pool{n}d_op",
        channels_kept(_adaptive_forward),
        "self",
        "image out",
        node=f"AdaptiveAvgPool{n}DBackward0",
        formula="g / size of the bin, to all it covers",
        hidden=("image", "out"),
        self=lambda F, g, self, image, out: getattr(F, f"adaptive_avg_pool{n}d_back")(
            g, self, image, out
        ),
    )


adaptive_avg = {n: _adaptive_avg(n) for n in (2, 3)}


# ---------------------------------------------------------------- by flat index
def _rows(x, n):
    """The last ``n`` dimensions as one, everything before as another."""
    return x.reshape(math.prod(x.shape[: x.ndim - n]), -1)


def _flat_take(x, index, shape, n):
    return xp.take_along_axis(_rows(x, n), _rows(index, n), -1).reshape(index.shape)


def _flat_put(g, index, shape, n):
    out = zeros_by(g, shape)
    flat = _rows(index, n)
    xp.add.at(_rows(out, n), (xp.arange(len(flat), like=flat)[:, None], flat), _rows(g, n))
    return out


def _unpool_forward(x, index, shape, n):
    out = xp.zeros(shape, x.dtype, like=x)
    xp.put_along_axis(_rows(out, n), _rows(index, n), _rows(x, n), -1)
    return out


_PLACES = "index shape n"
declare(
    "flat_take",
    _flat_take,
    "self",
    _PLACES,
    node="GatherBackward0",
    self=lambda F, g, index, shape, n: F.flat_put(g, index, shape, n),
)
declare(
    "flat_put",
    _flat_put,
    "self",
    _PLACES,
    node="MaxPoolBackwardBackward0",
    self=lambda F, g, index, shape, n: F.flat_take(g, index, shape, n),
)


def _unpooled_from(node):
    if node.s is FREED:
        freed()
    return read_tensor(*node.s[-2:])


max_unpool = {
    n: declare(
        f"max_unpool{n}d_op",
        _unpool_forward,
        "self",
        _PLACES,
        node=f"MaxUnpool{n}DBackward0",
        formula="g at the places of the largest",
        hidden=("index", "shape", "n"),
        also={"indices": lambda node: _unpooled_from(node)},
        self=lambda F, g, index, shape, n: F.flat_take(g, index, shape, n),
    )
    for n in (2, 3)
}


def _binned(name, node, **also):
    """Max pooling over windows given by flat index."""
    back = f"{name}_backward"
    declare(
        back,
        lambda g, x, index, shape, n: _flat_put(g, index, shape, n),
        "grad_output self",
        _PLACES,
        node=_backward_of(node),
        formula="∂g: g at the places of the largest",
        hidden=("index", "shape", "n"),
        also={"indices": lambda node: node.at[0]},
        grad_output=lambda F, g, index, shape, n: F.flat_take(g, index, shape, n),
        self=_none,
    )
    return declare(
        name,
        channels_kept(lambda x, box, index, shape, n, kernel: box[0]),
        "self",
        f"box {_PLACES} kernel",
        node=node,
        formula="g to the largest of each window",
        hidden=("index", "shape", "n"),
        also=also | {"result1": _kept_indices(lambda node: node.at[1])},
        self=lambda F, g, self, index, shape, n: getattr(F, back)(g, self, index, shape, n),
    )


_OF_WINDOWS = {
    "kernel_size": lambda node: node.at[4],
    "output_size": lambda node: node.at[1].shape[-node.at[3] :],
}
binned = {
    ("adaptive", 2): _binned("adaptive_max2", "AdaptiveMaxPool2DBackward0"),
    ("adaptive", 3): _binned("adaptive_max3", "AdaptiveMaxPool3DBackward0"),
    ("fractional", 2): _binned("fractional_max2", "FractionalMaxPool2DBackward0", **_OF_WINDOWS),
    ("fractional", 3): _binned("fractional_max3", "FractionalMaxPool3DBackward0", **_OF_WINDOWS),
}


def largest_in_bins(x, spans):
    """(values, flat indices) of the largest element in every box of ``spans`` (one list of (start,
    end) a dimension)."""
    n = len(spans)
    image = x.shape[-n:]
    lead = x.shape[:-n]
    counts = tuple(len(s) for s in spans)
    values, index = (
        xp.empty((*lead, *counts), x.dtype, like=x),
        xp.empty((*lead, *counts), xp.int64, like=x),
    )
    grid = xp.arange(math.prod(image), like=x).reshape(image)
    for place in itertools.product(*(range(c) for c in counts)):
        box = tuple(slice(*spans[d][k]) for d, k in enumerate(place))
        seen = x[(..., *box)]
        flat = seen.reshape(*lead, math.prod(seen.shape[-n:]))
        best = flat.argmax(-1)
        values[(..., *place)] = xp.take_along_axis(flat, best[..., None], -1)[..., 0]
        index[(..., *place)] = grid[box].ravel()[best]
    return values, index
