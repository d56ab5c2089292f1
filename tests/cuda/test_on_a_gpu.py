"""The same comparison on a real GPU, where there is one."""

import pytest

import gradviz
from gradviz.backend import accelerator

if accelerator.gpu() is None:
    pytest.skip("CuPy finds no GPU here", allow_module_level=True)

from tests.cuda.test_on_the_double import (  # noqa: E402, F401
    test_operations,
    test_programs,
    test_random_programs,
    test_scenarios,
)

pytestmark = pytest.mark.cuda


@pytest.fixture(scope="module", autouse=True)
def everything_on_cuda():
    """New tensors are made on the GPU."""
    gradviz.set_default_device("cuda")
    yield
    gradviz.set_default_device(None)
