"""What watching real PyTorch costs: ``python tests/bench/torch_watching.py``. Training steps: CPU
time watched / alone, medians of interleaved runs. Graphs: CPU seconds until the picture of a
transformer of twelve layers is there, beside the packages for the same purpose that are installed.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import torch
import torch.nn as nn
import torch.nn.functional as F

import gradviz
from gradviz.notebook.session import Session

CELL = "<cell 1>"
STEPS = compile(
    """
for _ in range(steps):
    optimizer.zero_grad()
    loss = compute()
    loss.backward()
    optimizer.step()
""",
    CELL,
    "exec",
)


def mlp():
    """784-256-256-10, batch 64."""
    net = nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 10)
    )
    x, y = torch.randn(64, 784), torch.randint(0, 10, (64,))
    return net, lambda: F.cross_entropy(net(x), y), 600


def transformer(layers=1, width=128, length=64, batch=8):
    """Blocks of width 128 on 64 positions, batch 8."""
    block = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
    net = nn.TransformerEncoder(block, layers, enable_nested_tensor=False)
    x = torch.randn(batch, length, width)
    return net, lambda: net(x).square().mean(), 60


def step_ratio(made, optimizer, rounds=5):
    """CPU time of training steps, watched / alone."""
    net, compute, steps = made
    names = {"compute": compute, "steps": steps, "optimizer": optimizer(net.parameters())}
    session = Session({CELL: 1}.get)
    session.watch()
    taken = {True: [], False: []}
    for turn in range(2 * rounds):
        watched = bool(turn % 2)
        if watched:
            session.recorder.begin_cell(1, None, "")
            session.source.begin()
        started = time.process_time()
        exec(STEPS, names)
        taken[watched].append(time.process_time() - started)
        session.source.end()
        session.source.drain(float("inf"))
    session.rest()
    return statistics.median(taken[True]) / statistics.median(taken[False])


def seconds(call):
    """CPU seconds of the second call: the first imports."""
    call()
    started = time.process_time()
    call()
    return time.process_time() - started


def pictures():
    """(name, what makes a picture of a graph of twelve layers)."""
    net, compute, _ = transformer(12, 64, 16, 2)
    x, loss = torch.randn(2, 16, 64), compute()
    yield "gradviz.Graph", lambda: gradviz.Graph(loss)
    for name in ("torchviz", "torchview", "torchlens"):
        if importlib.util.find_spec(name) is None:
            continue
        package = importlib.import_module(name)
        if name == "torchviz":
            yield name, lambda package=package: package.make_dot(loss, dict(net.named_parameters()))
        elif name == "torchview":
            yield name, lambda package=package: package.draw_graph(net, input_data=x)
        else:
            yield name, lambda package=package: package.trace(net, x)


if __name__ == "__main__":
    torch.manual_seed(0)
    kinds = {"SGD": torch.optim.SGD, "Adam": torch.optim.Adam}
    for label, make in (("MLP", mlp), ("transformer block", transformer)):
        for kind, optimizer in kinds.items():
            ratio = step_ratio(make(), lambda p, o=optimizer: o(p, lr=1e-3))
            print(f"{label}, {kind} step: {ratio:.2f} x")
    for name, call in pictures():
        try:
            print(f"{name}: {seconds(call):.3f} s")
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}"[:200])
