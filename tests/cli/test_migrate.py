"""``gradviz migrate``: what a program uses of PyTorch and gradviz lacks, read from its text."""

import json
from pathlib import Path

import pytest

import gradviz
from gradviz import texts
from gradviz.absent import Absent
from gradviz.cli.main import main
from gradviz.cli.program import Program
from gradviz.cli.uses import TENSOR_ONLY, uses

HEAD = "import torch\nfrom torch import nn, optim\nimport torch.nn.functional as F\n"


@pytest.fixture(autouse=True)
def language():
    yield
    texts.set_language(None)


def lacks(*cells):
    found = uses(Program(Path("a.ipynb"), [HEAD, *cells]))
    return [(use.name, use.kind, use.cell, use.line) for use in found if not use.there]


@pytest.mark.parametrize(
    ("cell", "name", "kind", "line"),
    [
        ("f = torch.jit(f)", "torch.jit", "name", 1),
        ("x = 1\n\ny = torch.jit.script(f)", "torch.jit", "name", 3),
        ("import torch.onnx", "torch.onnx", "name", 1),
        ("from torch.onnx import export", "torch.onnx", "name", 1),
        ("from torch import sparse_coo_tensor as s", "torch.sparse_coo_tensor", "name", 1),
        ("torch.nn.Nothing.more", "torch.nn.Nothing", "name", 1),
        ("class A(nn.Nothing):\n    pass", "torch.nn.Nothing", "name", 1),
        ("import torchvision.transforms as T", "torchvision", "package", 1),
        ("from torchaudio import load", "torchaudio", "package", 1),
        ("y = x.relu().to_sparse()", "Tensor.to_sparse", "method", 1),
        ("F.cross_entropy(x, y, smooth=1)", "torch.nn.functional.cross_entropy(…, smooth=)",
         "keyword", 1),
        ("\n\n%matplotlib inline\n!ls\ntorch.jit", "torch.jit", "name", 5),
        ("%%time\n\ntorch.jit(f)", "torch.jit", "name", 3),
        ("def f():\n    import torch as t\n    t.jit", "torch.jit", "name", 3),
    ],
)  # fmt: skip
def test_what_is_lacking_is_named_with_its_place(cell, name, kind, line):
    assert lacks("x = 1", cell) == [(name, kind, 3, line)]


@pytest.mark.parametrize(
    "cell",
    [
        "model = nn.Sequential(nn.Linear(2, 2, bias=False), nn.ReLU())",
        "from torch.utils.data import DataLoader\nDataLoader([1], batch_size=2, shuffle=True)",
        "x = torch.zeros(2, requires_grad=True, dtype=torch.float64).sum(dim=0, keepdim=True)",
        "loss = F.mse_loss(x, y, reduction='sum')\nloss.grad_fn.next_functions",
        "import numpy as np\nnp.to_sparse(1); d = {}\nd.values()",
        "optim = optim.SGD([x], lr=1)\noptim.nothing",
        "def f(F):\n    return F.nothing",
        "%%bash\ntorch.jit",
        "torch.backends.cudnn.benchmark = True",
    ],
)
def test_what_is_there_or_no_torch_is_not_named(cell):
    assert lacks(cell) == []


def test_methods_that_only_pytorch_has(monkeypatch):
    torch = pytest.importorskip("torch")
    if torch is gradviz:
        pytest.skip("PyTorch is not installed")
    assert [name for name in TENSOR_ONLY if not hasattr(torch.Tensor, name)] == []
    ours = [getattr(gradviz.Tensor, name) for name in TENSOR_ONLY]
    assert all(isinstance(found, Absent) for found in ours)


def notebook(file, *cells):
    code = [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells]
    file.write_text(json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    return str(file)


def test_the_command(tmp_path, capsys):
    good = notebook(tmp_path / "good.ipynb", HEAD, "", "torch.ones(2)")
    bad = notebook(tmp_path / "bad.ipynb", HEAD, "", "torch.jit", "torch.jit")
    assert main(["migrate", good]) == 0
    assert "gradviz has all 5 names" in capsys.readouterr().out
    assert main(["migrate", good, bad]) == 1
    said = capsys.readouterr().out.splitlines()
    assert "1 thing gradviz lacks, of 5 names" in said[1]
    assert said[2] == "  torch.jit: In [2], line 1, In [3], line 1"
    assert main(["migrate", "--format", "json", bad]) == 1
    (report,) = json.loads(capsys.readouterr().out)
    first = {"name": "torch.jit", "kind": "name", "cell": 2, "line": 1}
    assert report["lacks"][0] == first and report["names"] == 5


def test_a_file_that_cannot_be_read(tmp_path, capsys):
    wrong = notebook(tmp_path / "wrong.ipynb", "x = 1", "\n(1 +")
    assert main(["migrate", wrong, str(tmp_path / "none.py")]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("gradviz migrate: ") and "In [2], line 2" in first
    assert second.startswith("gradviz migrate: ") and "no such file" in second
