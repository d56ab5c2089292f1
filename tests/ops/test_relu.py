"""The gradient of relu at every size and dtype: what passes, passes as it is; elsewhere +0."""

import numpy as np
import pytest

import gradviz as torch

ODD = {
    "plain": [],
    "minus zero": [-0.0],
    "nan": [float("nan")],
    "nan of a difference of infinities": [-float("nan")],
    "infinite": [float("inf"), -float("inf")],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("size", [3, 1000, 1025, 5000, 40_000])
@pytest.mark.parametrize("odd", ODD)
def test_what_passes(dtype, size, odd):
    draw = np.random.default_rng(size)
    x, g = draw.standard_normal(size), draw.standard_normal(size)
    for k, value in enumerate(ODD[odd]):
        x[k::7] = value
        g[k::5] = float("inf")
    x, g = (torch.tensor(a).to(getattr(torch, dtype)) for a in (x, g))
    x.requires_grad_().relu().backward(g)
    values, came, found = (t.detach().double().numpy() for t in (x, g, x.grad))
    wanted = np.where(values <= 0, 0.0, came)
    np.testing.assert_array_equal(found, wanted)
    assert (np.signbit(found) == np.signbit(wanted)).all()


def test_other_layouts():
    x = torch.randn(70, 60).t().requires_grad_()
    g = torch.randn(60, 70)
    (found,) = torch.autograd.grad(x.relu(), x, g)
    assert (found == torch.where(x > 0, g, 0)).all()
