"""A sweep in steps is the sweep of ``backward``: same gradients, same order, same errors."""

import json

import numpy as np
import pytest

import gradviz as torch
from gradviz.engine import events
from gradviz.sources.stepper import Stepper
from gradviz.watch.recording import ABORTED, FAILED, FINISHED, PAUSED, load


def net():
    """Two leaves, a product used twice, a result."""
    torch.manual_seed(0)
    x = torch.randn(3, 4, requires_grad=True)
    w = torch.randn(4, 2, requires_grad=True)
    h = (x @ w).tanh()
    return x, w, h, (h * h + h.exp()).mean()


def expected():
    x, w, _, loss = net()
    loss.backward()
    return x.grad, w.grad


def same(tensor, other):
    return np.array_equal(tensor.numpy(), other.numpy())


def test_step_by_step_it_is_backward():
    x, w, _, loss = net()
    stepper = Stepper(loss)
    assert x.grad is None and stepper.paused
    assert stepper.play() == len(stepper.recording.plan)
    assert stepper.recording.state == FINISHED
    assert same(x.grad, expected()[0]) and same(w.grad, expected()[1])
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_it_accumulates_and_can_retain():
    x, w, _, loss = net()
    Stepper(loss, retain_graph=True).play()
    loss.backward()
    assert np.allclose(x.grad.numpy(), 2 * expected()[0].numpy())


def test_a_step_tells_what_came_in_what_goes_out_and_what_is_freed():
    x = torch.tensor(0.5, requires_grad=True)
    y = x * 3
    stepper = Stepper(y.sin())
    sin, mul = stepper.step(), stepper.step()
    assert sin.arrived[0].values == 1.0
    assert sin.sent[0].target == mul.node
    assert sin.sent[0].grad.values == pytest.approx(np.cos(1.5))
    assert sin.rule["zh"] == "g · cos self" and sin.numbers["en"] == "1 · cos 1.5"
    assert [one.name for one in sin.freed] == ["self"]
    assert mul.arrived[0].values == sin.sent[0].grad.values
    added = mul.added[0]
    assert added.leaf == events.leaf_id(x) and added.before is None
    assert added.after.values == pytest.approx(3 * np.cos(1.5))


def test_an_earlier_gradient_is_the_before_of_what_is_added():
    x = torch.tensor(2.0, requires_grad=True)
    x.grad = torch.tensor(10.0)
    stepper = Stepper(x * 3)
    added = stepper.step().added[0]
    assert (added.before.values, added.amount.values, added.after.values) == (10.0, 3.0, 13.0)


def test_aborted_everything_is_as_it_was():
    x, w, _, loss = net()
    w.grad = torch.ones(4, 2)
    kept = w.grad
    stepper = Stepper(loss)
    stepper.play(len(stepper.recording.plan) - 1)
    stepper.abort()
    assert stepper.recording.state == ABORTED and stepper.step() is None
    assert x.grad is None and w.grad is kept and same(kept, torch.ones(4, 2))
    w.grad = None
    loss.backward()
    assert same(x.grad, expected()[0])


def test_a_gradient_that_grew_in_place_goes_back_too():
    x, w = (torch.ones(2, requires_grad=True) for _ in range(2))
    x.grad = torch.tensor([5.0, 5.0])
    late = w * 3
    early = x * 2
    held, stepper = x.grad, Stepper((early + late).sum())
    while x.grad.tolist() == [5.0, 5.0]:
        stepper.step()
    assert x.grad is held and stepper.paused
    stepper.abort()
    assert x.grad is held and held.tolist() == [5.0, 5.0]


def test_hooks_fire_once_and_are_named():
    x, _, h, loss = net()
    seen = []

    def halve(grad):
        seen.append(grad)
        return grad / 2

    h.register_hook(halve)
    stepper = Stepper(loss)
    stepper.play()
    assert len(seen) == 1
    named = [step.hooks for step in stepper.recording.steps if step.hooks]
    assert named == [["tensor test_hooks_fire_once_and_are_named.<locals>.halve"]]
    assert np.allclose(x.grad.numpy(), expected()[0].numpy() / 2)


def test_it_pauses_at_breakpoints():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    loss = (x.sqrt() * 1e-3).sum()
    stepper = Stepper(loss)
    stepper.stop_at = {stepper.recording.plan[1]}
    assert stepper.play() == 1
    stepper.stop_at, stepper.stop_norm = set(), 1e-9
    assert stepper.play() == 2 and stepper.recording.steps[-1].stop == "norm"
    stepper.stop_norm = float("inf")
    assert stepper.play() == 3 and stepper.recording.steps[-1].stop == "nan"


def test_it_pauses_where_a_gradient_stops_being_finite_not_at_all_that_follows():
    x = torch.tensor([0.0, 1.0], requires_grad=True)
    y = torch.tensor([0.0, 4.0], requires_grad=True)
    inner, other = x * 2, y * 3
    roots = inner.sqrt(), other.sqrt()
    stepper = Stepper((roots[0] + roots[1]).sum())
    stops = {step.node: step.stop for step in iter(stepper.step, None)}
    assert len(stops) == 6
    assert [node for node, stop in stops.items() if stop == "nan"] == [
        root.grad_fn.seq for root in reversed(roots)
    ]
    assert stops[inner.grad_fn.seq] == stops[other.grad_fn.seq] == ""


def test_an_error_of_the_sweep_is_raised_and_recorded():
    x, _, _, loss = net()
    stepper = Stepper(loss)
    stepper.step()
    loss.backward()
    with pytest.raises(RuntimeError, match="second time"):
        stepper.play()
    assert stepper.recording.state == FAILED
    assert "second time" in stepper.recording.error


def test_what_backward_refuses_is_refused():
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        Stepper(torch.ones(2, requires_grad=True) * 2)
    with pytest.raises(RuntimeError, match="does not require grad"):
        Stepper(torch.ones(()))


def test_a_gradient_is_the_sum_over_its_paths():
    x, w, _, loss = net()
    stepper = Stepper(loss)
    stepper.play()
    whys = {why.leaf: why for why in stepper.recording.why}
    why = whys[events.leaf_id(x)]
    assert why.paths == len(why.shares) == 3
    total = sum(np.array(one.share.values) for one in why.shares)
    assert np.allclose(total, x.grad.numpy(), atol=1e-6)
    assert np.allclose(why.total.values, x.grad.numpy(), atol=1e-6)
    assert all(one.nodes[0] == stepper.recording.plan[0] for one in why.shares)


def test_paths_through_hooks_or_beyond_number_are_not_taken_apart():
    x = torch.ones(2, requires_grad=True)
    y = x
    for _ in range(8):
        y = y * y
    stepper = Stepper(y.sum())
    stepper.play()
    assert [(why.paths, why.shares) for why in stepper.recording.why] == [(256, [])]
    z = x * 2
    z.register_hook(lambda grad: grad * 2)
    stepper = Stepper(z.sum())
    stepper.play()
    assert stepper.recording.why[0].shares == []


def test_the_watcher_hears_of_it_as_of_any_backward():
    class Ear(events.Observer):
        def __init__(self):
            self.heard = []

        def backward_started(self, sweep):
            self.heard.append("started")

        def accumulated(self, sweep, leaf, grad):
            self.heard.append("accumulated")

        def backward_finished(self, sweep):
            self.heard.append("finished")

    ear = Ear()
    events.attach(ear)
    try:
        loss = net()[-1]
        stepper = Stepper(loss)
        stepper.step()
        assert ear.heard == []
        stepper.play()
    finally:
        events.detach(ear)
    assert ear.heard == ["started", "accumulated", "accumulated", "finished"]


def test_it_lets_go_when_it_is_over():
    import weakref

    x, _, _, loss = net()
    node = weakref.ref(loss.grad_fn)
    stepper = Stepper(loss)
    stepper.step()
    stepper.abort()
    del loss
    assert node() is None and stepper.recording.state == ABORTED


def test_a_recording_goes_through_json():
    x, _, _, loss = net()
    stepper = Stepper(loss)
    stepper.play()
    told = json.loads(json.dumps(stepper.recording.to_json()))
    assert load(told).to_json() == stepper.recording.to_json()
    with pytest.raises(ValueError, match="schema"):
        load(told | {"schema": 99})
    assert load(told).state != PAUSED


def test_a_long_sweep_is_refused_in_time():
    y = torch.ones(1, requires_grad=True)
    for _ in range(2_001):
        y = y * 1.0
    with pytest.raises(ValueError):
        Stepper(y)
