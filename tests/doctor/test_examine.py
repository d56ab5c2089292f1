"""Findings come and go with what they are about, and mark the nodes that they name."""

import sys

import pytest

from gradviz.doctor.finding import amount
from gradviz.notebook import alias
from tests.doctor.notebook import Notebook


@pytest.fixture
def book():
    alias.install()
    made = Notebook()
    made.run("import torch\nw = torch.ones(3, requires_grad=True)")
    yield made
    made.close()


LEAK = """hist = []
for _ in range(4):
    loss = (w ** 2).sum()
    loss.backward()
    w.grad = None
    hist.append(loss)
"""


def kinds(book):
    return [finding.kind for finding in book.findings]


def test_a_leak_goes_when_it_is_released(book):
    book.run(LEAK)
    assert kinds(book) == ["leak.container"]
    (finding,) = book.findings
    assert finding.holders[0] == "hist[0]" and (finding.cell, finding.line) == (2, 6)
    assert finding.nodes == 8 and finding.message["en"] != finding.message["zh"]
    book.run("hist.clear()")
    assert kinds(book) == [] and book.recorder.trace.findings == []


def test_named_nodes_are_marked_and_unmarked(book):
    book.run(LEAK)
    marked = [node for node in book.recorder.trace.nodes.values() if node.findings]
    assert [node.findings for node in marked] == [["GV101"]]
    assert book.recorder.trace.cells[-1].bytes["kept"] == book.findings[0].bytes
    book.run("hist.clear()")
    assert not any(node.findings for node in book.recorder.trace.nodes.values())


def test_an_error_goes_when_its_cell_is_run_again(book):
    book.run("y = (w ** 2).sum()\ny.backward()\ny.backward()", "a")
    assert "error.double-backward" in kinds(book)
    book.run("z = 1", "b")
    assert "error.double-backward" in kinds(book)
    book.run("y = (w ** 2).sum()\ny.backward()", "a")
    assert "error.double-backward" not in kinds(book)


def test_a_remark_about_the_text_goes_when_the_text_is_corrected(book):
    book.run("y = w * 2\ny.detach()\nz = y + 1", "a")
    assert kinds(book) == ["grad.detach-discarded"]
    book.run("y = w * 2\ny = y.detach()\nz = y + 1", "a")
    assert kinds(book) == []


def test_a_rule_that_fails_says_nothing(book, monkeypatch):
    module = sys.modules["gradviz.doctor.examine"]
    first, *others = module.all_rules()
    broken = type(first)(first.identifier, first.kind, first.severity, lambda case: 1 / 0)
    monkeypatch.setattr(module, "all_rules", lambda: (broken, *others))
    book.run("y = w * 2\ny.detach()\nz = y + 1")
    assert kinds(book) == ["grad.detach-discarded"]


def test_amounts():
    assert [amount(n) for n in (0, 999, 1_000, 12_345, 16_000_000)] == [
        "0 B",
        "999 B",
        "1 kB",
        "12.3 kB",
        "16 MB",
    ]
