"""The programs of ``tests/autograd/transcripts`` side by side with PyTorch."""

import pytest

import gradviz
from tests.differential import observe, transcripts

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)
ALL = dict(transcripts.programs())


@pytest.mark.parametrize("title", ALL)
def test_transcript(title):
    told = transcripts.transcript(torch, ALL[title])
    assert not observe.differences(told, transcripts.transcript(gradviz, ALL[title]))
