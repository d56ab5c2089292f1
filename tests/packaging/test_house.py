"""The arrows of docs/architecture.md, and a few habits, held by tests."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WORDS = re.compile(r"\b(TODO|FIXME|XXX)\b")


def tool(name):
    beside = Path(sys.executable).parent / name
    found = str(beside) if beside.exists() else shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed: it comes with the `lint` extra")
    return found


def test_imports_go_down_only(root):
    done = subprocess.run([tool("lint-imports")], cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_nothing_is_left_to_do_in_the_sources(root):
    sources = [*root.glob("gradviz/**/*.py"), *root.glob("js/src/**/*.ts")]
    assert not [str(f) for f in sources if WORDS.search(f.read_text(encoding="utf-8"))]
