"""Tensors of many dtypes, shapes and ranges print as in PyTorch, under every option."""

import random
import warnings

import numpy as np
import pytest

import gradviz

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed here: nothing to compare with"
)

OPTIONS = [
    *[{}] * 6,
    {"precision": 2},
    {"sci_mode": True},
    {"sci_mode": False},
    {"threshold": 5},
    {"edgeitems": 1, "threshold": 3},
    {"linewidth": 40},
    {"profile": "short"},
    {"profile": "full"},
]
KINDS = ["f4", "f4", "f8", "i8", "i4", "u1", "b", "c8", "c16", "f2", "bfloat16"]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0]


def _array(r, choose, kind):
    dims = choose.choice([0, 1, 1, 2, 2, 3, 4])
    shape = tuple(
        choose.choice([0, 1, 2, 3, 5, 8, 12] if dims < 4 else [1, 2, 3]) for _ in range(dims)
    )
    base = r.standard_normal(shape) * choose.choice([1, 1, 10, 1e3, 1e5, 1e9, 1e-3, 1e-6])
    if choose.random() < 0.3:
        base = np.round(base)
    if choose.random() < 0.2 and base.size:
        base = np.where(r.random(shape) < 0.3, choose.choice(SPECIAL), base)
    if kind == "b":
        return base > 0
    if kind in ("i8", "i4", "u1"):
        low, high = (0, 255) if kind == "u1" else (-2e9, 2e9)
        return np.nan_to_num(base, posinf=5, neginf=low).clip(low, high).astype(kind)
    if kind.startswith("c"):
        return (base + 1j * r.standard_normal(shape)).astype(kind)
    with np.errstate(over="ignore"):
        return base.astype("f4" if kind == "bfloat16" else kind)


def _tensor(engine, array, kind, k):
    t = engine.tensor(array)
    if kind == "bfloat16":
        return t.bfloat16()
    if kind in ("f4", "f8", "c8", "c16") and k % 3:
        t.requires_grad_()
        return t.clone() if k % 3 == 2 else t
    return t


def _text(engine, array, kind, k, options):
    engine.set_printoptions(profile="default")
    engine.set_printoptions(**options)
    try:
        return repr(_tensor(engine, array, kind, k))
    finally:
        engine.set_printoptions(profile="default")


@pytest.mark.parametrize("seed", range(6))
def test_as_in_pytorch(seed):
    r, choose = np.random.default_rng(seed), random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in range(100):
            kind, options = choose.choice(KINDS), choose.choice(OPTIONS)
            array = _array(r, choose, kind)
            assert _text(gradviz, array, kind, k, options) == _text(
                torch, array, kind, k, options
            ), (options, array)
