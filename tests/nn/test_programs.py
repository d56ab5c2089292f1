"""Layers, losses and their messages: the same programs give the same on gradviz as on PyTorch."""

import importlib.util
import logging

import pytest

from tests.nn.both import recorded, run, same
from tests.nn.programs import PROGRAMS

RECORDED = recorded()
HAVE_TORCH = importlib.util.find_spec("torch") is not None


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_pytorch_gave(name):
    found = run("gradviz", PROGRAMS[name])
    assert same(found, RECORDED[name]), (found, RECORDED[name])


@pytest.fixture
def unheard(monkeypatch):
    """What PyTorch logs in its debug mode fits no format, and pytest would format it: it hangs its
    handler on every logger that does not propagate when a test begins.
    """
    monkeypatch.setattr(logging.getLogger("LoggingTensor"), "propagate", True)


@pytest.mark.usefixtures("unheard")
@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_recorded_is_what_pytorch_gives(name):
    assert same(run("torch", PROGRAMS[name]), RECORDED[name])
