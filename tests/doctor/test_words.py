"""The words of findings name what the person wrote."""

import contextlib

import pytest

from gradviz.notebook import alias
from tests.doctor.notebook import Notebook


@pytest.fixture
def book():
    alias.install()
    made = Notebook()
    made.run("import torch\nw = torch.ones(3, requires_grad=True)")
    yield made
    made.close()


def words(book, rule):
    found = next(finding for finding in book.findings if finding.rule == rule)
    return found.message["en"], found.fix["en"]


def test_the_state_is_named_in_the_line_to_write(book):
    book.run(
        "best = torch.tensor(9.0)\n"
        "for i in range(4):\n"
        "    loss = (w * w).sum(); loss.backward(); w.grad = None\n"
        "    best = torch.minimum(best, loss)"
    )
    assert "best = best.detach()" in words(book, "GV103")[1]


def test_a_default_argument_is_one_of_its_function(book):
    book.run(
        "fs = []\n"
        "for i in range(3):\n"
        "    loss = w.exp().sum()\n"
        "    fs.append(lambda loss=loss: loss.item())"
    )
    message, fix = words(book, "GV108")
    assert "of <lambda> keeps" in message and "loss.detach()" in fix


def test_a_light_result_that_was_shown_is_only_mentioned(book):
    def severity():
        return next(f.severity for f in book.findings if f.rule == "GV105")

    book.run("v = torch.ones(3000, requires_grad=True)\nc = v.exp() + 1\nc")
    assert severity() == "warning"
    book.run("c = w.sin() + w * w\nc", "light")
    book.run("v = c = None\nOut = None")
    book.out.pop(2)
    book.run("del _2")
    assert severity() == "info"


def test_what_to_store_is_named_as_the_person_named_it(book):
    book.run(
        "hist = []\n"
        "for i in range(3):\n"
        "    total_loss = (w * w).sum(); total_loss.backward(); w.grad = None\n"
        "    hist.append(total_loss)"
    )
    assert "append total_loss.item() or total_loss.detach()" in words(book, "GV101")[1]


def test_what_is_not_a_number_is_detached(book):
    book.run(
        "acts = {}\n"
        "for i in range(3):\n"
        "    h = w * w; h.sum().backward(); w.grad = None\n"
        "    acts[i] = (i, h)"
    )
    assert "append h.detach()." in words(book, "GV101")[1]


def test_a_mean_names_the_sum_that_it_was_made_from(book):
    book.run(
        "def epoch():\n"
        "    total = 0\n"
        "    for i in range(4):\n"
        "        loss = (w * w).sum(); loss.backward(); w.grad = None\n"
        "        total += loss\n"
        "    return total / 4"
    )
    book.run("mean = epoch()")
    message, fix = words(book, "GV102")
    assert message.startswith("mean is a sum") and "to total: use loss.item()" in fix


@pytest.mark.parametrize(
    ("cell", "rule", "message", "fix"),
    [
        ("(w * 2).backward()", "GV505", "(w * 2) has", "Call (w * 2).mean().backward()"),
        ("w[1:].backward()", "GV505", "w[1:] has", "Call w[1:].mean().backward()"),
        ("w.exp().backward()", "GV505", "w.exp() has", "Call w.exp().mean().backward()"),
        ("torch.tensor([1, 2], requires_grad=True)", "GV509", "torch.tensor([1, 2], ", "1.0"),
        ("n = torch.tensor([1], requires_grad=True)", "GV509", "n holds", "1.0"),
    ],
)
def test_an_expression_at_fault_is_one_that_can_be_written(book, cell, rule, message, fix):
    with contextlib.suppress(RuntimeError):
        book.run(cell)
    said = words(book, rule)
    assert said[0].startswith(message) and fix in said[1]


@pytest.mark.parametrize(("cells", "read"), [(1, "line 2"), (2, "In [3], line 1")])
def test_where_a_gradient_was_read(book, cells, read):
    lines = ["h = w * 2; h.sum().backward()", "h.grad"]
    for cell in ["\n".join(lines)] if cells == 1 else lines:
        book.run(cell)
    assert f"(read at {read})" in words(book, "GV201")[0]


def test_a_parameter_left_behind_with_its_gradients_graph(book):
    book.run("(w * w).sum().backward(create_graph=True)")
    book.run("w = torch.ones(3, requires_grad=True)")
    message, fix = words(book, "GV114")
    assert "left behind with its parameter (1 time)" in message and ".grad = None" in fix


@pytest.mark.parametrize(
    ("line", "write"),
    [
        ("np.asarray(losses)", "for x in losses]"),
        ("np.asarray([loss for loss in losses])", "for x in losses]"),
        ("np.asarray(losses[1:])", "for x in losses]"),
        ("np.asarray(w)", "w.detach()"),
        ("np.asarray(w * 2)", "w.detach()"),
        ("np.asarray(torch.nn.Linear(2, 2).weight)", "torch.nn.Linear(2, 2).weight.detach()"),
    ],
)
def test_what_was_handed_to_numpy_is_detached_and_not_what_numpy_gives(book, line, write):
    book.run("import numpy as np\nlosses = [(w * i).sum() for i in range(3)]")
    book.run(f"shown = {line}")
    fix = words(book, "GV510")[1]
    assert write in fix and "asarray" not in fix


STEP = "def step():\n    loss = (w * w).sum(); loss.backward(); w.grad = None\n    return loss\n"


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("kept = [step() for _ in range(4)]", "step()"),
        ("kept = {i: step() for i in range(4)}", "step()"),
        ("kept = []\nfor i in range(4): kept.append((i, step()))", "step()"),
        ("kept = []\nfor i in range(4): v = step(); kept.append((i, v, v.item()))", "v"),
    ],
)
def test_what_to_store_is_no_counter(book, lines, value):
    book.run(STEP + lines)
    assert f"append {value}.item() or {value}.detach()." in words(book, "GV101")[1]


def test_a_product_that_is_kept_is_detached_as_a_whole(book):
    book.run(
        "hist = []\nfor i in range(4):\n    v = w * i; v.sum().backward()\n    hist.append(v * 2)"
    )
    for at in range(4):
        book.run(f"hist[{at}].sum().backward(); w.grad = None")
    assert "append (v * 2).detach()." in words(book, "GV101")[1]


@pytest.mark.parametrize(
    ("lines", "place", "name", "value"),
    [
        ("t = 0.; n = 0\nfor i in range(4):\n    n += 1; t = t + step()", 3, "t", "step()"),
        ("t = 0.; n = 0\nfor i in range(4):\n    v = step(); t += v; n += 1", 3, "t", "v"),
        ("t = 0.\nfor i in range(4): t = 0.9 * t + 0.1 * step()", 2, "t", "step()"),
        (
            "def epoch():\n    run = 0.\n    for i in range(4):\n        v = step()\n"
            "        run = run + v\n    return run\n"
            "hist = {}\nfor e in range(2): hist[e] = epoch()",
            5,
            "run",
            "v",
        ),
        (
            "class Mean:\n    def __init__(self): self.sum = 0.; self.n = 0\n"
            "    def add(self, v): self.sum += v; self.n += 1\n"
            "m = Mean()\nfor i in range(4): m.add(step())",
            3,
            "self.sum",
            "v",
        ),
    ],
)
def test_a_total_is_named_where_it_is_added_to(book, lines, place, name, value):
    book.run(STEP)
    book.run(lines)
    found = next(finding for finding in book.findings if finding.rule == "GV102")
    assert found.line == place
    assert f"Add plain numbers to {name}: use {value}.item()" in found.fix["en"]


def test_a_parameter_that_is_lost_is_no_total(book):
    book.run(
        "for i in range(4):\n"
        "    loss = (w * w).sum()\n"
        "    w.retain_grad() if not w.is_leaf else None\n"
        "    loss.backward()\n"
        "    w = w - 0.1 * w.grad"
    )
    assert {f.rule for f in book.findings} & {"GV209", "GV102"} == {"GV209"}


@pytest.mark.parametrize(
    "kept", ["functools.partial(print, step())", "types.SimpleNamespace(at=i, loss=step())"]
)
def test_what_holds_them_all_is_named(book, kept):
    book.run(
        f"import functools, types\n{STEP}calls = []\nfor i in range(4):\n    calls.append({kept})"
    )
    assert words(book, "GV101")[0].startswith("calls holds 4 tensors")


def test_what_to_write_into_a_tensor_that_is_filled(book):
    book.run("curve = torch.zeros(4)")
    book.run("for i in range(4):\n    v = (w * i).sum(); v.backward(); curve[i] = v")
    assert words(book, "GV103")[1] == "Put only values into curve: v.detach()."
