"""Leaks of random kinds, planted in random holders of random programs, are found, named and gone
when they are released.
"""

import random
import warnings

import pytest

from gradviz.notebook import alias
from tests.doctor.notebook import Notebook

KEEPER = """class Keeper:
    def __init__(self):
        self.seen = []
    def add(self, x):
        self.seen.append(x)
"""
MAKER = """def make():
    seen = []
    def keep(x):
        seen.append(x)
    return keep
"""
# kind: how the holder H is made, what puts ``loss`` into it, what releases it
HOLDERS = {
    "list": ("leak.container", "H = []", "H.append(loss)", "H.clear()"),
    "tuple": ("leak.container", "H = ()", "H = (*H, loss)", "H = ()"),
    "dict": ("leak.container", "H = {}", "H[i] = loss", "H.clear()"),
    "deque": (
        "leak.container",
        "from collections import deque\nH = deque()",
        "H.append(loss)",
        "H.clear()",
    ),
    "nested": (
        "leak.container",
        "H = {'a': {'b': []}}",
        "H['a']['b'].append((i, loss))",
        "H.clear()",
    ),
    "of objects": (
        "leak.container",
        "class Row:\n    pass\nH = []",
        "row = Row(); row.loss = loss; H.append(row)",
        "H.clear(); del row",
    ),
    "inside an object": (
        "leak.container",
        KEEPER + "H = Keeper()",
        "H.add(loss)",
        "H.seen.clear()",
    ),
    "grad_fn": ("leak.container", "H = []", "H.append(loss.grad_fn)", "H.clear()"),
    "default": (
        "leak.default-arg",
        "def H(x, kept=[]):\n    kept.append(x)",
        "H(loss)",
        "H.__defaults__[0].clear()",
    ),
    "closure": ("leak.closure", MAKER + "H = make()", "H(loss)", "H = make()"),
    "callbacks": (
        "leak.closure",
        "def later(x):\n    return lambda: x\nH = []",
        "H.append(later(loss))",
        "H.clear()",
    ),
    "partial": (
        "leak.container",
        "from functools import partial\nH = []",
        "H.append(partial(print, loss))",
        "H.clear()",
    ),
    "total": ("leak.accumulator", "H = 0.0", "H = H + loss", "H = 0.0"),
    "counter": ("leak.accumulator", "H = {'sum': 0.0}", "H['sum'] += loss", "H['sum'] = 0.0"),
    "average": ("leak.accumulator", "H = 0.0", "H = 0.9 * H + 0.1 * loss", "H = 0.0"),
    "state": ("leak.state", "H = torch.zeros(3)", "H = torch.tanh(H + loss * w)", "H = None"),
    "cache": (
        "leak.cache",
        "import functools\n@functools.cache\ndef H(i):\n    return (w * i).exp()",
        "value = H(i).sum().item()",
        "H.cache_clear()",
    ),
    "generator": (
        "leak.generator",
        "def steps():\n    while True:\n        big = (w * 2).exp()\n"
        "        yield big.sum().item()\nH = steps()",
        "value = next(H)",
        "H.close()",
    ),
    "record": (
        "leak.logger",
        "import logging\nH = []\nlog = logging.getLogger('planted')\nlog.propagate = False\n"
        "log.handlers = [logging.Handler()]\nlog.handlers[0].emit = H.append\nlog.setLevel(10)",
        "log.info('loss %s', loss)",
        "H.clear()",
    ),
    "exception": (
        "leak.traceback",
        "H = []\ndef fails():\n    big = (w * 2).exp()\n    raise ValueError",
        "try:\n        fails()\n    except ValueError as e:\n        H.append(e)",
        "H.clear()",
    ),
    "hook": (
        "leak.hook",
        KEEPER + "H = torch.nn.Linear(3, 3)\n"
        "handle = H.register_forward_hook((lambda k: lambda m, a, out: k.add(out))(Keeper()))",
        "H(w)",
        "handle.remove()",
    ),
}
LOSSES = ("(w * w).sum()", "(w.exp() - 1).pow(2).mean()", "(net(w).tanh() ** 2).mean()")
BESIDE = (
    "note = float(w.sum())",
    "data = [torch.ones(3) for _ in range(4)]",
    "def unused(x):\n    return x.detach()",
    "best = {k: v.clone() for k, v in net.state_dict().items()}",
)


def program(holder, chance):
    """Its cells, the last one releases."""
    _, make, put, release = HOLDERS[holder]
    lines = [
        f"    loss = {chance.choice(LOSSES)}",
        "    w.grad = None",
        "    loss.backward()",
        f"    {put}",
    ]
    steps = chance.randrange(3, 7)
    beside = chance.sample(BESIDE, chance.randrange(len(BESIDE)))
    start = "import torch\nw = torch.ones(3, requires_grad=True)\nnet = torch.nn.Linear(3, 2)"
    loop = "\n".join([f"for i in range({steps}):", *lines])
    after = ["print"] if chance.random() < 0.5 else []
    cells = [start, *beside, make, loop, *after]
    return cells, len(beside) + 3, loop.count("\n") + 1, f"{release}\nloss = value = None"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("holder", HOLDERS)
def test_planted_leaks_are_found_named_and_cleared(holder, seed):
    alias.install()
    cells, cell, line, release = program(holder, random.Random(f"{holder}{seed}"))
    book = Notebook()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for text in cells:
                book.run(text)
            told = [f for f in book.findings if f.kind == HOLDERS[holder][0]]
            assert told, [(f.kind, f.severity, f.holders) for f in book.findings]
            assert told[0].severity == "warning"
            assert any(h.startswith("H") for h in told[0].holders), told[0].holders
            if " H" in f" {HOLDERS[holder][2]}" and told[0].kind in ("leak.container",):
                inside = "def add" in HOLDERS[holder][1]
                assert inside or (told[0].cell, told[0].line) == (cell, line)
            book.run(release)
            left = [(f.kind, f.holders) for f in book.findings if f.severity != "info"]
            assert left == []
    finally:
        book.close()
