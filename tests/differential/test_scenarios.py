"""The scenarios of ``tests/autograd/scenarios`` side by side with PyTorch."""

import pytest

import gradviz
from tests.differential import observe, scenarios

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)
ALL = dict(scenarios.scenarios())


@pytest.mark.parametrize("title", ALL)
def test_scenario(title):
    text = ALL[title]
    told, got = scenarios.seen_on(torch, text), scenarios.seen_on(gradviz, text)
    assert not observe.differences(told, got)
