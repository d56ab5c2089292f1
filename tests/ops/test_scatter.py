"""One number as the index of a line, as when a label is turned into a one-hot vector."""

import pytest

import gradviz as torch

ONE = torch.tensor(2)


def line():
    return torch.zeros(4, requires_grad=True)


@pytest.mark.parametrize(
    "call",
    [
        lambda x, src: x.scatter(0, ONE, 3.0),
        lambda x, src: x.clone().scatter_(0, ONE, value=3),
        lambda x, src: x.scatter(0, ONE, src),
        lambda x, src: x.scatter_add(0, ONE, src),
        lambda x, src: x.scatter_reduce(0, ONE, src, "amax"),
    ],
)
def test_one_number_as_index(call):
    for src in (torch.tensor(3.0), torch.tensor([3.0])):
        assert call(line(), src).tolist() == [0, 0, 3, 0]


def test_its_gradients():
    x, src = line(), torch.tensor(3.0, requires_grad=True)
    (x.scatter(0, ONE, src) * torch.arange(4.0)).sum().backward()
    assert x.grad.tolist() == [0, 1, 0, 3] and src.grad.item() == 2
    x = line()
    picked = x.gather(0, ONE)
    picked.backward()
    assert picked.shape == () and x.grad.tolist() == [0, 0, 1, 0]


def test_a_number_as_self():
    x = torch.tensor(1.0)
    first, none = torch.tensor([0]), torch.tensor([], dtype=torch.long)
    assert x.scatter_reduce(0, first, torch.tensor([4.0]), "mean").item() == 2.5
    assert x.scatter(0, none, 7.0).item() == 1
    assert x.scatter_add(0, first, torch.tensor(2.0)).item() == 3


@pytest.mark.parametrize("whose, x, src", [("self", (2, 2), (1,)), ("src", (2,), (1, 1))])
def test_dimensions_that_differ(whose, x, src):
    with pytest.raises(RuntimeError, match=f"same number of dimensions as {whose} tensor"):
        torch.zeros(x).scatter(0, torch.tensor([0]), torch.ones(src))
