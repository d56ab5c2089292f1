"""The allocator's limits, and scratch arrays."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from gradviz.backend.memory import Scratch

PROGRAM = """
import numpy as np
from gradviz.backend import memory

def mib():
    return int(open("/proc/self/statm").read().split()[1]) // 256

before = mib()
for _ in range(2):
    held = [np.ones(1_000_000, np.float32) for _ in range(500)]
    pinned = PINNED
    most = mib()
    del held
    memory.heap.give_back()
print(before, most, mib(), memory.KEPT_FREE >> 20)
"""

NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell
import gradviz

shell = InteractiveShell()
gradviz.load_ipython_extension(shell)
for cell in CELLS:
    assert shell.run_cell(cell).success
"""


def sizes(program):
    """MiB before, at most, afterwards, and what may be kept."""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return [int(size) for size in done.stdout.split()[-4:]]


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's limits are Linux's")
@pytest.mark.parametrize(
    "pinned", ["None", "[bytes(50_000) for _ in range(20)]"], ids=["end free", "end taken"]
)
def test_what_is_free_goes_back_to_the_system(pinned):
    """Two gigabytes of arrays are freed: no more than the promised rest stays."""
    before, most, after, kept = sizes(PROGRAM.replace("PINNED", pinned))
    assert most - before > 1800
    assert after - before < kept + 32


@pytest.mark.skipif(sys.platform != "linux", reason="glibc's limits are Linux's")
def test_a_cell_s_end_gives_back_what_is_free():
    hold = (
        "held = [np.ones(1_000_000, np.float32) for _ in range(300)];"
        "pinned = [bytes(50_000) for _ in range(20)]"
    )
    cells = [
        "import numpy as np, mmap",
        "from gradviz.backend.memory import KEPT_FREE, resident",
        "before = resident() >> 20",
        hold,
        "most = resident() >> 20; del held",
        hold,
        "del held",
        "print(before, most, resident() >> 20, KEPT_FREE >> 20)",
    ]
    before, most, after, kept = sizes(NOTEBOOK.replace("CELLS", repr(cells)))
    assert most - before > 1100
    assert after - before < kept + 64


def test_a_person_s_own_settings_are_left_alone():
    code = "from gradviz.backend import memory; print(memory.heap.keep_freed())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MALLOC_TRIM_THRESHOLD_": "131072"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "False"


def test_scratch():
    scratch = Scratch()
    x = np.ones((4, 5), np.float32)
    first, second = scratch.like(x), scratch.like(x, 1)
    assert first.shape == x.shape and first.dtype == x.dtype
    assert not np.shares_memory(first, second)
    assert np.shares_memory(first, scratch.like(x[:2]))
    assert scratch.like(x.astype(np.float64)).dtype == np.float64


def test_threads_have_scratch_of_their_own():
    scratch, x, found = Scratch(), np.ones(8), []
    here = scratch.like(x)
    thread = threading.Thread(target=lambda: found.append(scratch.like(x)))
    thread.start()
    thread.join()
    assert not np.shares_memory(here, found[0])
