"""``device("meta")``: every expression of the table has there the form that it has on the CPU, and
so have its gradients; nothing is read and nothing is allocated.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import gradviz
from gradviz.backend import meta

sys.path.insert(0, str(Path(__file__).parent.parent / "differential"))
from compare import INPUTS, evaluate, flatten, names_in  # noqa: E402
from table import FAMILIES  # noqa: E402

# what depends on numbers, and tensors of the CPU that the expression makes itself
REFUSED = (
    "register_meta function for torch.nonzero",
    "attempted to run this operator with Meta tensors",
    "Tensor.item() cannot be called on meta tensors",
    "Cannot copy out of meta tensor; no data!",
    "can't convert meta device type tensor to numpy",
    "cannot repeat_interleave a meta tensor",
    "Tensor on device cpu is not on the expected device meta!",
    "Tensor on device meta is not on the expected device cpu!",
)


def on_meta(engine, array):
    return engine.tensor(np.ascontiguousarray(array), device="meta")


def form(t):
    return None if t is None else (t.shape, t.stride(), t.dtype, type(t.grad_fn).__name__)


def forms(expression, given):
    """The forms of the results and of the first gradients; an exception for what is refused."""
    inputs, found = evaluate(gradviz, expression, given, True)
    if isinstance(found, Exception):
        return found
    results = [t for t in flatten(found, gradviz.Tensor) if isinstance(t, gradviz.Tensor)]
    tracked = [t.sum() for t in results if t.requires_grad]
    leaves = [t for t in inputs.values() if t.requires_grad]
    gradients = []
    if tracked and leaves:
        try:
            gradients = gradviz.autograd.grad(tracked, leaves, allow_unused=True)
        except (RuntimeError, NotImplementedError) as error:
            return error
    return [form(t) for t in results], [None if g is None else g.shape for g in gradients]


@pytest.mark.parametrize("family", FAMILIES)
def test_forms_are_those_of_the_cpu(family):
    apart, refused = [], 0
    for expression in FAMILIES[family]:
        given = {name: INPUTS[name] for name in names_in(expression)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = forms(expression, given)
            if not given or isinstance(wanted, Exception):
                continue
            found = forms(expression, {name: (on_meta, array) for name, array in given.items()})
        if isinstance(found, Exception):
            refused += 1
            if not any(phrase in str(found) for phrase in REFUSED):
                apart.append((expression, found))
        elif found != wanted:
            apart.append((expression, found, wanted))
    assert not apart
    assert refused <= max(12, len(FAMILIES[family]) // 10)


def test_a_model_that_would_fill_no_memory():
    with gradviz.device("meta"):
        model = gradviz.nn.Sequential(
            gradviz.nn.Linear(200_000, 100_000), gradviz.nn.ReLU(), gradviz.nn.Linear(100_000, 9)
        )
        loss = model(gradviz.rand(4, 200_000)).square().mean()
    loss.backward()
    assert model[0].weight.grad.shape == (100_000, 200_000)
    gradviz.optim.Adam(model.parameters()).step()
    assert model[0].weight.is_meta
    assert gradviz.empty(10**14, device="meta").view(10**7, 10**7).t().stride() == (1, 10**7)


def test_no_memory_is_shared_with_another_array():
    a, b = meta.fresh((2, 3), np.float32), meta.fresh((2, 3), np.float32)
    assert a[1].owner is a
    assert abs(a.pointer - b.pointer) >= a.nbytes
