"""``python -m gradviz.distributed.run script.py …``: one process of a job.

``RANK``, ``WORLD_SIZE`` and their like are set for the script; an error that it does not catch ends
the job.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from pathlib import Path

from .ending import end_job

NAMES = {
    "RANK": "OMPI_COMM_WORLD_RANK",
    "WORLD_SIZE": "OMPI_COMM_WORLD_SIZE",
    "LOCAL_RANK": "OMPI_COMM_WORLD_LOCAL_RANK",
    "LOCAL_WORLD_SIZE": "OMPI_COMM_WORLD_LOCAL_SIZE",
}


def main(arguments):
    """Run the script; the exit status."""
    for ours, theirs in NAMES.items():
        if theirs in os.environ:
            os.environ[ours] = os.environ[theirs]
    sys.argv = list(arguments)
    sys.path.insert(0, str(Path(arguments[0]).resolve().parent))
    try:
        runpy.run_path(arguments[0], run_name="__main__")
    except SystemExit as error:
        if error.code not in (None, 0):
            end_job(os.environ.get("RANK", 0), SystemExit, error)
        raise
    except BaseException as error:
        own = error.__traceback__
        while own is not None and own.tb_frame.f_code.co_filename != arguments[0]:
            own = own.tb_next
        traceback.print_exception(error.with_traceback(own or error.__traceback__))
        end_job(os.environ.get("RANK", 0), type(error), error)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
