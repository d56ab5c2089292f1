"""The kernels of a GPU, read by NumPy through the strict double, against the CPU's own."""

import numpy as np
import pytest

import gradviz as torch
from gradviz.backend import twin

F = torch.nn.functional
CHAINS = {
    "softmax": lambda x: F.softmax(x, 1),
    "softmax over rows": lambda x: F.softmax(x, 0),
    "log-softmax": lambda x: F.log_softmax(x, -1),
    "cross-entropy": lambda x: F.cross_entropy(x, x.detach().argmax(1) * 0 + 2),
    "GELU": F.gelu,
    "layer norm": lambda x: F.layer_norm(x, (7,)),
}


@pytest.fixture
def kernels(monkeypatch):
    """Names of the kernels that were run on a double."""
    with twin.installed() as double:
        ran, fused = [], double.fused

        def noted(kernel):
            ran.append(kernel.__name__)
            return fused(kernel)

        monkeypatch.setattr(double, "fused", noted)
        yield ran


def run(chain, values, device, dtype):
    x = torch.tensor(values, dtype=dtype).to(device).requires_grad_()
    y = chain(x)
    came = np.random.default_rng(1).normal(size=y.shape).astype(np.float16)
    y.backward(torch.tensor(came, dtype=dtype).to(device))
    return y.detach(), x.grad


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", CHAINS)
def test_as_on_the_cpu(name, dtype, kernels):
    values = np.random.default_rng(0).normal(0, 3, (5, 7))
    values[0, 0] = 60.0
    dtype = getattr(torch, dtype)
    there = run(CHAINS[name], values, "cuda", dtype)
    assert torch.cuda.synchronizing_calls() == {}
    assert len(kernels) >= 2, "no kernel was run"
    found = [t.double().numpy(force=True) for t in there]
    # with halves the CPU rounds in between, as PyTorch's does; a GPU gives the rounded exact result
    values = torch.tensor(values, dtype=dtype).numpy()
    wide = torch.float64 if dtype is torch.float16 else dtype
    expected = [t.double().numpy() for t in run(CHAINS[name], values, "cpu", wide)]
    close = {"float32": 3e-6, "float64": 1e-13, "float16": 2e-3}[str(dtype)[6:]]
    for a, b, t in zip(found, expected, there, strict=True):
        assert t.dtype is dtype
        np.testing.assert_allclose(a, b, rtol=close, atol=close)


def test_affine_layer_norm(kernels):
    torch.manual_seed(0)
    here = torch.nn.LayerNorm(7)
    with torch.no_grad():
        here.weight.normal_()
        here.bias.normal_()
    there = torch.nn.LayerNorm(7).cuda()
    there.load_state_dict(here.state_dict())
    x = torch.randn(4, 7)
    here(x).sin().sum().backward()
    there(x.cuda()).sin().sum().backward()
    assert "_affine" in kernels
    for a, b in zip(here.parameters(), there.parameters(), strict=True):
        np.testing.assert_allclose(b.grad.numpy(force=True), a.grad.numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"amsgrad": True}, {"weight_decay": 0.1}])
def test_adam(options, kernels):
    ends = []
    for device in ("cpu", "cuda"):
        w = torch.linspace(-1, 1, 9).to(device).requires_grad_()
        optimizer = torch.optim.Adam([w], lr=0.1, **options)
        for k in range(4):
            optimizer.zero_grad()
            (w * w * (k + 1)).sum().backward()
            optimizer.step()
        ends.append(w.detach())
    assert kernels == ["_adam_largest" if options.get("amsgrad") else "_adam"] * 4
    np.testing.assert_allclose(ends[1].numpy(force=True), ends[0].numpy(), rtol=1e-5, atol=1e-7)
