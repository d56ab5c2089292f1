"""gradviz beside PyTorch: each engine in a process of its own, one thread each, runs interleaved.

A file of rows calls ``main(rows, __file__)``; a row is a label and a function that makes, for a
module ``t``, ``(run, count)`` or ``(run, count, prepare)``. What is timed is ``run()`` over
``count``; ``prepare()`` goes before every run and is not timed. Every run comes twice and the
second is timed. Time is CPU time: on one thread it is what a clock shows on an idle machine, and
neighbours disturb it less.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import statistics
import subprocess
import sys
import time

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
ENGINES = ("gradviz", "torch")


def serve(rows, name):
    """The side of one engine: a label comes in and its row is made; an empty line, and it is run
    once, its seconds go out.
    """
    t = importlib.import_module(name)
    t.set_num_threads(1)
    run = count = prepare = None
    for line in sys.stdin:
        label = line.strip()
        if label:
            run = None
            run, count, *more = rows[label](t)
            prepare = more[0] if more else None
            continue
        gc.collect()
        for _ in range(2):  # the first time fills the caches, which the other engine just had
            if prepare is not None:
                prepare()
            start = time.process_time()
            run()
        print((time.process_time() - start) / count, flush=True)


class Engine:
    """An engine's process."""

    def __init__(self, name, path):
        self.process = subprocess.Popen(
            [sys.executable, path, "--engine", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **dict.fromkeys(THREADS, "1")},
        )

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def once(self):
        """Seconds of one run."""
        self.say("")
        return float(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def compare(label, engines, repeats):
    """One line: medians, and the ratio of medians with the spread of the ratios of pairs."""
    for engine in engines:
        engine.say(label)
    times = [[engine.once() for engine in engines] for _ in range(repeats + 2)][2:]
    ours, theirs = (statistics.median(pair[k] for pair in times) for k in range(2))
    least = min(pair[0] for pair in times) / min(pair[1] for pair in times)
    pairs = sorted(a / b for a, b in times)
    print(
        f"{label:38s} {ours * 1e6:11.2f} µs {theirs * 1e6:11.2f} µs  {ours / theirs:6.2f}  "
        f"[{pairs[1]:.2f} … {pairs[-2]:.2f}]  {least:6.2f}",
        flush=True,
    )


PEAK = """
import importlib, sys
sys.path.insert(0, {folder!r})
import {module} as t
t.set_num_threads(1)

def kib(what):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(what))

rows = importlib.import_module({rows!r})
run = rows.PEAKS[{label!r}](t)
before = kib("VmRSS")
run()
print((kib("VmHWM") - before) / 1024)
"""


def peak(label, path, module):
    """MiB that a program takes at most, beyond what its process held before it."""
    folder, name = os.path.split(os.path.abspath(path))
    code = PEAK.format(folder=folder, module=module, rows=name.removesuffix(".py"), label=label)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
    )
    return float(done.stdout)


def main(rows, path, peaks=(), repeats=15, after=None):
    """Print the table of the rows whose label contains ``--only``."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="rows whose label contains this")
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--engine", choices=ENGINES, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.engine:
        serve(rows, chosen.engine)
        return
    print(f"{'':38s} {'gradviz':>14s} {'torch':>14s}   ratio  [low … high]  of minima")
    engines = [Engine(name, path) for name in ENGINES]
    for label in rows:
        if chosen.only in label:
            compare(label, engines, chosen.repeats)
    for engine in engines:
        engine.end()
    for label in peaks:
        if chosen.only in label:
            ours, theirs = (peak(label, path, name) for name in ENGINES)
            print(f"{label:38s} {ours:10.0f} MiB {theirs:11.0f} MiB  {ours / theirs:6.2f}")
    if after is not None:
        after(chosen.only)
