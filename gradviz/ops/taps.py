"""Images as columns: one row of a matrix holds what one tap of a kernel sees, so that a convolution
is a product of matrices. Images are padded and laid out channel first.

With stride 1 a tap is a shift of the flat image, so a row is copied in long pieces; the places
where a piece runs over the edge are dropped afterwards (``Shifted``). Other strides pick elements
one by one (``Strided``).
"""

from __future__ import annotations

import itertools
import math

from ..backend import xp

BLOCK = 1 << 19  # elements of columns at once


class Room:
    """Arrays reused from block to block."""

    def __init__(self):
        self._kept = {}
        self._blank = {}

    def get(self, name, shape, like):
        """An array of ``shape``, its values undefined, of the kind of ``like``."""
        found = self._kept.get(name)
        size = math.prod(shape)
        if found is None or found.size < size:
            found = self._kept[name] = xp.empty(size, like.dtype, like=like)
        return found[:size].reshape(shape)

    def blank(self, name, shape, like):
        """Zeros; what a caller wrote to an array of the same name and shape is still there."""
        found = self._blank.get(name)
        if found is None or found.shape != shape:
            found = self._blank[name] = xp.zeros(shape, like.dtype, like=like)
        return found


def _sizes(image, kernel, stride, padding, dilation):
    """Sizes of the padded image and of the output."""
    padded = tuple(n + 2 * p for n, p in zip(image, padding, strict=True))
    out = tuple(
        (n - d * (k - 1) - 1) // s + 1
        for n, k, s, d in zip(padded, kernel, stride, dilation, strict=True)
    )
    return padded, out


def _places(kernel, dilation):
    return [
        tuple(i * d for i, d in zip(tap, dilation, strict=True))
        for tap in itertools.product(*(range(k) for k in kernel))
    ]


class Strided:
    """Any stride: a window of the image for every tap."""

    def __init__(self, image, kernel, stride, padding, dilation):
        self.kernel, self.stride = kernel, stride
        self.padded, self.out = _sizes(image, kernel, stride, padding, dilation)
        self._taps = _places(kernel, dilation)
        self._inside = (..., *(slice(p, p + n) for p, n in zip(padding, image, strict=True)))
        self.width = math.prod(self.out)

    def images_at_once(self, channels):
        """How many images make a block."""
        return max(1, BLOCK // max(1, channels * len(self._taps) * self.width))

    def _window(self, tap):
        return (
            ...,
            *(
                slice(i, i + s * (n - 1) + 1, s)
                for i, s, n in zip(tap, self.stride, self.out, strict=True)
            ),
        )

    def columns(self, x, room, ones=0):
        """Images (n, c, …) as (c · taps, n · width), and below ``ones`` (0 or 1) rows of 1."""
        n, c = x.shape[:2]
        padded = room.blank("pad", (c, n, *self.padded), x)
        padded[self._inside] = x.swapaxes(0, 1)
        out, rows = _columns_for(x, len(self._taps), n * self.width, room, ones)
        rows = rows.reshape(c, len(self._taps), n, *self.out)
        for t, tap in enumerate(self._taps):
            rows[:, t] = padded[self._window(tap)]
        return out

    def uncolumns(self, columns, out, room):
        """Write to images ``out`` the sum of what every tap gives back; the other way round of
        ``columns``.
        """
        n, c = out.shape[:2]
        padded = room.get("pad", (c, n, *self.padded), columns)
        padded[...] = 0
        rows = columns.reshape(c, len(self._taps), n, *self.out)
        for t, tap in enumerate(self._taps):
            padded[self._window(tap)] += rows[:, t]
        out[...] = padded[self._inside].swapaxes(0, 1)

    def matrix(self, weight, bias=None):
        """The kernel (o, c, …) as (o, c · taps), and ``bias`` as its last column."""
        return _with_column(weight.reshape(weight.shape[0], -1), bias)

    def unmatrix(self, product):
        """A matrix (c · taps, o) as a kernel."""
        return product.T.reshape(product.shape[1], -1, *self.kernel)

    def narrow(self, wide, out):
        """Write a product (o, n · width) to outputs (n, o, …)."""
        n, o = out.shape[:2]
        out[...] = wide.reshape(o, n, *self.out).swapaxes(0, 1)

    def widen(self, g, room):
        """Outputs (n, o, …) as (o, n · width)."""
        n, o = g.shape[:2]
        out = room.get("wide", (o, n, *self.out), g)
        out[...] = g.swapaxes(0, 1)
        return out.reshape(o, -1)


def _with_column(matrix, column):
    if column is None:
        return matrix
    return xp.concatenate([matrix, column.astype(matrix.dtype, copy=False)[:, None]], 1)


def _columns_for(x, taps, width, room, ones):
    """An array for columns, and the part of it that is for the taps."""
    height = x.shape[1] * taps
    out = room.get("columns", (height + ones, width), x)
    out[height:] = 1
    return out, out[:height]


class Shifted:
    """Stride 1. Images lie line by line (a line: all dimensions but the first of an image), and
    ``rows`` lines of output are computed as if each were a channel of its own: the kernel becomes
    taller by ``rows`` − 1 and stands there ``rows`` times, each time one line lower. That makes
    more of a product, but one of a better shape, and fewer columns. For it lines are dealt out to
    ``rows`` stacks, so that a tap still is a shift. With ``gaps`` a column has places for all lines
    of the padded image, also those below the output: more to multiply, but longer pieces, which
    adding to needs more than copying.
    """

    def __init__(self, image, kernel, padding, dilation, rows, gaps):
        self.image, self.kernel, self.padding, self.rows = image, kernel, padding, rows
        self.padded, self.out = _sizes(image, kernel, (1,) * len(image), padding, dilation)
        line = math.prod(self.padded[1:])
        self.lines = -(-self.out[0] // rows)  # of output, in a stack
        heights = (
            [d * dilation[0] for d in range(kernel[0])]
            if rows == 1
            else range(rows - 1 + kernel[0])
        )
        self.stored = self.lines + heights[-1] // rows  # of the padded image, in a stack
        if gaps:
            self.lines = self.stored
        self.area, self.width = self.stored * line, self.lines * line
        inner = [self._shift(tap) for tap in _places(kernel[1:], dilation[1:])]
        self.height, self.inner = len(heights), len(inner)
        self._taps = [(h % rows, h // rows * line + i) for h in heights for i in inner]
        self.spare = max(shift for _, shift in self._taps)
        self._inside = tuple(slice(p, p + n) for p, n in zip(padding[1:], image[1:], strict=True))
        self._seen = tuple(slice(0, n) for n in self.out[1:])

    def _shift(self, tap):
        """Distance of a tap from the first one in a line."""
        found = 0
        for i, n in zip(tap, self.padded[1:], strict=True):
            found = found * n + i
        return found

    def images_at_once(self, channels):
        """How many images make a block."""
        return max(1, BLOCK // max(1, channels * len(self._taps) * self.width))

    def _stacks(self, x):
        """For every stack: the lines of images (n, c, …) that lie in it, and where there."""
        top = self.padding[0]
        for k in range(self.rows):
            first = (k - top) % self.rows
            lines = x[:, :, first :: self.rows]
            start = (first + top) // self.rows
            yield (
                (slice(None), k, slice(None), slice(start, start + lines.shape[2]), *self._inside),
                lines.swapaxes(0, 1),
            )

    def _whole(self, flat, n):
        """Flat stacks (c, rows, n · area + spare) as images."""
        inside = flat[:, :, : n * self.area]
        return inside.reshape(*flat.shape[:2], n, self.stored, *self.padded[1:])

    def _seen_by(self, flat, tap, n):
        """What a tap sees of flat stacks: (c, n, width), or (c, n · width) with gaps."""
        stack, shift = tap
        rows = flat[:, stack, shift : shift + n * self.area]
        if self.width == self.area:
            return rows
        return rows.reshape(flat.shape[0], n, self.area)[:, :, : self.width]

    def columns(self, x, room, ones=0):
        """Images (n, c, …) as (c · taps, n · width), and below ``ones`` (0 or 1) rows of 1."""
        n, c = x.shape[:2]
        flat = room.blank("pad", (c, self.rows, n * self.area + self.spare), x)
        whole = self._whole(flat, n)
        for place, lines in self._stacks(x):
            whole[place] = lines
        out, rows = _columns_for(x, len(self._taps), n * self.width, room, ones)
        rows = rows.reshape(c, len(self._taps), n * self.width)
        for t, tap in enumerate(self._taps):
            seen = self._seen_by(flat, tap, n)
            rows[:, t].reshape(seen.shape)[...] = seen
        return out

    def uncolumns(self, columns, out, room):
        """Write to images ``out`` the sum of what every tap gives back; the other way round of
        ``columns``.
        """
        n, c = out.shape[:2]
        flat = room.get("pad", (c, self.rows, n * self.area + self.spare), columns)
        flat[...] = 0
        rows = columns.reshape(c, len(self._taps), -1)
        for t, tap in enumerate(self._taps):
            seen = self._seen_by(flat, tap, n)
            seen += rows[:, t].reshape(seen.shape)
        whole = self._whole(flat, n)
        for place, lines in self._stacks(out):
            lines[...] = whole[place]

    def matrix(self, weight, bias=None):
        """The kernel (o, c, …) as (o · rows, c · taps), and ``bias`` as its last column."""
        o, c, k = weight.shape[:3]
        if self.rows == 1:
            return _with_column(weight.reshape(o, -1), bias)
        weight = weight.reshape(o, c, k, self.inner)
        out = xp.zeros((o, self.rows, c, self.height, self.inner), weight.dtype, like=weight)
        for r in range(self.rows):
            out[:, r, :, r : r + k] = weight
        shift = None if bias is None else bias.repeat(self.rows)
        return _with_column(out.reshape(o * self.rows, -1), shift)

    def unmatrix(self, product):
        """A matrix (c · taps, o · rows) as a kernel: what its ``rows`` copies got, added."""
        o = product.shape[1] // self.rows
        parts = product.reshape(-1, self.height, self.inner, o, self.rows)
        k = self.kernel[0]
        out = parts[:, :k, :, :, 0].copy()
        for r in range(1, self.rows):
            out += parts[:, r : r + k, :, :, r]
        return xp.moveaxis(out, -1, 0).reshape(o, -1, *self.kernel)

    def narrow(self, wide, out):
        """Write a product (o · rows, n · width) to outputs (n, o, …)."""
        n, o = out.shape[:2]
        whole = wide.reshape(o, self.rows, n, self.lines, *self.padded[1:])
        for r in range(self.rows):
            target = out[:, :, r :: self.rows]
            found = whole[:, r, :, : target.shape[2], *self._seen]
            target[...] = found.swapaxes(0, 1)

    def widen(self, g, room):
        """Outputs (n, o, …) as (o · rows, n · width), zero where a piece runs over the edge."""
        n, o = g.shape[:2]
        out = room.blank("wide", (o, self.rows, n, self.lines, *self.padded[1:]), g)
        for r in range(self.rows):
            lines = g[:, :, r :: self.rows]
            out[:, r, :, : lines.shape[2], *self._seen] = lines.swapaxes(0, 1)
        return out.reshape(o * self.rows, -1)


# ---------------------------------------------------------------- which one
COPY, ADD = 0.12, 0.25  # nanoseconds an element of columns, measured on one core with AVX-512


def product_cost(channels, kernel, outputs, height, rows, move=COPY):
    """Nanoseconds a place of the output, roughly: the product runs at full speed from about 20
    outputs at once.
    """
    columns = channels * (kernel[0] + rows - 1) * math.prod(kernel[1:])
    speed = min(88.0, 4.7 * outputs * rows)  # floating-point operations in a nanosecond
    waste = -(-height // rows) / height
    return waste * columns * (move + 2 * outputs * rows / speed)


def best_rows(channels, kernel, outputs, height):
    """How many lines of output to compute at once."""
    fitting = [r for r in (1, 2, 3, 4, 6, 8) if r <= height] or [1]
    return min(fitting, key=lambda r: product_cost(channels, kernel, outputs, max(height, 1), r))
