"""Random programs of views and in-place operations: after every line the same values, versions,
nodes and errors as in PyTorch.
"""

import warnings

import pytest
from programs import first_difference, program, run

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)


@pytest.mark.parametrize("first", range(0, 300, 50))
def test_as_in_pytorch(first):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(first, first + 50):
            lines = program(seed, 4 + seed % 7)
            apart = first_difference(lines, run(torch, lines), run(gradviz, lines))
            assert apart is None, f"program {seed}:\n{apart}"
