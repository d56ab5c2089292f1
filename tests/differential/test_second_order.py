"""The graph of a double backward, side by side with PyTorch, for every expression of the tables."""

import pytest

import gradviz
from tests.differential import layers, second_order, table

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)

_ALL = table.FAMILIES | {"layers": layers.LAYERS, "composed": layers.COMPOSED}
CASES = {
    family: [e for e in expressions if e not in table.DIFFERENT]
    for family, expressions in _ALL.items()
}


@pytest.mark.parametrize("expression", layers.LAYERS + layers.COMPOSED)
def test_first_order(expression):
    a, b = (second_order.results(engine, expression) for engine in (torch, gradviz))
    assert second_order.plan(a) == second_order.plan(b)


@pytest.mark.parametrize("family", CASES)
def test_graphs(family):
    wrong = {
        expression: found
        for expression in CASES[family]
        if expression not in table.OTHERWISE_DERIVED
        and (found := second_order.differences(torch, gradviz, expression))
    }
    assert not wrong


@pytest.mark.parametrize("expression", table.OTHERWISE_DERIVED)
def test_a_known_difference_is_still_one(expression):
    """When it is gone, its line in the table goes too."""
    assert second_order.differences(torch, gradviz, expression)
