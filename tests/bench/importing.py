"""CPU time of ``import gradviz`` beside ``import numpy``: the least of many fresh interpreters.

python -m tests.bench.importing
"""

import os
import resource
import subprocess
import sys
import tempfile

REPETITIONS = 31


def seconds(statement, compiled):
    """The CPU time of an interpreter that runs one statement; modules are compiled once, as an
    installation does it, into the folder ``compiled``.
    """
    own = {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": ""}
    own["PYTHONPYCACHEPREFIX"] = compiled
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", statement], check=True, env=os.environ | own)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    taken = {"import numpy": [], "import gradviz": []}
    with tempfile.TemporaryDirectory() as compiled:
        for _ in range(REPETITIONS):
            for statement, found in taken.items():
                found.append(seconds(statement, compiled))
    numpy, ours = (min(found) * 1000 for found in taken.values())
    print(f"NumPy {numpy:.0f} ms, gradviz {ours:.0f} ms: {ours - numpy:.0f} ms more")


if __name__ == "__main__":
    main()
