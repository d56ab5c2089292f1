"""GELU in single precision against the formula in double precision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erf

import gradviz as torch
from gradviz.ops.gelu import BLOCK, gelu, gelu_back

pytestmark = pytest.mark.usefixtures("kernels")
GRID = np.linspace(-15, 15, 3 * BLOCK + 17).astype(np.float32)


def exact(x):
    x = x.astype(np.float64)
    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


def slope(x):
    x = x.astype(np.float64)
    return 0.5 * (1 + erf(x / np.sqrt(2))) + x * np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-20, 1e4, 1e37])
def test_values(size):
    x = GRID * np.float32(size)
    allowed = 2e-7 + 1.5e-7 * np.abs(x)
    assert (np.abs(gelu(x) - exact(x)) <= allowed).all()
    assert np.abs(gelu_back(np.ones_like(x), x) - slope(x)).max() < 5e-7


def test_small_numbers_keep_their_digits():
    x = np.float32([1e-30, -3e-12, 2e-6])
    np.testing.assert_allclose(gelu(x), exact(x), rtol=1e-6)


def test_infinity_and_nan():
    x = np.float32([np.nan, np.inf, -np.inf, 3e38, -3e38])
    found = gelu(x)
    assert np.isnan(found[0]) and found[1] == np.inf and np.isnan(found[2])
    assert found[3] == x[3] and found[4] == 0
    back = gelu_back(np.ones_like(x), x)
    assert np.isnan(back[:3]).all() and back[3] == 1 and back[4] == 0


@pytest.mark.parametrize(("kind", "digits"), [("float64", 15), ("float32", 6), ("float16", 3)])
def test_layouts_and_dtypes(kind, digits):
    x = np.random.default_rng(0).normal(size=(40, 30)).astype(kind).T
    t = torch.from_numpy(x.copy("K")).requires_grad_()
    out = torch.nn.functional.gelu(t)
    out.sum().backward()
    assert out.numpy(force=True).dtype == kind
    np.testing.assert_allclose(out.numpy(force=True), exact(x), atol=10.0**-digits)
    np.testing.assert_allclose(t.grad.numpy(), slope(x), atol=3 * 10.0**-digits)


def test_no_elements():
    empty = np.empty((0, 3), np.float32)
    assert gelu(empty).shape == gelu_back(empty, empty).shape == (0, 3)
