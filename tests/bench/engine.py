"""Engine timings beside PyTorch in one run: ``python tests/bench/engine.py`` (needs torch; one
thread; takes minutes).
"""

from __future__ import annotations

import subprocess
import sys

from beside import main


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


def net_step(t, sizes=(4, 8, 1), batch=4):
    """One training step of a tiny network."""
    t.manual_seed(0)
    layers = []
    for a, b in zip(sizes, sizes[1:], strict=False):
        layers += [t.nn.Linear(a, b), t.nn.ReLU()]
    model = t.nn.Sequential(*layers[:-1])
    x, y = t.randn(batch, sizes[0]), t.randn(batch, sizes[-1])
    opt = t.optim.SGD(model.parameters(), lr=1e-3)
    loss_function = t.nn.MSELoss()

    def run(n=50):
        for _ in range(n):
            opt.zero_grad()
            loss = loss_function(model(x), y)
            loss.backward()
            opt.step()

    return run, 50


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


_OPERATIONS = ("add", "mul", "relu", "exp", "matmul", "sum", "getitem", "reshape")
ROWS = {
    **{f"{op} forward, recording": lambda t, op=op: forward(t, op) for op in _OPERATIONS},
    **{
        f"{op} forward, not recording": lambda t, op=op: forward(t, op, False) for op in _OPERATIONS
    },
    **{
        f"{op} backward, a node": lambda t, op=op: backward(t, op)
        for op in ("add", "mul", "relu", "exp", "matmul", "reshape", "sum")
    },
    "tiny net, SGD step": net_step,
}

if __name__ == "__main__":
    main(ROWS, __file__, after=lambda only: chain() if only in "chain" else None)
