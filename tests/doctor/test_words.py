"""The words of findings name what the person wrote."""

import pytest

from gradviz.cli import alias
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
    assert "of <lambda> keeps" in message and "x.detach()" in fix


def test_a_result_that_a_name_holds_too_is_only_mentioned(book):
    def severity():
        return next(f.severity for f in book.findings if f.rule == "GV105")

    book.run("c = w.sin() + w * w\nc")
    assert severity() == "info"
    book.run("del c")
    assert severity() == "warning"
