"""Every expression of the table on PyTorch and on gradviz: values, dtypes, shapes, strides, views,
errors and their words, the graph
below the result, saved names, first and second derivatives.
"""

import pytest
from compare import differences
from table import DIFFERENT, FAMILIES, LOOSE

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)

CASES = [
    (family, expression) for family, expressions in FAMILIES.items() for expression in expressions
]


@pytest.mark.parametrize(("family", "expression"), CASES, ids=[f"{f}: {e}" for f, e in CASES])
def test_as_in_pytorch(family, expression):
    if expression in DIFFERENT:
        pytest.xfail(DIFFERENT[expression])
    assert (
        differences(torch, gradviz, expression, loose=expression in LOOSE or family in LOOSE) == []
    )


@pytest.mark.parametrize("expression", DIFFERENT)
def test_a_known_difference_is_still_one(expression):
    """When it is gone, its line in the table goes too."""
    assert differences(torch, gradviz, expression) != []
