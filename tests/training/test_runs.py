"""Real training. Loss curves are compared with PyTorch's step by step; the long runs carry the mark
``slow`` and run with ``pytest -m slow tests/training``.
"""

import importlib.util
import json
from pathlib import Path

import pytest

from gradviz.cli.main import main
from tests.training import runs
from tests.training.record import CURVES, RECORDED

RECORD = json.loads(RECORDED.read_text(encoding="utf-8"))
HAVE_TORCH = importlib.util.find_spec("torch") is not None
HAVE_MPI = importlib.util.find_spec("mpi4py") is not None


def apart(curve, name):
    return max(abs(a - b) for a, b in zip(curve, RECORD[name], strict=True))


@pytest.mark.parametrize("name", CURVES)
def test_the_loss_follows_pytorch_step_by_step(name):
    curve = getattr(runs, name)("gradviz", CURVES[name])
    assert apart(curve, name) < 1e-4
    assert sum(curve[-10:]) < 0.6 * sum(curve[:10])


def test_two_networks_against_each_other_follow_pytorch():
    assert apart(runs.adversaries("gradviz", 40)[0], "adversaries") < 1e-4


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
def test_what_was_recorded_is_what_pytorch_gives():
    assert apart(runs.characters("torch", 200), "characters") < 1e-4


def test_digits_are_learned():
    assert runs.digits("gradviz", 2)[-1] > 0.9


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_digits_are_learned_to_98_percent():
    assert runs.digits("gradviz", 10)[-1] >= 0.98


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_generator_finds_the_distribution():
    _, mean, deviation = runs.adversaries("gradviz", 2500)
    assert abs(mean - 3) < 0.25 and abs(deviation - 0.5) < 0.2


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_an_lstm_counts():
    curve = runs.memory("gradviz", 600)
    assert sum(curve[-20:]) / 20 < 0.06


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(not HAVE_MPI, reason="needs the extra `distributed`")
def test_four_processes_learn_as_one(tmp_path):
    script = Path(__file__).with_name("ddp_digits.py")
    assert main(["launch", "-n", "4", "--timeout", "60", str(script), str(tmp_path), "4"]) == 0
    for rank in range(4):
        seen = json.loads((tmp_path / f"{rank}.json").read_text(encoding="utf-8"))
        assert seen["accuracy"] > 0.85 and seen["apart"] < 1e-5 and seen["buckets"] > 1
