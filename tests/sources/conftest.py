"""These tests use the notebook without a shell of tests/doctor."""

import pytest

from gradviz.notebook import alias
from tests.doctor.notebook import Notebook


@pytest.fixture
def book():
    alias.install()
    made = Notebook()
    made.run("import torch")
    yield made
    made.close()
