"""Mixed precision: the same programs give the same on gradviz as on PyTorch."""

import importlib.util
import json
from pathlib import Path

import pytest

from tests.amp.programs import PROGRAMS
from tests.nn.both import run, same

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
HAVE_TORCH = importlib.util.find_spec("torch") is not None
ROUGH = {"training": 2e-2, "recurrent layers": 2e-2}


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_pytorch_gave(name):
    found = run("gradviz", PROGRAMS[name])
    assert same(found, RECORDED[name], ROUGH.get(name, 2e-4)), (found, RECORDED[name])


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_was_recorded_is_what_pytorch_gives(name):
    assert same(run("torch", PROGRAMS[name]), RECORDED[name], ROUGH.get(name, 2e-4))
