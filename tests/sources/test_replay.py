"""Nodes run again on copies: checks that find a wrong rule, what would be, nothing changed."""

import numpy as np
import pytest

import gradviz as torch
import gradviz.nn.functional as F
from gradviz import nn
from gradviz.ops.declare import declare
from gradviz.sources.replay import Copies, NotAgain, check

COPIES = Copies(lambda id: None)
CALLS = {
    "mul": lambda x, h: x * h,
    "add a number": lambda x, h: h + 1,
    "from a number": lambda x, h: 1 - h,
    "exp of a result": lambda x, h: h.exp(),
    "softmax": lambda x, h: h.softmax(1),
    "matmul": lambda x, h: x @ h.T,
    "cat": lambda x, h: torch.cat([x, h]),
    "index": lambda x, h: x[torch.tensor([0, 2])],
    "largest": lambda x, h: h.max(1).values,
    "convolution": lambda x, h: F.conv1d(h[None], torch.randn(2, 3, 2)),
    "loss": lambda x, h: F.cross_entropy(h, torch.tensor([1, 2, 0])),
    "half": lambda x, h: h.half(),
}
REFUSED = {
    "batch norm": ("beside", lambda x: nn.BatchNorm1d(4)(x)),
    "complex": ("not_real", lambda x: torch.view_as_complex(x.view(3, 2, 2))),
    "own": ("own_function", lambda x: Own.apply(x)),
}


class Own(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


def tensors():
    torch.manual_seed(0)
    x = torch.randn(3, 4, requires_grad=True)
    return x, x * 2


@pytest.mark.parametrize("name", CALLS)
def test_a_declared_rule_agrees_with_differences(name):
    y = CALLS[name](*tensors())
    rows, _ = check(y.grad_fn, COPIES)
    assert rows and all(row.agrees for row in rows)


def test_a_wrong_rule_is_found():
    wrong = declare("wrong_sine", np.sin, "self", self=lambda F, g, self: g * self)
    (row,), own = check(wrong(tensors()[0]).grad_fn, COPIES)
    assert row.input == "self" and not row.agrees and row.error > 0.1 and own


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_run_again_says_why(name):
    why, make = REFUSED[name]
    with pytest.raises(NotAgain) as raised:
        check(make(tensors()[0]).grad_fn, COPIES)
    assert raised.value.why == why


LOSS = """w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
x, t = torch.tensor([3.0, 4.0]), torch.tensor(1.0)
loss = (1 - ((w * x).sum() + b - t).sigmoid()) ** 2 + (w * 2).sum() * 0.1"""


def ids(book):
    return {row.label: id for id, row in book.recorder.trace.nodes.items() if row.label}


def test_what_would_be_is_what_the_code_gives_and_changes_nothing(book):
    book.run(LOSS)
    asked = {"what": "whatif", "id": ids(book)["w"], "value": [0.1, 0.2]}
    rows = book.source.attempt(asked)["rows"]
    book.run(LOSS.replace("[1.0, 2.0]", "[0.1, 0.2]").replace("w =", "v =").replace("(w *", "(v *"))
    v, b, loss = (book.ns[name] for name in ("v", "b", "loss"))
    loss.backward()
    told = {(row["what"], np.ndim(row["after"].values)): row["after"].values for row in rows}
    assert told["value", 0] == pytest.approx(loss.item(), rel=1e-6)
    assert told["grad", 1] == pytest.approx(v.grad.tolist(), rel=1e-5)
    assert told["grad", 0] == pytest.approx(b.grad.item(), rel=1e-5)
    assert book.ns["w"].grad is None and book.ns["w"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("after", "value", "why"),
    [
        ("", [1.0], "bad_value"),
        ("", "x", "bad_value"),
        ("loss.backward()", [1.0, 2.0], "unknown"),
        ("del b", [1.0, 2.0], None),
    ],
)
def test_what_cannot_be_said_is_not(book, after, value, why):
    book.run(LOSS + "\n" + after)
    asked = {"what": "whatif", "id": ids(book)["w"], "value": value}
    assert book.source.attempt(asked).get("why") == why
    assert book.source.attempt(asked | {"id": 10**9})["why"] == "gone"


def test_nothing_is_run_while_a_cell_runs(book):
    book.run(LOSS)
    book.recorder.begin_cell(9, None, "")
    assert book.source.attempt({"what": "check", "id": 1})["why"] == "busy"
