"""Half precision is computed in single precision and rounded once, Python numbers unrounded beside
it where PyTorch leaves them so.
"""

import pytest

import gradviz as torch

K = 0.7
# what is computed, and the same in single precision
ONCE = {
    "x * K": "X * K",
    "K * x": "X * K",
    "x / K": "X / K",
    "x // K": "(X / K).floor()",
    "x * torch.tensor(K)": "X * K",
    "x.clone().mul_(K)": "X * K",
    "x.clone().div_(K)": "X / K",
    "x + K": "X + r(K)",
    "x - K": "X - r(K)",
    "K - x": "r(K) - X",
    "torch.add(x, y, alpha=K)": "X + Y * r(K)",
    "torch.sub(x, y, alpha=K)": "X - Y * r(K)",
    "torch.addcmul(x, x, y, value=K)": "X + (X * K) * Y",
    "torch.addcdiv(x, x, y, value=K)": "X + (X * K) / Y",
    "torch.lerp(x, y, 0.3)": "X + 0.3 * (Y - X)",
    "torch.lerp(x, y, K)": "Y - (Y - X) * (1 - torch.tensor(K))",
    "K ** x": "r(K) ** X",
    "x.abs().rsqrt()": "1 / X.abs().sqrt()",
    "x.mean()": "X.mean()",
    "x.view(50, 40).mean(1)": "X.view(50, 40).mean(1)",
    "torch.nn.functional.leaky_relu(x, K)": "torch.where(X > 0, X, X * K)",
    "torch.nn.functional.mse_loss(x, y)": "((X - Y) ** 2).mean()",
    "torch.nn.functional.rms_norm(x, (2000,))": "torch.nn.functional.rms_norm(X, (2000,))",
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("half", ONCE)
def test_rounded_once(half, dtype):
    kind = getattr(torch, dtype)
    x = ((torch.arange(2000.0) * 0.7391) % 7 - 3.3).to(kind)
    y = (x.float().roll(37) + 0.011).to(kind)

    def rounded(k):
        return float(torch.tensor(k).to(kind))

    scope = {"torch": torch, "K": K, "x": x, "y": y, "X": x.float(), "Y": y.float(), "r": rounded}
    found, wanted = eval(half, scope), eval(ONCE[half], scope)  # noqa: S307
    assert found.dtype is kind
    assert torch.equal(found, wanted.to(kind))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_stay_in_half_precision(dtype):
    x = torch.arange(1.0, 9.0).to(getattr(torch, dtype)).requires_grad_()
    (x * K + x / K).sum().backward()
    assert x.grad.dtype is x.dtype


def test_interpolation_meets_both_ends():
    a, b = torch.tensor([0.1, 1e8]), torch.tensor([0.3, -1.0])
    for weight, end in ((0.0, a), (1.0, b)):
        assert torch.equal(torch.lerp(a, b, weight), end)
        assert torch.equal(torch.lerp(a, b, torch.full((2,), weight)), end)
