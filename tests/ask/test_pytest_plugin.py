"""The plugin, from the outside: a test that leaves a graph behind fails with its holder."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
import pytest
import gradviz as torch

KEPT, ONE = [], None


def train(history):
    w = torch.ones(3, requires_grad=True)
    for _ in range(3):
        loss = (w * w).sum()
        loss.backward()
        history.append(loss)


@pytest.mark.gradviz_no_leaks
def test_marked():
    train(KEPT)


def test_sound(gradviz_no_leaks):
    train([])


def test_single(gradviz_no_leaks):
    global ONE
    ONE = torch.ones(3, requires_grad=True) * 2


@pytest.fixture
def graph():
    return torch.ones(3, requires_grad=True).exp()


def test_given(graph, gradviz_no_leaks):
    graph.sum()


def test_not_watched():
    train(KEPT)


@pytest.mark.gradviz_no_leaks
def test_that_fails_anyway():
    train(KEPT)
    raise ValueError("its own fault")
"""


def test_tests_that_leave_something_behind_fail(tmp_path):
    (tmp_path / "test_those.py").write_text(TESTS)
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "gradviz.ask.pytest_plugin"]
        + ["-p", "no:cacheprovider", "-W", "error::pytest.PytestUnknownMarkWarning"],
        env=os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, cwd=tmp_path,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = ended.stdout
    assert "3 failed, 3 passed" in said, said + ended.stderr
    assert "6 operations of this test are still alive" in said
    assert "KEPT holds 3 tensors" in said and "test_those.py:13" in said
    assert "test_those.ONE" in said and "its own fault" in said
