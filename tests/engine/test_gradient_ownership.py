"""A gradient becomes ``.grad`` without a copy where nobody else has its memory, and only there."""

from __future__ import annotations

import gradviz as torch


def product(x, turned):
    """Backward of a product with a transposed leaf: its gradient is a product transposed twice."""
    (x @ turned).sum().backward()


def setting():
    torch.manual_seed(0)
    return torch.randn(6, 4), torch.randn(5, 4, requires_grad=True)


def test_a_transposed_product_is_not_copied():
    x, w = setting()
    seen = []
    w.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.numpy().base))
    product(x, w.t())
    torch.nn.functional.linear(x, w).sum().backward()
    assert w.grad.stride() == w.stride()
    assert seen[0] is None or seen[0].base is None


def test_a_gradient_that_a_hook_kept_is_left_alone():
    x, w = setting()
    turned, kept = w.t(), []
    turned.register_hook(kept.append)
    product(x, turned.contiguous())
    before = kept[0].clone()
    w.grad.zero_()
    assert torch.equal(kept[0], before)


def test_a_gradient_that_lies_as_its_leaf_is_shared_with_a_hook_as_in_pytorch():
    x, w = setting()
    turned, kept = w.t(), []
    turned.register_hook(kept.append)
    product(x, turned)
    w.grad.zero_()
    assert not kept[0].any()


def test_a_retained_gradient_is_left_alone():
    x, w = setting()
    turned = w.t()
    turned.retain_grad()
    product(x, turned)
    before = turned.grad.clone()
    w.grad.zero_()
    assert torch.equal(turned.grad, before)


def test_a_seed_is_left_alone():
    _, w = setting()
    seed = torch.ones(4, 5)
    w.t().backward(seed)
    w.grad.zero_()
    assert seed.sum() == 20


def test_leaves_of_one_sum_do_not_share():
    a, b = (torch.ones(3, 3, requires_grad=True) for _ in range(2))
    (a.t() + b.t()).backward(torch.ones(3, 3))
    a.grad.zero_()
    assert b.grad.sum() == 9
