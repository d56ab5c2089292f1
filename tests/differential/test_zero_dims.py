"""Derivatives of numbers: there NumPy gives scalars where it gives arrays otherwise."""

import numpy as np
import pytest
from compare import names_in
from table import FAMILIES

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)

NUMBERS = {"x": 0.7, "y": -0.4, "p": 1.3, "q": 0.8, "u": 0.3, "a": 1.5, "s": 0.7, "zeros": 0.0}
EXPRESSIONS = [
    e
    for family in ("unary", "arithmetic", "specials", "inplace")
    for e in FAMILIES[family]
    if names_in(e) and set(names_in(e)) <= set(NUMBERS)
]


def gradients(engine, expression):
    """The derivatives for the numbers of ``expression``, None where there is none."""
    leaves = {
        n: engine.tensor(NUMBERS[n], dtype=engine.float64, requires_grad=True)
        for n in names_in(expression)
    }
    scope = {"torch": engine} | {n: t * 1.0 for n, t in leaves.items()}
    exec(expression if ";" in expression else f"out = {expression}", scope)
    out = scope["out"]
    if not (isinstance(out, engine.Tensor) and out.requires_grad):
        return None
    (out.sum().sin() * 2.0).exp().backward()
    return [np.nan if t.grad is None else t.grad.item() for t in leaves.values()]


def test_derivatives_of_numbers():
    compared = 0
    for expression in EXPRESSIONS:
        try:
            told = gradients(torch, expression)
        except (RuntimeError, IndexError):
            continue
        got = gradients(gradviz, expression)
        assert (told is None) == (got is None), expression
        if told is not None:
            compared += 1
            np.testing.assert_allclose(got, told, rtol=1e-6, err_msg=expression)
    assert compared > 150
