"""Modules with options chosen from their tables: printed form, state, output, node and gradients
are those of PyTorch, or the error is.
"""

import importlib
import importlib.util
import itertools
import math
import random
import warnings

import pytest

from tests.differential.modules import TABLES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None, reason="needs PyTorch to compare with"
)
CHOSEN = 6  # combinations of a table's options


def chosen(options):
    """Some of all combinations, the same in every run."""
    every = list(itertools.product(*options.values()))
    picked = random.Random(0).sample(every, min(CHOSEN, len(every)))
    return [dict(zip(options, values, strict=True)) for values in picked]


def tensors(torch, found):
    if isinstance(found, torch.Tensor):
        return [found]
    return [t for part in found for t in tensors(torch, part)]


def numbers(t):
    return None if t is None else (list(t.shape), t.detach().double().flatten().tolist())


def outcome(engine, name, options, inputs):
    """What a module is and gives, as plain data."""
    torch = importlib.import_module(engine)
    made = getattr(importlib.import_module(f"{engine}.nn"), name)
    try:
        torch.manual_seed(1)
        module = made(**options)
        torch.manual_seed(2)
        given = eval(f"({inputs},)", {"torch": torch, "R": torch.randn})  # noqa: S307
        for x in given:
            x.requires_grad_(x.is_floating_point())
        out = tensors(torch, module(*given))
        loss = 0
        for y in out:
            if y.requires_grad:
                weights = torch.arange(1, y.numel() + 1).reshape(y.shape)
                loss = loss + (y.double() * weights).sum() / max(y.numel(), 1)
        if isinstance(loss, torch.Tensor):
            loss.backward()
    except Exception as error:  # noqa: BLE001
        return {"error": [type(error).__name__, str(error).split("\n")[0]]}
    return {
        "repr": repr(module),
        "state": {k: numbers(v) for k, v in module.state_dict().items()},
        "out": [numbers(y) for y in out],
        "nodes": [None if y.grad_fn is None else y.grad_fn.name() for y in out],
        "inputs": [numbers(x.grad) for x in given],
        "parameters": {k: numbers(p.grad) for k, p in module.named_parameters()},
    }


def close(ours, theirs):
    """Equal, numbers to 2e-4."""
    if isinstance(theirs, float):
        same = isinstance(ours, float) and math.isclose(ours, theirs, rel_tol=2e-4, abs_tol=2e-4)
        return same or (ours != ours and theirs != theirs)
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(close(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, (list, tuple)):
        same = isinstance(ours, (list, tuple)) and len(ours) == len(theirs)
        return same and all(map(close, ours, theirs))
    return ours == theirs


@pytest.mark.parametrize("table", range(len(TABLES)), ids=lambda k: f"{k}-{TABLES[k][0]}")
def test_as_in_pytorch(table):
    name, options, inputs, more = TABLES[table]
    for picked in chosen(options):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours, theirs = (outcome(e, name, picked, inputs) for e in ("gradviz", "torch"))
        if not more.get("nodes", True):
            ours.pop("nodes", None)
            theirs.pop("nodes", None)
        wrong = [k for k in theirs if not close(ours.get(k), theirs[k])]
        assert not wrong, (name, picked, [(k, ours.get(k), theirs[k]) for k in wrong[:1]])
