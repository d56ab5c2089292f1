"""The programs of ``tests/autograd/transcripts`` side by side with PyTorch."""

import pytest

import gradviz
from tests.differential import observe, transcripts

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)
ALL = dict(transcripts.programs())


@pytest.fixture(autouse=True)
def every_warning():
    """PyTorch gives some warnings once a process: here as often as a process of its own would."""
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


@pytest.mark.parametrize("title", ALL)
def test_transcript(title):
    told = transcripts.transcript(torch, ALL[title])
    assert not observe.differences(told, transcripts.transcript(gradviz, ALL[title]))
