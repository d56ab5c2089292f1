"""A strict double of a GPU for a test."""

import pytest

from gradviz.backend import twin


@pytest.fixture
def gpu():
    """``torch.device("cuda")`` is a strict double with two devices."""
    with twin.installed(2) as double:
        yield double
