"""A long session as somebody would have it: names are bound again and again, so that at most some
hundreds of results are alive.

``python -m tests.doctor.session 5000`` runs that many cells and prints, now and then, the time of a
cell (of the processor) and the memory; both must level off. It takes some minutes.
"""

import gc
import random
import sys
import time
import tracemalloc

from gradviz.notebook import alias
from tests.doctor.notebook import Notebook

LIVE = 400
CELLS = (
    "r{i} = (w * {i}).sin().sum()",
    "kept.append((w * {i}).sin())",
    "x = (w * {i}).sin().sum()\nx.backward()\nw.grad = None",
    "a{i} = torch.zeros({i} % 7 + 1)\nb{i} = {i} * 2",
    "def f{i}(x):\n    return (x * {i}).sin().sum()\nv{i} = f{i}(w).item()",
    "net{i} = torch.nn.Linear(3, 2)\nnorms.append(net{i}(w).norm().item())",
    "r{i} = None\nkept, norms = kept[-100:], norms[-100:]",
)


class Session:
    """``cells(n)`` runs n more of them; the same ones each time."""

    def __init__(self):
        alias.install()
        self.book, self.chance, self.count = Notebook(), random.Random(3), 0
        self.book.run("import torch\nw = torch.ones(3, requires_grad=True)\nkept, norms = [], []")

    def cells(self, n):
        for _ in range(n):
            self.count += 1
            text = self.chance.choice(CELLS).format(i=self.count % LIVE)
            self.book.run(text, f"cell {self.chance.randrange(4 * self.count)}")

    def calls(self):
        """How many calls of functions the end of a cell takes now."""
        count, seen = 0, sys.getprofile()

        def profile(frame, event, argument):
            nonlocal count
            count += event == "call"

        sys.setprofile(profile)
        try:
            self.book.run("1 + 1;")
        finally:
            sys.setprofile(seen)
        return count


def memory():
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def main(total):
    session, every = Session(), max(total // 20, 1)
    tracemalloc.start()
    for _ in range(total // every):
        started = time.process_time()
        session.cells(every)
        spent = (time.process_time() - started) / every
        live = len(session.book.ns)
        print(f"{session.count:6} cells, {live:5} names: {spent * 1e3:6.1f} ms a cell,", end=" ")
        print(f"{memory() / 1e6:6.1f} MB, {session.calls()} calls at the end of one", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
