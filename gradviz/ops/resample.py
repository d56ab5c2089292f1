"""Images on other grids: interpolation between pixels and sampling at given places."""

from __future__ import annotations

import math

from ..backend import beside, contiguous, xp
from ..engine.operation import RAW
from .declare import declare
from .layout import channels_kept


# ---------------------------------------------------------------- resizing is a matrix a dimension
def _source(count, size, align_corners, scale):
    """Where each of ``count`` new pixels lies among ``size`` old ones."""
    at = xp.arange(count, dtype=xp.float64)
    if align_corners:
        return at * ((size - 1) / (count - 1)) if count > 1 else at * 0
    step = 1.0 / scale if scale is not None and scale > 0 else size / count
    return (at + 0.5) * step - 0.5


def linear_matrix(count, size, align_corners, scale):
    """(count, size): weights of the two neighbours."""
    at = _source(count, size, align_corners, scale)
    at = at if align_corners else xp.maximum(at, 0)
    low = xp.minimum(xp.floor(at).astype(int), size - 1)
    part = xp.clip(at - low, 0, 1)
    out = xp.zeros((count, size))
    rows = xp.arange(count)
    xp.add.at(out, (rows, low), 1 - part)
    xp.add.at(out, (rows, xp.minimum(low + 1, size - 1)), part)
    return out


def nearest_matrix(count, size, exact, scale):
    """(count, size): a single 1 in each row."""
    step = 1.0 / scale if scale is not None and scale > 0 else size / count
    at = xp.arange(count) + (0.5 if exact else 0.0)
    chosen = xp.minimum(xp.floor(xp.float32(at) * xp.float32(step)).astype(int), size - 1)
    out = xp.zeros((count, size))
    out[xp.arange(count), chosen] = 1
    return out


def _near(d, a=-0.75):
    return ((a + 2) * d - (a + 3)) * d * d + 1


def _far(d, a=-0.75):
    return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a


def _cubic(d, a=-0.75):
    d = xp.abs(d)
    return xp.where(d <= 1, _near(d, a), xp.where(d < 2, _far(d, a), 0))


def cubic_matrix(count, size, align_corners, scale):
    """(count, size): weights of the four neighbours."""
    at = _source(count, size, align_corners, scale)
    low = xp.floor(at).astype(int)
    out = xp.zeros((count, size))
    rows = xp.arange(count)
    for k in range(-1, 3):
        xp.add.at(out, (rows, xp.clip(low + k, 0, size - 1)), _cubic(at - (low + k)))
    return out


def _support(count, size, align_corners, scale, reach, kernel):
    """(count, size): an antialiasing kernel stretched over as many old pixels as a new one
    covers."""
    step = (
        (size - 1) / (count - 1)
        if align_corners and count > 1
        else 1.0 / scale
        if scale
        else size / count
    )
    stretch = max(step, 1.0)
    out = xp.zeros((count, size))
    for k in range(count):
        centre = step * (k + 0.5)
        first = max(int(centre - reach * stretch + 0.5), 0)
        last = min(int(centre + reach * stretch + 0.5), size)
        weights = kernel((xp.arange(first, last) - centre + 0.5) / stretch)
        out[k, first:last] = weights / weights.sum()
    return out


def antialias_matrix(count, size, align_corners, scale, cubic):
    """``linear_matrix`` or ``cubic_matrix`` with antialiasing."""
    if cubic:
        return _support(count, size, align_corners, scale, 2, lambda d: _cubic(d, -0.5))
    return _support(count, size, align_corners, scale, 1, lambda d: xp.maximum(1 - xp.abs(d), 0))


def _apply(x, matrices):
    """One product a dimension; half precision and bytes by way of float32, rounded once."""
    n, kind = len(matrices), x.dtype
    short = kind.itemsize < 4
    x = x.astype(xp.float32) if short else x
    for k, m in enumerate(matrices):
        axis = x.ndim - n + k
        m = beside(m.T.astype(x.dtype), x)
        x = xp.moveaxis(xp.matmul(xp.moveaxis(x, axis, -1), m), -1, axis)
    if kind.kind == "u":
        x = xp.rint(x).clip(0, 255)
    return contiguous(x.astype(kind, copy=False))


def _scale(node, k):
    """The factor that was asked for along a dimension, None where a size was."""
    found = node.at[1][0][k]
    return None if found is None else float(found)


def _resizing(name, node):
    axes = [""] if name[-2] == "1" else ["_d", "_h", "_w"][-int(name[-2]) :]
    also = {f"scales{axis}": lambda node, k=k: _scale(node, k) for k, axis in enumerate(axes)}
    also["output_size"] = lambda node: tuple(len(m) for m in node.at[0])
    if "earest" not in name:
        also["align_corners"] = lambda node: node.at[1][1]
    declare(
        f"{name}_back",
        lambda g, matrices, asked: _apply(g, [m.T for m in matrices]),
        "self",
        "matrices asked",
        node=node.replace("Backward0", "BackwardBackward0"),
        hidden=("matrices", "asked"),
        also=also,
        self=lambda F, g, matrices, asked: getattr(F, name)(g, matrices, asked),
    )
    return declare(
        name,
        channels_kept(lambda x, matrices, asked: _apply(x, matrices)),
        "self",
        "matrices asked",
        node=node,
        formula="g, weighted back to the old pixels",
        hidden=("matrices", "asked"),
        also=also,
        self=lambda F, g, self_shape, matrices, asked: getattr(F, f"{name}_back")(
            g, matrices, asked
        ),
    )


RESIZE = {
    (mode, n): _resizing(
        f"upsample_{word.lower()}{n}d",
        f"Upsample{word}{'' if word.endswith('Aa') else f'{n}D'}Backward0",
    )
    for mode, word, dims in (
        ("nearest", "Nearest", (1, 2, 3)),
        ("nearest-exact", "NearestExact", (1, 2, 3)),
        ("linear", "Linear", (1,)),
        ("bilinear", "Bilinear", (2,)),
        ("bicubic", "Bicubic", (2,)),
        ("trilinear", "Trilinear", (3,)),
        ("bilinear-aa", "Bilinear2DAa", (2,)),
        ("bicubic-aa", "Bicubic2DAa", (2,)),
    )
    for n in dims
}


# ---------------------------------------------------------------- sampling at given places
def pixels(grid, size, align_corners):
    """Coordinates in pixels of places in [−1, 1]; what is outside stays outside."""
    return (grid + 1) / 2 * (size - 1) if align_corners else ((grid + 1) * size - 1) / 2


def inside(F, at, size, align_corners, padding):
    """Coordinates in pixels, brought inside as ``padding`` says."""
    if padding == "border":
        return F.clamp(at, 0, size - 1)
    if padding == "reflection":
        low, high = (0, 2 * (size - 1)) if align_corners else (-1, 2 * size - 1)
        at = _mirrored(F, at, low, high)
        return F.clamp(at, 0, size - 1)
    return at


def _mirrored(F, at, low, high):
    """Reflected between low/2 and high/2 as often as needed."""
    if low == high:
        return at * 0
    start, span = low / 2, (high - low) / 2
    d = F.abs(at - start)
    turns = xp.floor((d if F is RAW else d._a) / span)
    rest = d - F.constant(turns * d.dtype.type(span)) if F is RAW else d - F.constant(turns * span)
    odd = F.constant(turns % 2 == 1)
    return F.where(odd, span - rest, rest) + start


def cubic_weights(part):
    """Weights of the four pixels around a place that lies ``part`` after the second one."""
    return _far(part + 1), _near(part), _near(1 - part), _far(2 - part)


def corners(at, dims):
    """For every corner around a place: which, as a tuple of 0 and 1."""
    for k in range(2**dims):
        yield tuple((k >> (dims - 1 - d)) & 1 for d in range(dims))


def flat_index(indices, image):
    """Flat pixel numbers and which of them lie inside."""
    flat, inside = 0, True
    for i, n in zip(indices, image, strict=True):
        inside = inside & (i >= 0) & (i < n)
        flat = flat * n + xp.clip(i, 0, n - 1)
    return flat, inside


def area(image):
    """Pixels of an image."""
    return math.prod(image)
