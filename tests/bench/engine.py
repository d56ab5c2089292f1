"""Engine timings beside PyTorch in one run: ``python tests/bench/engine.py`` (needs torch; one
thread; takes minutes).

Each row interleaves both engines, repeats, and prints the ratio of medians (below 1: gradviz is
faster) with the spread.
"""

from __future__ import annotations

import argparse
import gc
import os
import resource
import statistics
import subprocess
import sys
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def forward(t, name, recording=True):
    """A function that runs one tiny operation ``n`` times."""
    x = t.tensor([0.5, 1.0, 1.5, 2.0], requires_grad=recording)
    y = t.tensor([1.5, 0.5, 2.0, 1.0], requires_grad=recording)
    a = t.tensor([[0.1] * 4] * 4, requires_grad=recording)
    b = t.tensor([[0.2] * 4] * 4, requires_grad=recording)
    run = {
        "add": lambda: x + y,
        "mul": lambda: x * y,
        "relu": x.relu,
        "exp": x.exp,
        "matmul": lambda: a @ b,
        "sum": x.sum,
        "getitem": lambda: x[1],
        "reshape": lambda: x.reshape(2, 2),
    }[name]

    def many(n=2000):
        for _ in range(n):
            run()

    return many, 2000


def backward(t, name):
    """Backward of a chain of 200 nodes of one kind; the forward is not timed."""
    step = {
        "add": lambda v, o: v + o,
        "mul": lambda v, o: v * o,
        "relu": lambda v, o: v.relu(),
        "exp": lambda v, o: (v * 0).exp(),
        "matmul": lambda v, o: v @ o,
        "reshape": lambda v, o: v.reshape(2, 2) if v.dim() == 1 else v.reshape(4),
        "sum": None,
    }[name]
    n = 200
    if name == "sum":
        x = t.ones(4, requires_grad=True)
        roots = []

        def prepare():
            roots[:] = [x.sum() for _ in range(n)]

        def run():
            for r in roots:
                r.backward()

        return run, n, prepare
    square = name == "matmul"
    x = t.tensor([[0.5] * 4] * 4 if square else [0.5, 0.6, 0.7, 0.8], requires_grad=True)
    o = t.tensor([[0.25] * 4] * 4 if square else [1.0, 1.0, 1.0, 1.0])
    held = []

    def prepare():
        v = x
        for _ in range(n):
            v = step(v, o)
        held[:] = [v.sum()]

    def run():
        held[0].backward()

    return run, n * (2 if name == "exp" else 1), prepare


def net_step(t, sizes=(4, 8, 1), batch=4, optimizer="SGD"):
    """One training step of a small network."""
    t.manual_seed(0)
    layers = []
    for a, b in zip(sizes, sizes[1:], strict=False):
        layers += [t.nn.Linear(a, b), t.nn.ReLU()]
    model = t.nn.Sequential(*layers[:-1])
    x, y = t.randn(batch, sizes[0]), t.randn(batch, sizes[-1])
    opt = getattr(t.optim, optimizer)(model.parameters(), lr=1e-3)
    loss_function = t.nn.MSELoss()

    def run(n=50):
        for _ in range(n):
            opt.zero_grad()
            loss = loss_function(model(x), y)
            loss.backward()
            opt.step()

    return run, 50


def compare(label, make, repeats=15):
    """Interleaved repetitions of both engines; prints the ratio of medians."""
    import torch

    import gradviz

    torch.set_num_threads(1)
    times = {"gradviz": [], "torch": []}
    runs = {"gradviz": make(gradviz), "torch": make(torch)}
    for k in range(repeats + 2):
        for who, made in runs.items():
            run, n, *rest = made
            if rest:
                rest[0]()
            gc.collect()
            start = time.perf_counter()
            run()
            spent = (time.perf_counter() - start) / n
            if k >= 2:
                times[who].append(spent)
    ours, theirs = (statistics.median(times[w]) for w in ("gradviz", "torch"))
    pairs = sorted(a / b for a, b in zip(times["gradviz"], times["torch"], strict=True))
    print(
        f"{label:34s} {ours * 1e6:10.2f} µs {theirs * 1e6:10.2f} µs  {ours / theirs:6.2f}  "
        f"[{pairs[1]:.2f} … {pairs[-2]:.2f}]",
        flush=True,
    )


CHAIN = """
import time
import {module} as t

def kib(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what))

n = 1_000_000
before = kib("VmRSS")
x = t.ones(1, requires_grad=True); v = x
t0 = time.perf_counter()
for _ in range(n // 2):
    v = v * 1.0000001 + 0.1
t1 = time.perf_counter()
v.backward(t.ones(1))
t2 = time.perf_counter()
del v
t3 = time.perf_counter()
print(t1 - t0, t2 - t1, t3 - t2, (kib("VmHWM") - before) / 1024)
"""


def chain():
    """A chain of a million operations: build, backward, free, memory; each engine in a process of
    its own.
    """
    for module in ("gradviz", "torch"):
        out = subprocess.run(
            [sys.executable, "-c", CHAIN.format(module=module)],
            capture_output=True,
            text=True,
            check=True,
        )
        build, back, free, memory = map(float, out.stdout.split())
        print(
            f"chain of 1,000,000  {module:8s} build {build:.2f} s  backward {back:.2f} s  free "
            f"{free:.2f} s  memory {memory:.0f} MiB"
        )


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="rows whose label contains this")
    chosen = parser.parse_args()
    rows = [
        (f"{op} forward, recording", lambda t, op=op: forward(t, op))
        for op in ("add", "mul", "relu", "exp", "matmul", "sum", "getitem", "reshape")
    ]
    rows += [
        (f"{op} forward, not recording", lambda t, op=op: forward(t, op, False))
        for op in ("add", "mul", "relu", "exp", "matmul", "sum", "getitem", "reshape")
    ]
    rows += [
        (f"{op} backward, a node", lambda t, op=op: backward(t, op))
        for op in ("add", "mul", "relu", "exp", "matmul", "reshape", "sum")
    ]
    rows += [("tiny net, SGD step", net_step)]
    rows += [("MLP 784-256-256-10, SGD step", lambda t: net_step(t, (784, 256, 256, 10), 64))]
    rows += [
        ("MLP 784-256-256-10, Adam step", lambda t: net_step(t, (784, 256, 256, 10), 64, "Adam"))
    ]
    print(f"{'':34s} {'gradviz':>13s} {'torch':>13s}   ratio  [low … high]")
    for label, make in rows:
        if chosen.only in label:
            compare(label, make)
    if chosen.only in "chain":
        chain()
    print(
        "peak memory of this process "
        f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"
    )


if __name__ == "__main__":
    main()
