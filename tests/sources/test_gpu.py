"""What is watched may lie on a GPU: watching never waits for it."""

import pytest

import gradviz as torch
from gradviz.backend import twin
from gradviz.engine import events
from gradviz.sources.stepper import Stepper


@pytest.fixture
def gpu():
    with twin.installed() as double:
        yield double


def test_watching_a_training_loop_waits_for_nothing(gpu):
    with torch.watching():
        model = torch.nn.Sequential(
            torch.nn.Linear(4, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2)
        ).cuda()
        optimizer = torch.optim.Adam(model.parameters())
        x = torch.randn(5, 4, device="cuda")
        for _ in range(3):
            loss = (model(x) ** 2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        assert not gpu.synchronisations


def test_memory_is_known_by_what_owns_it(gpu):
    x = torch.ones(4, device="cuda")
    part, same, other = x[1:], x.detach(), torch.ones(4, device="cuda")
    assert events.storage_id(x) == events.storage_id(part) == events.storage_id(same)
    assert events.storage_id(other) != events.storage_id(x)
    assert events.storage_bytes(part) == 16
    first = events.storage_id(x)
    del x, same
    assert events.storage_id(part) == first  # the view keeps the memory, and so its name


def test_the_player_steps_through_it(gpu):
    w = torch.ones(3, device="cuda", requires_grad=True)
    stepper = Stepper((w * 2).sum())
    first = stepper.step()
    assert first.arrived[0].values == 1.0
    while stepper.step():
        pass
    assert w.grad.tolist() == [2.0, 2.0, 2.0]
