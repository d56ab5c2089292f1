"""Rules are tested for what they find, not for how fast."""

import pytest

from gradviz.sources import strays


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """After other tests the heap is large: the walk over it may take as long as it needs."""
    monkeypatch.setattr(strays, "SLOW", 60)
