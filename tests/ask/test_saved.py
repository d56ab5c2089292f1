"""A notebook's trace is saved, and opened where the notebook is not."""

import subprocess
import sys

import numpy as np

import gradviz


def test_a_trace_travels(book, tmp_path):
    book.run("net = torch.nn.Linear(2, 1)\nloss = net(torch.ones(4, 2)).mean()\nloss.backward()")
    path = gradviz.save_trace(tmp_path / "run.gvz")
    opened = gradviz.open_trace(path)
    assert opened.trace.nodes[opened._id("loss")].op == "MeanBackward0"
    np.testing.assert_array_equal(
        opened.value("net.weight"), book.ns["net"].weight.detach().numpy()
    )
    np.testing.assert_array_equal(opened.grad("net.weight"), np.ones((1, 2), np.float32))
    assert "loss = MeanBackward0" in repr(opened)
    assert opened._repr_svg_().startswith("<svg") and "<html" in opened.html()


def test_reading_needs_no_engine(book, tmp_path):
    book.run("loss = (w * 2).sum()")
    path = gradviz.save_trace(tmp_path / "run.gvz")
    alone = (
        "import sys, types; from pathlib import Path\n"
        "package = types.ModuleType('gradviz'); package.__path__ = [sys.argv[1]]\n"
        "sys.modules['gradviz'] = package\n"
        "from gradviz.watch.archive import read\n"
        "print(read(sys.argv[2]).named('loss') > 0, 'gradviz.engine' in sys.modules)"
    )
    folder = gradviz.__path__[0]
    ended = subprocess.run(
        [sys.executable, "-c", alone, folder, str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.split() == ["True", "False"], ended.stderr
