"""The code of a tensor, as a person copies it."""

import pytest

import gradviz as torch
from gradviz.sources.sheet import sheet

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([[1.0, NAN], [0.1, -INF]], "float32"),
        ([0.1, 1e-8, 3e20, INF], "float64"),
        (3, "int64"),
        ([True, False], "bool"),
        ([1 + 2j, complex(NAN, 1), complex(0, -INF)], "complex64"),
        ([0.1, 2.5], "bfloat16"),
        ([[], []], "float32"),
    ],
)
def test_copied_code_makes_the_same_tensor(values, dtype):
    tensor = torch.tensor(values, dtype=getattr(torch, dtype))
    again = eval(sheet(tensor).code)
    assert again.dtype == tensor.dtype and again.shape == tensor.shape
    torch.testing.assert_close(again, tensor, rtol=1e-3, atol=0, equal_nan=True)
    if dtype != "bfloat16":
        torch.testing.assert_close(again, tensor, rtol=0, atol=0, equal_nan=True)


def test_it_is_short_and_says_that_a_leaf_requires_grad():
    leaf = torch.tensor([0.1, 0.2], requires_grad=True)
    assert sheet(leaf).code == "torch.tensor([0.1, 0.2], dtype=torch.float32, requires_grad=True)"
    assert "requires_grad" not in sheet(leaf * 2).code
