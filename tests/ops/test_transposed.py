"""Matrices turned over, and what is none."""

import pytest

import gradviz as torch


def test_a_number_stays():
    x = torch.tensor(3.0)
    with pytest.warns(UserWarning, match=r"Tensor.m[TH] is deprecated on 0-D tensors"):
        assert x.mT.item() == x.mH.item() == 3


@pytest.mark.parametrize("name", ["mT", "mH"])
def test_a_line_is_refused(name):
    with pytest.raises(RuntimeError, match=f"tensor.{name} is only supported on matrices"):
        getattr(torch.ones(2), name)
