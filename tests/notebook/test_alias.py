"""``import torch`` stands for gradviz where it is asked to, whatever is installed."""

import subprocess
import sys
import types
from pathlib import Path

import pytest

from gradviz.notebook import alias

ROOT = Path(__file__).resolve().parents[2]


def python(text, tmp_path):
    ended = subprocess.run(
        [sys.executable, "-c", "from gradviz.notebook import alias; alias.install()\n" + text],
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


@pytest.fixture
def no_torch(monkeypatch):
    """As in a fresh kernel: PyTorch may be installed and is not loaded."""
    for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
        monkeypatch.delitem(sys.modules, name)


def test_the_magic_turns_it_on_and_off(run, no_torch):
    run("%load_ext gradviz")
    assert "now gives gradviz" in run("%gradviz torch")
    cell = (
        "import torch, torch.nn.functional as F\nfrom torch.utils.data import DataLoader\n"
        "w = torch.ones(2, requires_grad=True)\nF.relu(w).sum().backward()\n"
        "print(torch.__name__, w.grad.tolist())"
    )
    assert run(cell) == "gradviz [1.0, 1.0]\n"
    assert "now gives gradviz" in run("%gradviz torch on")
    assert "gives PyTorch again" in run("%gradviz torch off")
    assert not alias.installed() and "torch" not in sys.modules
    assert "already" in run("%gradviz torch off")
    assert run("print(torch.__name__)") == "gradviz\n"
    assert "write %gradviz torch" in run("%gradviz torch maybe")


def test_a_real_torch_that_is_loaded_is_a_reason_to_refuse(run, monkeypatch):
    other = types.ModuleType("torch")
    other.__file__ = "/somewhere/torch/__init__.py"
    monkeypatch.setitem(sys.modules, "torch", other)
    run("%load_ext gradviz")
    said = run("%gradviz torch")
    assert "/somewhere/torch" in said and "Restart the kernel" in said
    assert sys.modules["torch"] is other and not alias.installed()


def test_unloading_takes_it_away(run, no_torch):
    run("%load_ext gradviz")
    run("%gradviz torch")
    assert alias.installed()
    run("%unload_ext gradviz")
    assert not alias.installed()
