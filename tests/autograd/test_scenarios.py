"""Hooks, Functions, saved tensors, modes and sweeps: what gradviz does is what PyTorch 2.13 was
seen
to do, recorded by ``python -m tests.differential.scenarios --record``.
"""

import json

import pytest

import gradviz
from tests.differential import observe, scenarios

RECORDED = json.loads(scenarios.RECORDED.read_text())
ALL = dict(scenarios.scenarios())


@pytest.mark.parametrize("title", ALL)
def test_scenario(title):
    assert not observe.differences(RECORDED[title], scenarios.seen_on(gradviz, ALL[title]))


def test_nothing_recorded_is_missing():
    assert set(RECORDED) == set(ALL)
