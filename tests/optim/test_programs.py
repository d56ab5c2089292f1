"""Optimizers and schedules: the same programs give the same on gradviz as on PyTorch."""

import importlib.util
import json
from pathlib import Path

import pytest

from tests.nn.both import run, same
from tests.optim.programs import PROGRAMS

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
HAVE_TORCH = importlib.util.find_spec("torch") is not None


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_pytorch_gave(name):
    found = run("gradviz", PROGRAMS[name])
    assert same(found, RECORDED[name]), (found, RECORDED[name])


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_recorded_is_what_pytorch_gives(name):
    assert same(run("torch", PROGRAMS[name]), RECORDED[name])


def test_every_write_of_a_parameter_counts_its_version():
    import gradviz as torch

    w = torch.ones(2, requires_grad=True)
    y = (w * w).sum()
    w.grad = torch.ones(2)
    torch.optim.SGD([w], lr=0.1).step()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
