"""Functions that users write: their ctx is theirs."""

import pytest

import gradviz as torch


@pytest.mark.parametrize(
    "name",
    "shape dtype e s r at hooks mark note seq inputs outputs op held whole first run name nr node "
    "theirs describe_saved".split(),
)
def test_every_attribute_of_ctx_is_the_users(name):
    class Noted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            setattr(ctx, name, ("mine", x.shape))
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            found.append(getattr(ctx, name))
            return g * x.exp()

    found, x = [], torch.zeros(2, requires_grad=True)
    y = Noted.apply(x)
    y.sum().backward()
    assert found == [("mine", (2,))] and x.grad.tolist() == [1, 1]
    assert y.grad_fn.next_functions[0][0].variable is x
