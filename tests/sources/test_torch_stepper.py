"""The player on PyTorch: its own backward pass, paused between two nodes."""

import threading

import pytest

import gradviz
from gradviz.watch.recording import ABORTED, FAILED, FINISHED

torch = pytest.importorskip("torch", reason="steps through PyTorch, which is not installed")


def net():
    """Two leaves, a hook that halves, a result that is used twice."""
    torch.manual_seed(0)
    x, w = (torch.randn(*size, requires_grad=True) for size in ((3, 4), (4, 2)))
    h = (x @ w).tanh()
    h.register_hook(lambda g: g / 2)
    return x, w, h, (h * h + h.exp()).mean()


def expected():
    x, w, _, loss = net()
    loss.backward()
    return x.grad, w.grad


def test_all_steps_together_are_backward():
    x, w, _, loss = net()
    player = gradviz.BackwardPlayer(loss)
    assert player.total == 6 and x.grad is None
    player.step(2)
    assert (player.done, player.state) == (2, "paused") and x.grad is None
    player.play()
    assert player.state == FINISHED
    assert all(torch.equal(*pair) for pair in zip((x.grad, w.grad), expected(), strict=True))
    with pytest.raises(RuntimeError, match="second time"):
        loss.backward()


def test_a_step_tells_what_came_in_what_goes_out_and_what_is_added():
    x, w, h, loss = net()
    w.grad = torch.ones_like(w)
    gradviz.Graph(h)  # a hook is seen through the tensor that it is on
    player = gradviz.BackwardPlayer(loss)
    player.finish()
    told = player.to_json()
    names = {row["id"]: row["op"] or row["label"] for row in told["nodes"]}
    steps = {names[step["node"]]: step for step in told["steps"]}
    assert [*steps][0] == "MeanBackward0" and [*steps][-2:] == ["TanhBackward0", "MmBackward0"]
    tanh, mm = steps["TanhBackward0"], steps["MmBackward0"]
    halved = (2 * h + h.exp()) / h.numel() / 2
    assert tanh["arrived"][0]["norm"] == pytest.approx(halved.norm().item())
    assert tanh["hooks"] == ["tensor net.<locals>.<lambda>"] and tanh["rule"]["en"]
    assert [one["name"] for one in tanh["freed"]] == ["result"]
    assert [names[one["target"]] for one in mm["sent"]] == ["x", "w"]
    added = {names[one["leaf"]]: one for one in mm["added"]}
    assert added["x"]["before"] is None
    assert added["w"]["before"]["norm"] == pytest.approx(8**0.5)
    assert added["w"]["after"]["norm"] == pytest.approx(w.grad.norm().item())


def test_aborted_gradients_are_as_they_were_and_no_hook_is_left():
    x, w, _, loss = net()
    w.grad = before = torch.ones_like(w)
    threads = threading.active_count()
    player = gradviz.BackwardPlayer(loss, retain_graph=True)
    player.step(3)
    assert threading.active_count() == threads + 1
    player.abort()
    assert player.state == ABORTED and threading.active_count() == threads
    assert x.grad is None and w.grad is before and torch.equal(before, torch.ones_like(w))
    loss.backward()
    assert torch.equal(w.grad, expected()[1] + 1)


def test_breakpoints_and_what_is_not_finite():
    w = torch.zeros(2, requires_grad=True)
    player = gradviz.BackwardPlayer((w.sqrt() * 2).sum())
    player.breakpoints = [player._told.plan[1]]
    player.play()
    assert player.done == 1
    player.breakpoints = []
    player.play()
    assert player.done == player.total == 3 and player._told.steps[-1].stop == "nan"


def test_errors_are_those_of_backward():
    w = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar"):
        gradviz.BackwardPlayer(w * 2)
    with pytest.raises(RuntimeError, match="does not require grad"):
        gradviz.BackwardPlayer(torch.ones(1).sum())
    y = w.exp()
    loss = y.sum()
    with torch.no_grad():
        y.mul_(2)
    player = gradviz.BackwardPlayer(loss)
    player.step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        player.step()
    assert player.state == FAILED and "inplace" in player.to_json()["error"]
