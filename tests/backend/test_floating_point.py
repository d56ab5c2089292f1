"""NumPy's floating-point warnings: never from gradviz, always from the person's own arrays."""

import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import gradviz


def compute():
    x = gradviz.tensor([0.0, -1.0, 1e38], requires_grad=True)
    (x.log() + x.exp() + x / x + x.sqrt() + x.var()).sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("action", ["error", "always", "default", "once"])
def test_operations_are_silent_whatever_the_filters(action):
    with warnings.catch_warnings(record=True) as seen:
        warnings.resetwarnings()
        warnings.simplefilter(action)
        compute()
        with warnings.catch_warnings():
            warnings.filterwarnings(action, category=RuntimeWarning)
            compute()
        thread = threading.Thread(target=compute)
        thread.start()
        thread.join()
    assert seen == []


def test_own_numpy_code_warns():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        np.array([1.0]) / np.array([0.0])
        np.mean(np.array([]))
    assert [w.category for w in seen] == [RuntimeWarning] * len(seen) and len(seen) > 1
    assert str(seen[0].message) == "divide by zero encountered in divide"
    assert seen[0].filename == __file__


def test_the_setting_of_numpy_stays_as_it_was():
    program = (
        "import numpy as np; before = np.geterr(), np.geterrcall(); import gradviz.nn;"
        "gradviz.ones(2).log(); assert (np.geterr(), np.geterrcall()) == before"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_warning_from_no_frame_at_all_is_no_error():
    """A coroutine that nobody awaited warns while the interpreter ends."""
    program = """
import asyncio, gradviz
async def never(): pass
left = never()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and "ValueError" not in done.stderr
