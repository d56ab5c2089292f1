"""``gradviz launch -n 4 script.py``: one script in several processes, over MPI where it is
installed."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from gradviz.texts import text

from .arguments import help_of

POLL = 0.05
GRACE = 5


def add_arguments(parser):
    """The arguments of the command."""
    parser.add_argument(
        "-n", type=int, default=os.cpu_count() or 1, help=help_of("cli.launch.count"), metavar="N"
    )
    parser.add_argument(
        "--timeout", type=float, help=help_of("cli.launch.timeout"), metavar="SECONDS"
    )
    parser.add_argument("script", help=help_of("cli.launch.script"))
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=help_of("cli.launch.arguments"))


def command(options) -> int:
    """Run the processes; 0 when all ended well, 2 when they could not be started."""
    if options.n < 1:
        print(text("cli.launch.count_wrong", count=options.n), file=sys.stderr)
        return 2
    if not Path(options.script).is_file():
        print(text("cli.launch.missing", file=options.script), file=sys.stderr)
        return 2
    program = [sys.executable, "-m", "gradviz.distributed.run", options.script, *options.arguments]
    environment = _environment(options)
    mpiexec = _mpiexec()
    if mpiexec is None:
        print(text("cli.launch.files"), file=sys.stderr)
        return _without_mpi(options.n, program, environment)
    return subprocess.run([*mpiexec, "-n", str(options.n), *program], env=environment).returncode


def _environment(options):
    """One thread a process unless the person says otherwise, as many processes share the
    machine."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS") if options.n > 1 else ()
    found = dict.fromkeys(threads, "1") | os.environ
    if options.timeout is not None:
        found["GRADVIZ_TIMEOUT"] = str(options.timeout)
    return found


def _mpiexec():
    """The start of a command line for MPI, or None where it is not installed."""
    from gradviz.distributed import is_mpi_available

    beside = Path(sys.executable).parent / "mpiexec"
    found = str(beside) if beside.exists() else shutil.which("mpiexec")
    if found is None or not is_mpi_available():
        return None
    told = subprocess.run([found, "--version"], capture_output=True, text=True).stdout
    if not any(name in told for name in ("Open MPI", "OpenRTE", "prte")):
        return [found]
    root = ["--allow-run-as-root"] if getattr(os, "geteuid", lambda: 1)() == 0 else []
    return [found, "--oversubscribe", "--bind-to", "none", *root]


def _without_mpi(count, program, environment):
    with tempfile.TemporaryDirectory(prefix="gradviz-") as folder:
        processes = [
            subprocess.Popen(program, env=environment | _place(rank, count, folder))
            for rank in range(count)
        ]
        try:
            return _watched(processes)
        finally:
            _stop(processes)


def _place(rank, count, folder):
    numbers = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": count, "LOCAL_WORLD_SIZE": count}
    return {k: str(v) for k, v in numbers.items()} | {"GRADVIZ_FOLDER": str(Path(folder, "job"))}


def _watched(processes):
    while any(p.poll() is None for p in processes):
        for rank, process in enumerate(processes):
            if process.poll():
                status = process.returncode
                print(text("cli.launch.died", rank=rank, status=status), file=sys.stderr)
                return 1
        time.sleep(POLL)
    return int(any(p.returncode for p in processes))


def _stop(processes):
    for process in processes:
        process.terminate()
    for process in processes:
        try:
            process.wait(GRACE)
        except subprocess.TimeoutExpired:
            process.kill()
