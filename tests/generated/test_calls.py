"""Generated calls of every operation: as in PyTorch where it is installed, as recorded from it
everywhere.
"""

import functools
import json
import lzma
from pathlib import Path

import pytest

import gradviz

from . import calls
from .outcome import outcome
from .pairs import against

HERE = Path(__file__).parent
CALLS = 6  # of every name
SETTLED, RECORDED = HERE / "unsettled.txt", HERE / "recorded.json.xz"


@functools.cache
def unsettled():
    """Names of which some calls are known to differ still."""
    return frozenset(SETTLED.read_text().split())


def sample():
    """The calls of the quick run, by name."""
    found = {}
    for name, text in calls.drawn(gradviz.Tensor, 0, CALLS):
        found.setdefault(name, []).append(text)
    return found


GROUPS = 30


def grouped(names):
    names = sorted(names, key=lambda name: name.lstrip("/."))
    return [names[k::GROUPS] for k in range(GROUPS)]


def apart(judged, text):
    """Where gradviz differs from what ``judged(text, tracked)`` tells of PyTorch."""
    lines = []
    for tracked in (False, True):
        lines += against(judged(text, tracked), gradviz, text, tracked)[0]
    return [text, *lines] if lines else []


@pytest.mark.parametrize("group", range(GROUPS))
def test_as_in_pytorch(group):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed here")
    torch._C._set_warnAlways(True)
    try:
        drawn = sample()
        names = [n for n in grouped(drawn)[group] if n not in unsettled()]
        judged = functools.partial(outcome, torch)
        found = [apart(judged, text) for name in names for text in drawn[name]]
    finally:
        torch._C._set_warnAlways(False)
    assert not any(found), "\n".join(line for lines in found for line in lines)


@pytest.mark.parametrize("group", range(GROUPS))
def test_as_recorded(group):
    told = json.loads(lzma.decompress(RECORDED.read_bytes()))
    found = []
    for name in grouped(told)[group]:
        for text, outcomes in told[name].items() if name not in unsettled() else ():
            found.append(apart(lambda _, tracked, seen=outcomes: seen[tracked], text))
    assert not any(found), "\n".join(line for lines in found for line in lines)
