"""The sweep: order, sums, accumulation, freeing, errors, hooks, pausing."""

import warnings

import numpy as np
import pytest

import gradviz as torch
from gradviz.engine.backward import Sweep

SECOND = "Trying to backward through the graph a second time"


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def test_a_node_runs_once_with_the_sum_of_what_arrives():
    x = leaf(2.0)
    h = x * 3
    calls = []
    h.register_hook(lambda g: calls.append(g.item()))
    (h * 2 + h * h).sum().backward()
    assert calls == [2 + 2 * 6.0]
    assert x.grad.item() == 3 * 14.0


def test_gradients_accumulate_in_place():
    x = leaf(1.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 3).sum().backward()
    assert x.grad is first and x.grad.item() == 5.0


def test_accumulated_gradients_are_nobody_elses_memory():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    seed = torch.ones(2)
    (x + y).backward(seed)
    x.grad.zero_()
    assert y.grad.tolist() == [1.0, 1.0] and seed.tolist() == [1.0, 1.0]


def test_a_second_backward_raises_only_where_something_was_saved():
    x = leaf(1.0)
    y = (x * 2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND):
        y.backward()
    z = (x + 1).sum()
    z.backward()
    z.backward()
    assert x.grad.item() == 4.0


def test_retain_graph_keeps_and_the_last_call_frees():
    x = leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.item() == 12.0
    with pytest.raises(RuntimeError, match=SECOND):
        y.backward()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: leaf(1.0, 2.0).backward(),
            RuntimeError,
            "grad can be implicitly created only for scalar outputs",
        ),
        (
            lambda: torch.ones(1).backward(),
            RuntimeError,
            "element 0 of tensors does not require grad and does not have a grad_fn",
        ),
        (
            lambda: (leaf(1.0) * 2).backward(torch.ones(3)),
            RuntimeError,
            r"Mismatch in shape: grad_output\[0\] has a shape of",
        ),
        (
            lambda: torch.autograd.grad(leaf(1.0).sum(), leaf(1.0)),
            RuntimeError,
            "appears to not have been used in the graph",
        ),
        (lambda: (leaf(1.0) * 2).sum().backward(inputs=[]), RuntimeError, "cannot be empty"),
    ],
)
def test_errors_have_pytorchs_words(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_grad_leaves_dot_grad_alone_and_reaches_intermediates():
    x = leaf(2.0)
    h = x * 3
    y = (h * h).sum()
    got_x, got_h = torch.autograd.grad(y, [x, h])
    assert (got_x.item(), got_h.item(), x.grad) == (36.0, 12.0, None)


def test_unused_inputs():
    x, y = leaf(1.0), leaf(1.0)
    out = (x * 2).sum()
    assert torch.autograd.grad(out, [x, y], allow_unused=True, retain_graph=True)[1] is None
    assert torch.autograd.grad(out, [x, y], materialize_grads=True)[1].tolist() == [0.0]


def test_higher_derivatives():
    x = leaf(3.0)
    (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
    (third,) = torch.autograd.grad(second.sum(), x)
    assert (first.item(), second.item(), third.item()) == (27.0, 18.0, 6.0)


def test_create_graph_in_backward_warns():
    x = leaf(1.0)
    with pytest.warns(UserWarning, match="will create a reference cycle"):
        (x * x).sum().backward(create_graph=True)
    assert x.grad.requires_grad


def test_inputs_limits_what_is_accumulated():
    x, y = leaf(2.0), leaf(3.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.item() == 3.0 and y.grad is None


def test_several_roots_of_which_one_is_inside_the_other():
    x = leaf(2.0)
    h = (x * 3).sum()
    y = h * h
    torch.autograd.backward([y, h])
    assert x.grad.item() == 3 * (12.0 + 1.0)


def test_the_flag_is_read_when_the_gradient_arrives():
    x = leaf(1.0)
    y = (x * 2).sum()
    x.requires_grad_(False)
    y.backward()
    assert x.grad is None


def test_an_exception_in_a_hook_leaves_a_usable_graph():
    x = leaf(1.0)
    h = x * 2

    def fail(g):
        raise KeyboardInterrupt

    handle = h.register_hook(fail)
    y = (h * h).sum()
    with pytest.raises(KeyboardInterrupt):
        y.backward(retain_graph=True)
    handle.remove()
    assert x.grad is None and torch.is_grad_enabled()
    (x * 5).sum().backward()
    assert x.grad.item() == 5.0


def _breaks_after_one_leaf():
    """A graph whose leaf ``late`` is complete when the derivative of ``exp`` fails; ``early`` and
    ``twice`` are not.
    """
    late, early, twice = leaf(2.0), leaf(1.0), leaf(3.0)
    broken = (early * twice).exp()
    y = broken * 2 + late * 5 + twice
    broken.detach().mul_(2)
    return late, early, twice, y


@pytest.mark.parametrize("somebody_looks_on", [False, True])
def test_a_failed_sweep_has_completed_what_was_complete(somebody_looks_on):
    if somebody_looks_on:
        leaf(1.0).register_hook(lambda g: None)
    late, early, twice, y = _breaks_after_one_leaf()
    with pytest.raises(RuntimeError, match="modified by an inplace"):
        y.backward()
    assert late.grad.item() == 5.0 and early.grad is None and twice.grad is None


def test_the_sweep_can_pause_between_nodes():
    x = leaf(2.0)
    y = ((x * 3) * (x * 5)).sum()
    sweep = Sweep([(y.grad_fn, np.ones((), np.float32))], False, False)
    steps = 0
    while not sweep.run(1):
        steps += 1
        assert steps < 20
    assert steps == 3 and x.grad.item() == 60.0


def test_reentrant_backward_inside_a_hook():
    x = leaf(2.0)
    other = leaf(1.0)

    def inner(g):
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            (other * 4).sum().backward()

    h = x * 3
    h.register_hook(inner)
    h.sum().backward()
    assert (x.grad.item(), other.grad.item()) == (3.0, 4.0)


def test_broadcast_gradients_are_summed_to_the_operand():
    x, y = torch.ones(3, 1, requires_grad=True), torch.ones(4, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.tolist() == [[4.0]] * 3 and y.grad.tolist() == [3.0] * 4


def test_gradients_take_the_dtype_of_their_leaf():
    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, dtype=torch.float64, requires_grad=True)
    (x * y).sum().backward()
    assert x.grad.dtype is torch.float32 and y.grad.dtype is torch.float64


def test_anomaly_mode_names_the_node():
    x = leaf(0.0)
    with warnings.catch_warnings(), torch.autograd.detect_anomaly():
        warnings.simplefilter("ignore")
        y = (torch.sqrt(x) * 0).sum()
        with pytest.raises(
            RuntimeError, match="Function 'SqrtBackward0' returned nan values in its 0th output."
        ):
            y.backward()
