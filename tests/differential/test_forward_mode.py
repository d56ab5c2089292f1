"""The tangents of every expression of the table, in forward mode, side by side with PyTorch."""

import warnings

import numpy as np
import pytest

import gradviz
from tests.differential import compare, table

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)

# Where gradviz is known to differ, and why.
DIFFERENT = (
    table.DIFFERENT
    | {
        "torch.nan_to_num(x / zeros)": "a zero gradient stays zero beside an infinite one here",
        "u.logit()": "a zero gradient stays zero outside of the domain here",
        "x ** z": "PyTorch drops the imaginary part of the tangent",
        "e.mean(0)": "the tangent of a mean of nothing is 0 here",
        "torch.linalg.cholesky(P)": "the tangent is taken as symmetric here",
        "torch.linalg.cholesky_ex(P)": "the tangent is taken as symmetric here",
        "x.scatter_reduce(1, n, y, 'prod')": "scatter_reduce has a forward derivative here",
    }
    | dict.fromkeys(
        (
            "torch.nextafter(n1, x)",
            "n1.cumprod(0, dtype=torch.float64)",
            "n1.norm(dtype=torch.float64)",
        ),
        "the tangent has the dtype of the result here",
    )
    | dict.fromkeys(
        (
            "x.scatter(1, n, y)",
            "out = x.clone(); out.scatter_(1, n, y)",
            "x.index_put((iv, iv), h)",
            "out = x.clone(); out[iv] = v",
            "x.put(iv, h)",
            "out = x.clone(); out.put_(iv, h)",
        ),
        "of several values for one place the tangents are added here",
    )
)


def tangents(engine, expression, given):
    """The tangents of all results, or the exception."""
    rng = np.random.default_rng(3)
    forward = engine.autograd.forward_ad
    scope = {"torch": engine}
    with forward.dual_level(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, array in given.items():
            t = engine.tensor(np.ascontiguousarray(array) if array.ndim else array)
            if array.dtype.kind in "fc":
                v = rng.standard_normal(array.shape)
                if array.dtype.kind == "c":
                    v = v + 1j * rng.standard_normal(array.shape)
                t = forward.make_dual(t, engine.tensor(np.asarray(v)).to(t.dtype))
            scope[name] = t
        try:
            if "\n" in expression or ";" in expression:
                exec(expression, scope)  # noqa: S102
                result = scope["out"]
            else:
                result = eval(expression, scope)  # noqa: S307
        except Exception as error:  # noqa: BLE001
            return type(error).__name__
        found = [
            forward.unpack_dual(t).tangent
            for t in compare.flatten(result, engine.Tensor)
            if isinstance(t, engine.Tensor)
        ]
        return [None if t is None else compare.numbers(t) for t in found]


def same(a, b):
    if isinstance(a, str) or isinstance(b, str):
        return a == b
    return all(
        x is None
        and y is None
        or x is not None
        and y is not None
        and x.shape == y.shape
        and x.dtype == y.dtype
        and compare.same_numbers(x, y, 10)
        for x, y in zip(a, b, strict=True)
    )


@pytest.mark.parametrize("family", sorted(set(table.FAMILIES) - {"factories", "misuse"}))
def test_tangents(family):
    wrong = []
    for expression in table.FAMILIES[family]:
        given = {n: compare.INPUTS[n] for n in compare.names_in(expression)}
        if expression not in DIFFERENT and not same(
            tangents(torch, expression, given), tangents(gradviz, expression, given)
        ):
            wrong.append(expression)
    assert not wrong
