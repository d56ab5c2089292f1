"""Kernels with and without numba."""

import importlib.util

import pytest

from gradviz.backend import fast

HAS_NUMBA = importlib.util.find_spec("numba") is not None


@pytest.fixture(params=["numpy", "numba"] if HAS_NUMBA else ["numpy"])
def kernels(request, monkeypatch):
    """What computes large arrays; numba computes small ones too, in these tests."""
    compiled = None
    if request.param == "numba":
        from gradviz.backend import compiled
    monkeypatch.setattr(fast, "_kernels", compiled)
    monkeypatch.setattr(fast, "LARGE", 1)
    return request.param
