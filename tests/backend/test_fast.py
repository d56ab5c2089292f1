"""The choice of numba's kernels, and those that have no NumPy form of their own."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gradviz as torch
from gradviz.backend import fast

NAN, INF = np.nan, np.inf


@pytest.fixture
def compiled(monkeypatch):
    pytest.importorskip("numba", reason="numba (the extra fast) is not installed")
    from gradviz.backend import compiled

    monkeypatch.setattr(fast, "_kernels", compiled)
    return compiled


def test_kernels_are_for_large_float32_arrays_in_order(monkeypatch):
    monkeypatch.setattr(fast, "_kernels", "the kernels")
    large = np.zeros((200, 200), np.float32)
    assert fast.kernels_for(large, large) == "the kernels"
    fixed = large.copy()
    fixed.flags.writeable = False
    for other in (large.astype(np.float64), large.astype(np.float16), large[::2], large.T, fixed):
        assert fast.kernels_for(large, other) is None
    assert fast.kernels_for(large[:10]) is None


def test_they_can_be_turned_off(monkeypatch):
    monkeypatch.setattr(fast, "_kernels", fast._UNKNOWN)
    monkeypatch.setenv("GRADVIZ_FAST", "0")
    assert fast.kernels_for(np.zeros(1 << 20, np.float32)) is None


def test_numba_is_not_imported_before_a_large_array_comes():
    code = (
        "import sys, gradviz as torch\n"
        "x = torch.randn(10, 10, requires_grad=True)\n"
        "torch.softmax(x, -1).sum().backward()\n"
        "print('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_exp(compiled):
    x = np.linspace(-110, 100, 300_001).astype(np.float32)
    x[:8] = [NAN, INF, -INF, 0, -0.0, 88.72283, 88.7229, 3e38]
    found = fast.elementwise("exp", x)
    with np.errstate(all="ignore"):
        exact = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(found, exact, rtol=5e-7, atol=1e-44)


def test_tanh(compiled):
    x = np.linspace(-30, 30, 300_001).astype(np.float32)
    x[:6] = [NAN, INF, -INF, 0, 1e-30, -3e38]
    found = fast.elementwise("tanh", x)
    assert not (np.abs(found) > 1).any()
    np.testing.assert_allclose(found, np.tanh(x.astype(np.float64)), rtol=5e-7)


def parameters(seed):
    random = np.random.default_rng(seed)
    return torch.nn.Parameter(torch.from_numpy(random.normal(size=(300, 70)).astype(np.float32)))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {}),
        ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        ("SGD", {"maximize": True}),
        ("Adam", {}),
        ("Adam", {"weight_decay": 0.1, "maximize": True}),
        ("Adam", {"amsgrad": True}),
        ("AdamW", {"weight_decay": 0.1}),
    ],
    ids=str,
)
def test_optimizers_take_the_same_steps(compiled, monkeypatch, name, options):
    found = []
    for kernels in (compiled, None):
        monkeypatch.setattr(fast, "_kernels", kernels)
        p = parameters(0)
        optimizer = getattr(torch.optim, name)([p], lr=0.01, **options)
        for k in range(4):
            p.grad = parameters(k).detach() * 0.1
            version = p._version
            optimizer.step()
            assert p._version > version
        found.append(p.detach().numpy())
    np.testing.assert_allclose(*found, rtol=2e-6, atol=2e-7)
