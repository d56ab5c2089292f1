"""How a process of a job ends when something went wrong: it says who it was, and takes the job
along."""

from __future__ import annotations

import sys


def told(rank, kind, error):
    """One line: which rank, which error."""
    text = str(error)
    return f"rank {rank} ended with {kind.__name__}{': ' if text else ''}{text}"


def end_job(rank, kind, error):
    """Say it and end the other processes, which would wait for this one for ever."""
    sys.stdout.flush()
    print(told(rank, kind, error), file=sys.stderr, flush=True)
    mpi = sys.modules.get("mpi4py.MPI")
    if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized():
        mpi.COMM_WORLD.Abort(1)


def end_job_on_errors(rank):
    """An error that nobody catches ends the job."""
    before = sys.excepthook
    if getattr(before, "ends_the_job", False):
        return

    def hook(kind, error, trace):
        before(kind, error, trace)
        end_job(rank, kind, error)

    hook.ends_the_job = True
    sys.excepthook = hook
