"""A long session: memory stays bounded, what is planted is found and named, and goes."""

import gc
import random
import tracemalloc

from gradviz.notebook import alias
from gradviz.watch import cells as watched
from gradviz.watch.cells import Cells
from gradviz.watch.model import Cell
from tests.doctor.notebook import Notebook

A_CELL = 9_000  # bytes that one more cell may add while bounded memories still fill


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


# -- leaks of random kinds in random holders -----------------------------------------
HOLDERS = {
    "list": ("H = []", "H.append(loss)", "H.clear()"),
    "dict": ("H = {}", "H[i] = loss", "H.clear()"),
    "deque": ("from collections import deque\nH = deque()", "H.append(loss)", "H.clear()"),
    "nested": ("H = {'a': {'b': []}}", "H['a']['b'].append((i, loss))", "H.clear()"),
    "default": ("def H(x, kept=[]):\n    kept.append(x)", "H(loss)", "H.__defaults__[0].clear()"),
    "object": (
        "class Log:\n    def __init__(self):\n        self.seen = []\n    def add(self, x):\n"
        "        self.seen.append(x)\nH = Log()",
        "H.add(loss)",
        "H.seen.clear()",
    ),
    "closure": (
        "def make():\n    seen = []\n    def H(x):\n        seen.append(x)\n    return H\n"
        "H = make()",
        "H(loss)",
        "H = make()",
    ),
    "total": ("H = 0.0", "H = H + loss", "H = 0.0"),
    "counter": ("H = {'sum': 0.0}", "H['sum'] += loss", "H['sum'] = 0.0"),
}
LOSSES = ("(w * w).sum()", "(w.exp() - 1).pow(2).mean()", "(net(w).tanh() ** 2).mean()")


def test_planted_leaks_are_found_named_and_cleared():
    alias.install()
    chance = random.Random(7)
    for holder, (make, put, release) in HOLDERS.items():
        book = Notebook()
        try:
            book.run("import torch\nw = torch.ones(3, requires_grad=True)")
            book.run("net = torch.nn.Linear(3, 2)")
            for _ in range(chance.randrange(3)):
                book.run("note = float(w.sum())")
            book.run(make)
            lines = [
                f"for i in range({chance.randrange(3, 7)}):",
                f"    loss = {chance.choice(LOSSES)}",
                "    w.grad = None",
                "    loss.backward()",
                f"    {put}",
            ]
            book.run("\n".join(lines))
            told = [f for f in book.findings if f.kind.startswith("leak.")]
            assert told and any(h.startswith("H") for h in told[0].holders), (holder, told)
            inside = holder in ("default", "object", "closure")
            assert inside or (told[0].cell, told[0].line) == (book.count, 5), (holder, told)
            assert told[0].count >= 3 or inside, (holder, told)
            book.run(release)
            left = [f.kind for f in book.findings if f.severity != "info"]
            assert left == [], (holder, left)
        finally:
            book.close()
