"""A long session: memory stays bounded, what is planted is found and named, and goes."""

import gc
import tracemalloc

from gradviz.notebook import alias
from gradviz.watch import cells as watched
from gradviz.watch.cells import Cells
from gradviz.watch.model import Cell
from tests.doctor.notebook import Notebook
from tests.doctor.session import Session, memory

A_CELL = 9_000  # bytes that one more cell may add while bounded memories still fill
A_CELL_WITH_RESULTS = 30_000
A_RESULT = 60  # calls at the end of a cell for each live result


def test_a_long_session_keeps_little():
    alias.install()
    book = Notebook()
    book.run("import torch\nw = torch.ones(3, requires_grad=True)\nnorms = []")

    def work(start, end):
        for i in range(start, end):
            book.run(
                f"x = (w * {i}).exp().sum()\nx.backward()\nnorms.append(x.item())\nw.grad = None",
                f"cell {i % 20}",
            )

    try:
        work(0, 100)
        tracemalloc.start()
        work(100, 150)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        work(150, 250)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0] - before
        assert grown / 100 < A_CELL
        assert [f.kind for f in book.findings if f.severity != "info"] == []
    finally:
        tracemalloc.stop()
        book.close()


def test_thousands_of_cells_are_read_no_longer_than_needed(monkeypatch):
    monkeypatch.setattr(watched, "KEPT", 50)
    found, past = Cells(), [Cell(1, None, "def f(x):\n    return x.detach()")]
    for count in range(2, 200):
        past.append(Cell(count, None, f"y{count} = f(x)"))
        found.follow(past)
    assert len(found.statements) <= 53
    assert found.function("f") is not None and found.calling("detach")
    assert found.assignments("y199") and not found.assignments("y2")
    assert found.code(2, 1) == "y2 = f(x)"


def test_a_cell_that_ran_again_counts_once():
    found = Cells()
    past = [Cell(1, "a", "x = 1"), Cell(2, "a", "x = 2\nw.detach()")]
    found.follow(past)
    assert [s.cell for s in found.assignments("x")] == [2] and found.superseded == {1}
    past.append(Cell(3, "a", "z = 3"))
    found.follow(past)
    assert not found.assignments("x") and not found.calling("detach")
    found.follow(past[:1])
    assert [s.cell for s in found.statements] == [1]


def test_many_live_results_are_walked_over_and_no_more():
    session = Session()
    book = session.book
    try:
        book.run("\n".join(f"r{i} = (w * {i}).sin().sum()" for i in range(600)))
        first = session.calls()
        book.run("\n".join(f"s{i} = (w * {i}).sin().sum()" for i in range(600)))
        assert (session.calls() - first) / 600 < A_RESULT
        book.run("losses = []\nfor i in range(600):\n    loss = (w * i).sin().sum()")
        book.run(LEAK)
        (found,) = [f for f in book.findings if f.severity != "info"]
        assert (found.kind, found.count, found.holders[0]) == ("leak.container", 900, "losses[0]")
    finally:
        book.close()


LEAK = """for i in range(900):
    loss = (w * i).sin().sum()
    loss.backward()
    w.grad = None
    losses.append(loss)
"""


def test_a_session_of_many_kinds_of_cells():
    session = Session()
    try:
        session.cells(100)
        tracemalloc.start()
        session.cells(100)
        before = memory()
        session.cells(100)
        assert (memory() - before) / 100 < A_CELL_WITH_RESULTS
    finally:
        tracemalloc.stop()
        session.book.close()
