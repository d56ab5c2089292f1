"""What watching costs: ``python tests/bench/watching.py``. Each row is a ratio of medians, watched
/ alone, interleaved.
"""

from __future__ import annotations

import gc
import os
import statistics
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import gradviz as torch
from gradviz.notebook.session import Session

CELL = "<cell 1>"


def as_cell(text):
    """A program compiled as the code of a cell, so that its lines are the user's."""
    return compile(text, CELL, "exec")


TINY = as_cell("""
for _ in range(5000):
    z = x * y + x
""")
MLP = as_cell("""
for _ in range(20):
    loss = loss_function(model(batch), target)
""")
BLOCK = as_cell("""
for _ in range(10):
    out = block(sequences)
""")
TRAIN = as_cell("""
for _ in range(20):
    optimizer.zero_grad()
    loss = loss_function(model(batch), target)
    loss.backward()
    optimizer.step()
""")
CHAIN = as_cell("""
v = x
for _ in range(50_000):
    v = v * 1.0000001 + 0.1
""")


class View:
    """A view that takes frames and throws them away, as a page would take them."""

    closed = False

    def __init__(self, session):
        self.session, self.seq, self.frames = session, -1, 0

    def push(self, last):
        with self.session.recorder.lock:
            self.seq = self.session.recorder.delta(self.seq).seq
        self.frames += 1

    def close(self):
        self.closed = True


def scope():
    """Variables of the programs."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(784, 256),
        torch.nn.ReLU(),
        torch.nn.Linear(256, 256),
        torch.nn.ReLU(),
        torch.nn.Linear(256, 10),
    )
    return {
        "x": torch.ones(4, requires_grad=True),
        "y": torch.ones(4, requires_grad=True),
        "model": model,
        "loss_function": torch.nn.MSELoss(),
        "block": torch.nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True),
        "sequences": torch.randn(8, 64, 128),
        "batch": torch.randn(64, 784),
        "target": torch.randn(64, 10),
        "optimizer": torch.optim.SGD(model.parameters(), lr=1e-3),
    }


def seconds(program, names):
    """CPU time of one run, the ticker's thread included."""
    gc.collect()
    start = time.process_time()
    exec(program, names)
    return time.process_time() - start


def row(label, program, view, repeats=11):
    """One line of the table."""
    from gradviz.watch.holders import Roots

    names = scope()
    alone, watched, after = [], [], []
    for k in range(repeats + 1):
        spent = seconds(program, names)
        session = Session(lambda filename: 1 if filename == CELL else None)
        session.watch()
        if view:
            session.add(View(session))
        session.begin(1, None, "")
        seen = seconds(program, names)
        start = time.process_time()
        session.end(Roots(user_ns=names), None)
        end = time.process_time() - start
        session.rest()
        if k:
            alone.append(spent)
            watched.append(seen)
            after.append(end)
        for name in ("z", "v", "loss", "out"):
            names.pop(name, None)
    ratios = sorted(b / a for a, b in zip(alone, watched, strict=True))
    print(
        f"{label:44s} alone {statistics.median(alone) * 1e3:8.1f} ms   "
        f"watched {statistics.median(watched) * 1e3:8.1f} ms   "
        f"ratio {statistics.median(ratios):5.2f} [{ratios[1]:.2f} … {ratios[-2]:.2f}]   end of "
        f"cell {statistics.median(after) * 1e3:7.1f} ms",
        flush=True,
    )


def main():
    """Print the table."""
    for view in (False, True):
        more = ", a view open" if view else ""
        row(f"10,000 tiny operations{more}", TINY, view)
        row(f"MLP forward ×20{more}", MLP, view)
        row(f"transformer block forward ×10{more}", BLOCK, view)
        row(f"MLP training step ×20{more}", TRAIN, view)
        row(f"100,000 operations alive{more}", CHAIN, view, repeats=4)


if __name__ == "__main__":
    main()
