"""Kernels over rows against plain formulas in double precision."""

from __future__ import annotations

import numpy as np
import pytest

from gradviz.ops import rows

pytestmark = pytest.mark.usefixtures("kernels")
SHAPES = [(1, 1), (5, 7), (3, 4, 64), (300, 1000), (2, 70_000), (700, 3)]
SPREADS = [(1, 0), (30, 0), (1, 500), (1e-3, -40), (1e18, 0)]
NAN, INF = np.nan, np.inf
ODD = [
    [NAN, 1, 2],
    [INF, 1, 2],
    [-INF, 1, 2],
    [-INF, -INF, -INF],
    [1.5e38, 1, -1.5e38],
    [-200, -201, -202],
    [200, 201, 202],
    [0, 0, 0],
]


def numbers(shape, spread, kind=np.float32, seed=0):
    size, middle = spread
    return (np.random.default_rng(seed).normal(size=shape) * size + middle).astype(kind)


def near(ours, exact, digits, loss=1.0):
    """Within ``digits`` of the largest element; ``loss``: how much the formula itself loses."""
    ours = np.asarray(ours, np.float64)
    assert ours.shape == exact.shape
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(exact))
    finite = np.abs(exact[np.isfinite(exact)])
    largest = max(1.0, finite.max(initial=0))
    with np.errstate(invalid="ignore"):
        same = (np.abs(ours - exact) <= 10.0**-digits * loss * largest) | (ours == exact)
    assert (same | np.isnan(exact)).all(), np.abs(ours - exact)[~same][:5]


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def log_softmax(x):
    shifted = x - x.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_softmax(shape, spread):
    x = numbers(shape, spread)
    exact = softmax(x.astype(np.float64))
    g = numbers(shape, (1, 0), seed=1)
    near(rows.softmax(x), exact, 6)
    back = exact * (g - (g * exact).sum(-1, keepdims=True))
    near(rows.softmax_back(g, exact.astype(np.float32)), back, 6)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("spread", SPREADS, ids=str)
def test_log_softmax(shape, spread):
    x = numbers(shape, spread)
    exact = log_softmax(x.astype(np.float64))
    g = numbers(shape, (1, 0), seed=1)
    near(rows.log_softmax(x), exact, 6, 1 + abs(spread[1]))
    back = g - np.exp(exact) * g.sum(-1, keepdims=True, dtype=np.float64)
    near(rows.log_softmax_back(g, exact.astype(np.float32)), back, 5)


@pytest.mark.parametrize("row", ODD, ids=str)
def test_odd_rows_are_their_own_affair(row):
    """NaN, infinity and huge numbers give what the formula gives, and nothing in other rows."""
    x = np.array([[1, 2, 3], row, [3, 2, 1]], np.float32)
    with np.errstate(all="ignore"):
        near(rows.softmax(x), softmax(x.astype(np.float64)), 6)
        near(rows.log_softmax(x), log_softmax(x.astype(np.float64)), 6)
        near(rows.standardise(x, 1e-5, None, None)[0][::2], standardised(x[::2])[0], 5)


@pytest.mark.parametrize("kind", ["float64", "float16"])
def test_dtypes(kind):
    x = numbers((40, 30), (3, 0), kind)
    digits = 14 if kind == "float64" else 3
    for ours, plain in ((rows.softmax, softmax), (rows.log_softmax, log_softmax)):
        found = ours(x)
        assert found.dtype == x.dtype
        near(found, plain(x.astype(np.float64)), digits, 3)


def test_rows_that_are_not_contiguous():
    x = numbers((64, 50), (3, 0)).T
    near(rows.softmax(x), softmax(x.astype(np.float64)), 6)


# ---------------------------------------------------------------- standardisation
def standardised(x, eps=1e-5):
    mean = x.mean(-1, keepdims=True, dtype=np.float64)
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    return (x - mean) * scale, mean, scale


MEANS = [(1, 0), (1, 3), (1, 1000), (1e-3, 5), (1e6, 1e6)]


@pytest.mark.parametrize("shape", [(5, 7), (300, 1000), (2, 70_000), (700, 3)], ids=str)
@pytest.mark.parametrize("spread", MEANS, ids=str)
@pytest.mark.parametrize("affine", [False, True])
def test_standardise(shape, spread, affine):
    x = numbers(shape, spread)
    weight, bias = numbers((2, shape[1]), (1, 1), seed=1) if affine else (None, None)
    xhat, mean, scale = standardised(x)
    exact = xhat * weight + bias if affine else xhat
    out, m, r = rows.standardise(x, 1e-5, weight, bias)
    far = max(1.0, abs(spread[1]) / spread[0])
    near(out, exact, 5, far)
    near(m, mean[:, 0], 6, 1)
    near(r / scale[:, 0], np.ones(len(x)), 5, far)

    g = numbers(shape, (1, 0), seed=2).astype(np.float64)
    gx = g * weight if affine else g
    plain = scale * (gx - gx.mean(-1, keepdims=True) - xhat * (gx * xhat).mean(-1, keepdims=True))
    stats = mean[:, 0].astype(np.float32), scale[:, 0].astype(np.float32)
    found = rows.standardise_back(g.astype(np.float32), x, *stats, weight, (True, True, True))
    for ours, exact in zip(found, (plain, (g * xhat).sum(0), g.sum(0)), strict=True):
        near(ours, exact, 4, far)


@pytest.mark.parametrize("value", [0.0, 1e10, -3e30, 0.1])
def test_constant_rows_become_zero(value):
    x = np.full((4, 1000), value, np.float32)
    x[1] = np.arange(1000)
    out = rows.standardise(x, 1e-5, None, None)[0]
    near(out[[0, 2, 3]], np.zeros((3, 1000)), 3)
    near(out[1], standardised(x[1:2])[0][0], 5)


def test_an_infinite_weight_stays_in_its_column():
    x = numbers((6, 9), (1, 0))
    weight = np.ones(9, np.float32)
    weight[4] = np.inf
    out = rows.standardise(x, 1e-5, weight, np.ones(9, np.float32))[0]
    assert np.isinf(out[:, 4]).all() and np.isfinite(np.delete(out, 4, 1)).all()


def test_no_rows():
    empty = np.empty((0, 5), np.float32)
    out, mean, scale = rows.standardise(empty, 1e-5, None, None)
    assert out.shape == (0, 5) and mean.shape == scale.shape == (0,)
    back = rows.standardise_back(empty, empty, mean, scale, None, (True, True, True))
    assert back[0].shape == (0, 5) and not back[1].any() and not back[2].any()
