"""``gradviz.BackwardPlayer`` on tensors and recordings."""

import json

import pytest

import gradviz as torch


@pytest.fixture
def player():
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    made = torch.BackwardPlayer((x * x).sin().sum())
    made.leaf = x
    yield made
    made.close()


def test_it_steps_the_sweep_of_a_tensor(player):
    player.step(2)
    assert (player.position, player.total, player.leaf.grad) == (2, 3, None)
    player.play()
    assert player.leaf.grad is not None and player.state == "finished"
    assert {row["kind"] for row in player.to_json()["nodes"]} == {"leaf", "operation"}


def test_it_plays_what_was_saved(player, tmp_path):
    player.finish()
    file = tmp_path / "pass.json"
    file.write_text(json.dumps(player.to_json()))
    for what in (player.to_json(), file, str(file)):
        again = torch.BackwardPlayer(what)
        assert (again.position, again.state) == (3, "finished")
        assert again.to_json() == player.to_json()
        again.close()


def test_where_widgets_do_not_run_there_is_a_picture(player):
    data = player._repr_mimebundle_()
    assert "image/svg+xml;base64" in data["text/html"] and "SinBackward0" in data["text/plain"]


def test_bad_input():
    with pytest.raises(TypeError, match="BackwardPlayer needs a tensor"):
        torch.BackwardPlayer(3)
    with pytest.raises(ValueError, match="schema"):
        torch.BackwardPlayer({"schema": 7})
    with pytest.raises(RuntimeError, match="scalar outputs"):
        torch.BackwardPlayer(torch.ones(2, requires_grad=True) * 2)
    y = torch.ones(1, requires_grad=True)
    for _ in range(2_001):
        y = y * 1.0
    with pytest.raises(ValueError, match="at most 2000 operations"):
        torch.BackwardPlayer(y)


def test_numbers_are_there_in_the_middle_of_a_cell(shell, run, tmp_path):
    run("%load_ext gradviz\nimport gradviz\nw = gradviz.ones(2, requires_grad=True)")
    run(
        "loss = (w * w).sum()\nplayer = gradviz.BackwardPlayer(loss)\n"
        f"page = gradviz.export_html({str(tmp_path / 'page.html')!r}, loss)"
    )
    told = shell.user_ns["player"].to_json()["details"]
    assert 2.0 in [one["value"]["values"] for one in told.values() if one.get("value")]
    assert '"values":2.0' in shell.user_ns["page"].read_text().replace(": ", ":")
    shell.user_ns["player"].close()


def test_a_recording_may_ask_before_it_tells():
    x = torch.tensor(2.0, requires_grad=True)
    player = torch.BackwardPlayer(x * x, quiz=True)
    player.finish()
    assert player.to_json()["quiz"]
    assert torch.BackwardPlayer(player.to_json()).to_json()["quiz"]
    assert not torch.BackwardPlayer(x * x).to_json()["quiz"]
