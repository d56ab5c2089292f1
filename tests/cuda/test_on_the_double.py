"""The comparison with PyTorch, on the strict double of a GPU: every expression of the table, every
program of the layers and the optimizers, the scenarios and some random programs, with everything
made on ``cuda``. What reaches the host unasked raises there.
"""

import importlib.util
import json
import sys
import warnings
from pathlib import Path

import pytest

import gradviz
from gradviz.backend import twin
from tests.differential import observe, random_programs, scenarios
from tests.nn import both
from tests.nn.programs import PROGRAMS as LAYERS
from tests.optim.programs import PROGRAMS as OPTIMIZERS

sys.path.insert(0, str(Path(__file__).parent.parent / "differential"))
from compare import differences  # noqa: E402
from table import DIFFERENT, FAMILIES, LOOSE  # noqa: E402

HAVE_TORCH = importlib.util.find_spec("torch") is not None
# expression or the start of a program, and why it is another one on a GPU
OTHERWISE = {
    "x.numpy()": "a tensor on a GPU has no array",
    "torch.tensor(i.numpy())": "a tensor on a GPU has no array",
    "m = nn.LSTM(3, 4, 2, bidirectional=True); seqs": "lengths must be on the CPU",
    "x.device": "it is another one",
    "x.type()": "it is another one",
    "i.type()": "it is another one",
    "tensors without numbers": "those beside them are on a GPU, not on the CPU",
    "modules without numbers": "those beside them are on a GPU, not on the CPU",
    "x.to('cuda')": "there is one",
    "F.nll_loss(torch.randn(2, 2), torch.tensor([0, 5]))": "no wait: the loss is NaN",
    "misuse of losses and layers": "no wait: the loss of a class that does not exist is NaN",
    "m = nn.Linear(2, 1); x = torch.ones(3, 2)\nwith amp.autocast": 'autocast("cpu") is not for it',
}


SCENARIOS = dict(scenarios.scenarios())
# scenarios that are others on a GPU, and why
NOT_THERE = {
    "more: numpy, item, tolist of tracked": "a tensor on a GPU has no array",
    "more: numpy shared memory is not noticed": "a tensor on a GPU has no array",
    "accumulate: which gradients are taken over, and which are copied": "all are copied there",
    "accumulate: one gradient for two leaves, through views": "all are copied there",
}


@pytest.fixture(scope="module", autouse=True)
def everything_on_cuda():
    """New tensors are made on the double."""
    with twin.installed():
        gradviz.set_default_device("cuda")
        yield
        gradviz.set_default_device(None)


def is_otherwise(program):
    """Whether a difference is expected: it must then be there."""
    return any(start in program for start in OTHERWISE)


EXPRESSIONS = [
    (family, one) for family, them in FAMILIES.items() for one in them if one not in DIFFERENT
]


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize(("family", "expression"), EXPRESSIONS)
def test_operations(family, expression):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loose = expression in LOOSE or family in LOOSE
        try:
            apart = differences(torch, gradviz, expression, loose=loose)
        except TypeError as error:
            apart = [str(error)]
    assert bool(apart) == (expression in OTHERWISE), apart


def without_device(found):
    """A result whose printed tensors do not name the GPU."""
    if isinstance(found, list):
        return [without_device(x) for x in found]
    if isinstance(found, dict):
        return {k: without_device(v) for k, v in found.items()}
    return found.replace(", device='cuda:0'", "") if isinstance(found, str) else found


RECORDED = {
    **{("layers", k): v for k, v in both.recorded().items()},
    **{
        ("optimizers", k): v
        for k, v in json.loads(
            (Path(__file__).parent.parent / "optim" / "recorded.json").read_text(encoding="utf-8")
        ).items()
    },
}


@pytest.mark.parametrize(
    ("part", "name"),
    [("layers", k) for k in LAYERS] + [("optimizers", k) for k in OPTIMIZERS],
)
def test_programs(part, name):
    program = (LAYERS if part == "layers" else OPTIMIZERS)[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = both.run("gradviz", program)
        except RuntimeError as error:
            found = str(error)
    found = without_device(found)
    same = both.same(found, RECORDED[part, name])
    assert same != (is_otherwise(name) or is_otherwise(program)), (found, RECORDED[part, name])


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize("title", [t for t in SCENARIOS if t not in NOT_THERE])
def test_scenarios(title):
    import torch

    text = SCENARIOS[title]
    told, got = scenarios.seen_on(torch, text), scenarios.seen_on(gradviz, text)
    assert not observe.differences(told, got)


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize("first", [31_000, 31_025])
def test_random_programs(first):
    import torch

    for seed in range(first, first + 25):
        statements, with_graph = random_programs.build(torch, seed)
        found = random_programs.compare(torch, gradviz, statements, with_graph)
        assert not found, "\n".join((f"seed {seed}", *statements, *found[:6]))
