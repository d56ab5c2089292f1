"""``import torch`` stands for gradviz, whatever else is installed; only while a program is checked."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def python(text, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", "from gradviz.cli import alias; alias.install()\n" + text],
        capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""}, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


@pytest.fixture
def folder(tmp_path):
    """A folder with another torch in it."""
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise ImportError('the other torch')")
    return tmp_path


def test_modules_are_the_very_same(folder):
    said = python(
        "import torch, torch.nn.functional as F, torch.optim\nfrom torch.nn import Linear\nimport gradviz\n"
        "import gradviz.nn.functional as G\nprint(torch is gradviz, F is G, torch.nn is gradviz.nn, G.__spec__.name, gradviz.__spec__.name)",
        folder,
    )
    assert said == "True True True gradviz.nn.functional gradviz"


def test_what_is_not_there_is_named_as_it_was_asked(folder):
    said = python(
        "try:\n    import torch.nothing_like_this\nexcept ModuleNotFoundError as e:\n    print(e, e.name)",
        folder,
    )
    assert said == "No module named 'torch.nothing_like_this' torch.nothing_like_this"


def test_a_torch_that_was_loaded_is_set_aside(folder):
    said = python(
        "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\nalias.install()\nimport torch\nprint(torch.__name__)",
        folder,
    )
    assert said == "gradviz"


def test_other_names_are_left_alone(folder):
    assert python("import json\nprint(json.__name__)", folder) == "json"
