"""These tests use the notebook without a shell of tests/doctor."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent / "doctor"))


@pytest.fixture
def book():
    from notebook import Notebook

    from gradviz.cli import alias

    alias.install()
    made = Notebook()
    made.run("import torch")
    yield made
    made.close()
