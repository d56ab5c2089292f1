"""Kernels over the rows of a matrix: softmax, standardisation and their derivatives.

They go a block of rows at a time, so that what is read again is still in cache. Row sums are
products with a vector, and a column is spread over a row by a product of inner size 2: NumPy's own
loops start anew in every row, BLAS does not.
"""

from __future__ import annotations

from ..backend import contiguous, scratch, xp
from ..backend.fast import kernels_for
from . import fused

ndarray = xp.ndarray
BLOCK = 1 << 18  # elements
quiet = xp.errstate(all="ignore")
WIDE = 256  # columns from which a product spreads a column faster than a broadcast


def row_blocks(rows):
    """Slices of as many rows as stay in cache."""
    step = max(1, BLOCK // max(1, rows.shape[1]))
    for start in range(0, rows.shape[0], step):
        yield slice(start, start + step)


def as_rows(x, width):
    """``x`` as a C-contiguous matrix (rows, width); half precision in float32."""
    if x.dtype.itemsize == 2:
        x = x.astype(xp.float32)
    return contiguous(x).reshape(x.size // width if width else 0, width)


def _ones(rows):
    return xp.ones_like(rows, shape=(rows.shape[1],))


class Spread:
    """Outer products of columns with rows that are given once: ``columns`` (n, k) times the k rows.
    A row is a vector, or a number for a constant row.
    """

    def __init__(self, like, *rows):
        self._rows = xp.zeros_like(like, shape=(2, like.shape[1]))
        for k, row in enumerate(rows):
            self._rows[k] = row

    def over(self, out, first, second=0):
        """Write Σ columns ⊗ rows to ``out`` (n, width)."""
        columns = xp.empty_like(out, shape=(out.shape[0], 2))
        columns[:, 0] = first
        columns[:, 1] = second
        return xp.matmul(columns, self._rows, out=out)


def _scale_rows(spread, rows, factor, spare):
    """Multiply every row by its factor."""
    if rows.shape[1] < WIDE:
        rows *= factor[:, None]
    else:
        rows *= spread.over(spare, factor)


# ---------------------------------------------------------------- softmax
def _exponentials(part, out, ones, low, high, masked=False):
    """exp of the rows to ``out``, the sums of the rows, and what was taken off every row: its
    largest element where a sum is not between ``low`` and ``high`` (what is lost below is lost in
    the result as well), else None. ``masked``: rows of −∞ have sum 0, not NaN.
    """
    xp.exp(part, out=out)
    total = out.dot(ones)
    if total.min() > low and total.max() < high:
        return total, None
    top = xp.maximum.reduce(part, 1)
    if masked:
        top[top == -xp.inf] = 0
    xp.subtract(part, top[:, None], out=out)
    xp.exp(out, out=out)
    return out.dot(ones), top


@quiet
def softmax(x, masked=False):
    """exp x / Σ exp x along the last dimension of ``x``, which is not empty; ``masked``: 0, not
    NaN, in rows of −∞.
    """
    rows = as_rows(x, x.shape[-1])
    out = xp.empty_like(rows)
    if (fast := kernels_for(rows)) is not None:
        fast.softmax(rows, out, masked)
        return out.reshape(x.shape).astype(x.dtype, copy=False)
    ones, spread = _ones(rows), Spread(rows, 1)
    for at in row_blocks(rows):
        target = out[at]
        total, _ = _exponentials(rows[at], target, ones, 1e-3, 1e30, masked)
        if masked:
            total[total == 0] = 1
        _scale_rows(spread, target, 1 / total, scratch.like(target))
    return out.reshape(x.shape).astype(x.dtype, copy=False)


@quiet
def softmax_back(g, result):
    """result · (g − Σ g · result)."""
    p, rows = (as_rows(a, result.shape[-1]) for a in (result, g))
    out = xp.empty_like(p)
    if (fast := kernels_for(p, rows)) is not None:
        fast.softmax_back(rows, p, out)
        return out.reshape(result.shape).astype(result.dtype, copy=False)
    ones, spread = _ones(p), Spread(p, 1)
    for at in row_blocks(p):
        target, given, share = out[at], rows[at], p[at]
        product = xp.multiply(share, given, out=scratch.like(target))
        along = product.dot(ones)
        if p.shape[1] < WIDE:
            xp.subtract(given, along[:, None], out=target)
            target *= share
        else:
            spread.over(target, along)
            target *= share
            xp.subtract(product, target, out=target)
    return out.reshape(result.shape).astype(result.dtype, copy=False)


@quiet
def log_softmax(x):
    """x − log Σ exp x along the last dimension of ``x``, which is not empty."""
    rows = as_rows(x, x.shape[-1])
    out = xp.empty_like(rows)
    ones = _ones(rows)
    for at in row_blocks(rows):
        target, part = out[at], rows[at]
        total, top = _exponentials(part, target, ones, 1e-3, 1e6)
        xp.log(total, out=total)
        if top is not None:
            part = xp.subtract(part, top[:, None], out=target)
        xp.subtract(part, total[:, None], out=target)
    return out.reshape(x.shape).astype(x.dtype, copy=False)


@quiet
def log_softmax_back(g, result):
    """g − exp result · Σ g."""
    logs, rows = (as_rows(a, result.shape[-1]) for a in (result, g))
    out = xp.empty_like(logs)
    ones, spread = _ones(logs), Spread(logs, 1)
    for at in row_blocks(logs):
        target = out[at]
        xp.exp(logs[at], out=target)
        _scale_rows(spread, target, rows[at].dot(ones), scratch.like(target))
        xp.subtract(rows[at], target, out=target)
    return out.reshape(result.shape).astype(result.dtype, copy=False)


# ---------------------------------------------------------------- standardisation
@quiet
def standardise(rows, eps, weight, bias):
    """Rows with mean 0 and variance 1, times ``weight`` plus ``bias`` (None: 1 and 0); and the
    means and 1/σ of the rows.

    x · (w/σ) + (b − w · mean/σ): the variance is E x² − mean² unless the mean is so large that this
    would lose digits; then the rows are centred first.
    """
    n = rows.shape[1]
    if rows.__class__ is not ndarray:
        return fused.standardise(rows, eps, weight, bias)
    if (fast := kernels_for(rows)) is not None:
        out, mean = xp.empty_like(rows), xp.empty_like(rows, shape=(len(rows),))
        scale, factors = xp.empty_like(mean), (_filled(rows, weight, 1), _filled(rows, bias, 0))
        fast.standardise(rows, rows.dtype.type(eps), *factors, out, mean, scale)
        return out, mean, scale
    if weight is not None and not xp.isfinite(weight).all():
        out, mean, scale = standardise(rows, eps, None, None)
        out *= weight
        return out if bias is None else xp.add(out, bias, out=out), mean, scale
    out = xp.empty_like(rows)
    mean = xp.empty_like(rows, shape=(rows.shape[0],))
    scale = xp.empty_like(mean)
    average = xp.full_like(rows, 1 / max(n, 1), shape=(n,))
    weight = 1 if weight is None else weight
    factor, shift = Spread(rows, weight), Spread(rows, weight, 0 if bias is None else bias)
    for at in row_blocks(rows):
        part, target, m = rows[at], out[at], mean[at]
        part.dot(average, out=m)
        variance = xp.vecdot(part, part) * average[:1]
        variance -= m * m
        offset = m
        if not (m * m <= 4 * variance).all():
            part, offset = _centred(part, m, average), 0
            variance = xp.vecdot(part, part) * average[:1]
        variance += variance.dtype.type(eps)
        scale[at] = r = 1 / xp.sqrt(variance)
        factor.over(target, r)
        target *= part
        target += shift.over(scratch.like(target), -offset * r, 1)
    return out, mean, scale


def _filled(rows, row, value):
    """``row`` as an array of its own in the dtype of ``rows``, or one of ``value``."""
    out = xp.empty_like(rows, shape=(rows.shape[1],))
    out[:] = value if row is None else row
    return out


def _centred(part, mean, average):
    """The rows minus their means, in scratch. The mean of a row of large numbers is inexact: what
    it missed is taken off as well, and added to ``mean``.
    """
    out = xp.subtract(part, mean[:, None], out=scratch.like(part, 1))
    missed = out.dot(average)
    mean += missed
    out -= missed[:, None]
    return out


@quiet
def standardise_back(g, rows, mean, scale, weight, needs):
    """The gradients of rows, weight and bias of ``standardise``; None where not needed.

    dx = g·w/σ − x·a + c with a = (Σ g·w·x̂)/(nσ²) and c = mean·a − (Σ g·w)/(nσ).
    """
    n = rows.shape[1]
    if rows.__class__ is not ndarray:
        return fused.standardise_back(g, rows, mean, scale, weight, needs)
    if (fast := kernels_for(rows, g)) is not None:
        found = xp.empty_like(rows), _filled(rows, None, 0), _filled(rows, None, 0)
        fast.standardise_back(g, rows, mean, scale, _filled(rows, weight, 1), *found)
        return tuple(x if need else None for x, need in zip(found, needs, strict=True))
    out = xp.empty_like(rows) if needs[0] else None
    of_weight = xp.zeros_like(rows, shape=(n,)) if needs[1] else None
    of_bias = xp.zeros_like(rows, shape=(n,)) if needs[2] else None
    weight = 1 if weight is None else weight
    average = xp.full_like(rows, 1 / max(n, 1), shape=(n,))
    average *= weight
    by_weight, plain = Spread(rows, weight), Spread(rows, 1)
    ones = xp.ones_like(rows, shape=(rows.shape[0],))
    for at in row_blocks(rows):
        part, given, m, r = rows[at], g[at], mean[at], scale[at]
        if not (m * m * r * r <= 4).all():
            part = xp.subtract(part, m[:, None], out=scratch.like(part, 1))
            m = xp.zeros_like(m)
        product = xp.multiply(given, part, out=scratch.like(part))
        if of_bias is not None:
            of_bias += ones[: len(given)].dot(given)
        if of_weight is not None:
            of_weight += r.dot(product) - (m * r).dot(given)
        if out is not None:
            target = out[at]
            along = given.dot(average)
            a = r * r * r * (product.dot(average) - m * along)
            by_weight.over(target, r)
            target *= given
            target -= xp.multiply(plain.over(product, a), part, out=product)
            target += plain.over(product, m * a - r * along)
    return out, of_weight, of_bias
