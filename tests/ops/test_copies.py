"""What is a copy in PyTorch shares no memory with its input, even where no element moves."""

import numpy as np
import pytest

import gradviz as torch

COPIES = """
x.flip(0)
x.rot90(0)
x.rot90()
x.roll(0)
x.roll(0, 0)
x.repeat(1, 1)
x.tile((1,))
x.repeat_interleave(1, 0)
x.tril()
x.triu()
x.sum(0)
x.amax(0)
x.sort(0).values
x.max(0).values
x.cumsum(0)
x.clone()
x.index_select(0, torch.tensor([0]))
x[torch.tensor([0])]
x[x == x]
x.gather(0, torch.zeros(1, 1, dtype=torch.int64))
x.masked_fill(x != x, 0)
torch.cat([x])
torch.stack([x])
torch.where(x == x, x, x)
torch.diff(x, n=0)
torch.chain_matmul(x)
torch.fliplr(x)
torch.fft.fftshift(x)
torch.clamp(x, min=-9)
torch.nan_to_num(x)
torch.nn.functional.pad(x, (0, 0))
torch.nn.functional.pixel_shuffle(x[None], 1)
torch.nn.functional.pixel_unshuffle(x[None], 1)
torch.nn.functional.channel_shuffle(x[None, None], 1)
torch.nn.functional.interpolate(x[None, None], scale_factor=1)
torch.nn.functional.max_pool2d(x[None, None], 1)
torch.nn.functional.avg_pool2d(x[None, None], 1)
torch.nn.functional.leaky_relu(x, 1.0)
torch.nn.functional.unfold(x[None, None], 1)
""".strip().splitlines()


@pytest.mark.parametrize("expression", COPIES)
@pytest.mark.parametrize("tracked", [False, True])
def test_copies(expression, tracked):
    x = torch.ones(1, 1, requires_grad=tracked)
    made = eval(expression, {"torch": torch, "x": x})  # noqa: S307
    assert not np.shares_memory(made.detach().numpy(), x.detach().numpy())
