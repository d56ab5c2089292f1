"""``import torch`` stands for gradviz while a program is checked, whatever is installed."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def python(text, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", "from gradviz.cli import alias; alias.install()\n" + text],
        env={"PYTHONPATH": f"{tmp_path}:{ROOT}", "PATH": ""},
        capture_output=True, text=True, cwd=tmp_path, check=False,
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
        "import torch, torch.nn.functional as F, torch.optim\nfrom torch.nn import Linear\n"
        "import gradviz\nimport gradviz.nn.functional as G\n"
        "print(torch is gradviz, F is G, torch.nn is gradviz.nn)\n"
        "print(G.__spec__.name, gradviz.__spec__.name)",
        folder,
    )
    assert said == "True True True\ngradviz.nn.functional gradviz"


def test_what_is_not_there_is_named_as_it_was_asked(folder):
    said = python(
        "try:\n    import torch.nothing_like_this\n"
        "except ModuleNotFoundError as e:\n    print(e, e.name)",
        folder,
    )
    assert said == "No module named 'torch.nothing_like_this' torch.nothing_like_this"


def test_a_torch_that_was_loaded_is_set_aside(folder):
    said = python(
        "import sys, types\nsys.modules['torch'] = types.ModuleType('torch')\n"
        "alias.install()\nimport torch\nprint(torch.__name__)",
        folder,
    )
    assert said == "gradviz"


def test_other_names_are_left_alone(folder):
    assert python("import json\nprint(json.__name__)", folder) == "json"
