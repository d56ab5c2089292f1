"""What the rules say of programs on two devices, with the strict double for the second one."""

import pytest

from gradviz.backend import twin
from tests.doctor.notebook import run

START = "import torch\nw = torch.ones(3, device='cuda', requires_grad=True)"
THERE_AND_BACK = """h = torch.ones(3, device="cuda")
for k in range(25):
    c = (h * 2).cpu()
    c = c.clamp(max=5)
    h = c.to("cuda")
"""
TRAINING = """for k in range(25):
    x = torch.ones(3).to("cuda")
    loss = (w * x).sum()
    seen = loss.detach().cpu().item()
    w.grad = None
    loss.backward()
"""
ON_ONE = THERE_AND_BACK.replace(".cpu()", "").replace('c.to("cuda")', "c")


@pytest.fixture(autouse=True)
def two_devices():
    with twin.installed(1):
        yield


def found(program):
    return [(f.line, f.count) for f in run(START, program) if f.kind == "perf.ping-pong"]


def test_values_that_go_to_the_host_and_back_are_noticed():
    assert found(THERE_AND_BACK) == [(3, 25)]


@pytest.mark.parametrize("program", [TRAINING, ON_ONE])
def test_data_and_numbers_may_cross_once(program):
    assert found(program) == []


def test_a_few_crossings_are_nothing():
    assert found(THERE_AND_BACK.replace("25", "5")) == []


def test_tensors_of_two_devices_in_one_operation():
    (finding,) = [f for f in run(START, "y = w * torch.ones(3)") if f.kind.startswith("error.")]
    assert (finding.kind, finding.line) == ("error.device-mismatch", 1)
    assert "cuda:0" in finding.message["en"] and "cpu" in finding.message["zh"]
