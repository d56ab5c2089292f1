"""Memory formats: strides and contiguity of what PyTorch makes, and of what operations make of
tensors whose channels come last.
"""

import pytest

import gradviz

torch = pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")

MADE = """
x.clone(memory_format=t.channels_last)
x.contiguous(memory_format=t.channels_last)
x.to(memory_format=t.channels_last)
x.to(t.float64, memory_format=t.channels_last)
x.double(memory_format=t.channels_last)
x.cpu(memory_format=t.channels_last)
t.empty(2, 3, 4, 6, memory_format=t.channels_last)
t.empty_like(x, memory_format=t.channels_last)
t.zeros_like(y)
t.zeros_like(y, memory_format=t.contiguous_format)
t.full_like(x, 2.0, memory_format=t.channels_last)
t.rand_like(x, memory_format=t.channels_last)
y.clone()
y.clone(memory_format=t.preserve_format)
y.clone(memory_format=t.contiguous_format)
y.contiguous()
y.double()
t.randn(1, 2, 3, 4, 5).contiguous(memory_format=t.channels_last_3d)
t.nn.Conv2d(3, 4, 3).to(memory_format=t.channels_last).weight
y + 1
x + y
y * t.randn(3, 1, 1)
y.relu()
F.gelu(y)
F.silu(y)
t.where(y > 0, y, x)
t.cat([y, y], 1)
t.cat([y, x], 1)
F.conv2d(y, w)
F.conv2d(x, w.to(memory_format=t.channels_last))
F.conv_transpose2d(y, t.randn(3, 5, 2, 2))
F.max_pool2d(y, 2)
F.max_pool2d(y.clone().requires_grad_(), 2)
F.avg_pool2d(y, 2)
F.adaptive_avg_pool2d(y, 2)
F.adaptive_max_pool2d(y, 2)
F.batch_norm(y, None, None, training=True)
F.group_norm(y, 3)
F.interpolate(y, scale_factor=2)
F.interpolate(y, scale_factor=2, mode="bilinear")
F.pad(y, (1, 1))
F.pad(y, (1, 1, 1, 1), mode="reflect")
y.softmax(1)
y.flatten(1)
y.flip(3)
y.sum(1, keepdim=True)
""".strip().splitlines()

ASKED = """
x.is_contiguous(memory_format=t.channels_last)
y.is_contiguous(), y.is_contiguous(memory_format=t.channels_last)
t.randn(2, 1, 4, 4).is_contiguous(memory_format=t.channels_last)
t.randn(2, 3).is_contiguous(memory_format=t.channels_last)
x.permute(0, 3, 1, 2).is_contiguous(memory_format=t.channels_last)
y.contiguous(memory_format=t.channels_last) is y
y.to(memory_format=t.channels_last) is y
x.clone(memory_format=t.channels_last).requires_grad_().clone().grad_fn.name()
z.to(memory_format=t.contiguous_format).grad_fn.name()
t.randn(2, 3).contiguous(memory_format=t.channels_last)
t.empty(2, 3, memory_format=t.channels_last)
t.empty(2, 3, memory_format=t.preserve_format)
str(t.channels_last_3d)
""".strip().splitlines()


def found(engine, text):
    engine.manual_seed(0)
    x = engine.randn(2, 3, 4, 6)
    y = x.to(memory_format=engine.channels_last)
    names = {"t": engine, "F": engine.nn.functional, "x": x, "y": y}
    names |= {"w": engine.randn(8, 3, 3, 3), "z": y.clone().requires_grad_()}
    try:
        return eval(text, names)  # noqa: S307
    except RuntimeError as error:
        return str(error).partition("\n")[0]


@pytest.mark.parametrize("text", MADE)
def test_strides(text):
    ours, theirs = found(gradviz, text), found(torch, text)
    assert tuple(ours.stride()) == tuple(theirs.stride())
    assert ours.is_contiguous() == theirs.is_contiguous()
    last = ours.is_contiguous(memory_format=gradviz.channels_last)
    assert last == theirs.is_contiguous(memory_format=torch.channels_last)
    if "empty" not in text and "rand" not in text:
        numbers = gradviz.tensor(theirs.tolist(), dtype=ours.dtype)
        gradviz.testing.assert_close(ours.detach(), numbers, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("text", ASKED)
def test_answers(text):
    assert found(gradviz, text) == found(torch, text)
