"""Graph attributes, Functions, gradcheck, higher order, forward mode, transforms: what gradviz does
and says is what PyTorch 2.13 was seen to do and say, recorded by
``python -m tests.differential.transcripts --record``.
"""

import json

import pytest

import gradviz
from tests.differential import observe, transcripts

RECORDED = json.loads(transcripts.RECORDED.read_text())
ALL = dict(transcripts.programs())


@pytest.mark.parametrize("title", ALL)
def test_transcript(title):
    assert not observe.differences(RECORDED[title], transcripts.transcript(gradviz, ALL[title]))


def test_nothing_recorded_is_missing():
    assert set(RECORDED) == set(ALL)
