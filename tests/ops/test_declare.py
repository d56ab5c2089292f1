"""What holds for every declared operation."""

import pytest

import gradviz.nn.functional  # noqa: F401  its tables count too
from gradviz.engine.operation import RAW, TENSOR

OPERATIONS = {n: f.op for n, f in vars(TENSOR).items() if getattr(f, "op", None) is not None}
DERIVABLE = [op for op in OPERATIONS.values() if op.edges and op.node.__name__ != "NotImplemented"]


@pytest.mark.parametrize("op", DERIVABLE, ids=lambda op: op.name)
def test_an_operation_with_a_derivative_says_its_formula(op):
    assert op.formula


def test_every_operation_is_there_on_arrays_and_on_tensors():
    assert [n for n in OPERATIONS if not hasattr(RAW, n)] == []


@pytest.mark.parametrize("op", OPERATIONS.values(), ids=lambda op: op.name)
def test_inputs_without_a_derivative_come_last(op):
    known = [d is not None for d in op.derivatives]
    assert len(known) == op.edges or op.joint is not None
