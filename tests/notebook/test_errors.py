"""Every error of autograd that ends a cell is explained below the traceback: the sentence that says
whose fault it is, and the graph in which it arose.
"""

import pytest

from gradviz.backend import twin
from gradviz.export.picture import fault
from gradviz.notebook import alias
from gradviz.notebook.lines import Lines, line_text
from gradviz.notebook.views import drawn
from tests.doctor.notebook import Notebook

W = "w = torch.ones(3, requires_grad=True)\n"

# cells, what the sentence says, names in the picture
ERRORS = {
    "second backward": (
        [W + "h = w.tanh()\na, b = h.sum(), (h * h).sum()", "a.backward()", "b.backward()"],
        ["`a.backward()` (In [3], line 1)", "In [2], line 2"],
        ["h", "b", "w"],
    ),
    "changed in place": (
        [W + "h = w.exp()\nloss = h.sum()", "h.add_(1)", "loss.backward()"],
        ["h.add_(1)", "In [3], line 1"],
        ["loss", "w"],
    ),
    "not a scalar": (
        [W + "each = w.sin()", "each.backward()"],
        ["each has more than one element"],
        ["each", "w", "each.backward()"],
    ),
    "no graph": (
        [W + "h = w.exp()\np = h.detach() * 2\nloss = p.sum()", "loss.backward()"],
        ["loss has no graph: detach()", "In [2], line 3"],
        ["loss", "loss.backward()", "h", "detached"],
    ),
    "leaf changed": ([W, "w += 1"], ["w requires grad", "In [3], line 1"], ["w", "w += 1"]),
    "view of a leaf changed": (
        ["net = torch.nn.Linear(3, 2)", "net.weight[0] += 1"],
        ["net.weight[0] requires grad"],
        ["net.weight", "net.weight[0] += 1"],
    ),
    "numpy of a tracked": (
        [W + "y = w.exp()", "a = y.numpy()"],
        ["y requires grad"],
        ["y", "a = y.numpy()"],
    ),
    "inference tensor": (
        [
            "net = torch.nn.Linear(3, 2)\nwith torch.inference_mode():\n    f = torch.ones(2, 3)",
            "out = net(f)",
        ],
        ["inference_mode"],
        ["f", "out = net(f)"],
    ),
    "result for an optimizer": (
        [W + "c = w * 2", "o = torch.optim.SGD([c], lr=0.1)"],
        ["leaf"],
        ["c"],
    ),
}


@pytest.fixture(autouse=True)
def as_torch():
    alias.install()


def explained(cells):
    """The sentence, and the labels in the picture, that the error of the last cell gets."""
    book, said = Notebook(), []
    try:
        for cell in ("import torch", *cells):
            book.run(cell)

        def draw(finding):
            said.append((line_text([finding]), fault(book.recorder.trace, finding.node_ids)))
            return drawn(said[-1][1]) if said[-1][1] is not None else None

        screen = []
        lines = Lines(lambda data, display_id, update: screen.append(data), draw=draw)
        lines.show(book.findings)
        return said[0][0], said[0][1], screen[0]
    finally:
        book.close()


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_explained_with_its_graph(name):
    cells, sentence, names = ERRORS[name]
    line, picture, shown = explained(cells)
    assert all(part in line for part in sentence), line
    labels = [box.node.label for box in picture.boxes] + [box.node.cut for box in picture.boxes]
    assert set(names) - {"detached"} <= set(labels)
    assert ("detached" in names) == ("detach" in labels)
    assert any(box.node.findings for box in picture.boxes)
    assert shown["text/html"].count("<img") == 1 and shown["text/html"].startswith("<div")
    assert line.replace("`", "") in shown["text/plain"]


def test_tensors_on_two_devices():
    with twin.installed(1):
        line, picture, _ = explained([W + "x = torch.ones(3, device='cuda')", "y = w * x"])
    assert "GV516" in line and "cuda:0" in line
    assert {"w", "x", "y = w * x"} <= {box.node.label for box in picture.boxes}


def test_a_deep_graph_is_shown_where_the_fault_is():
    deep = W + "h = w.exp()\nz = h\nfor k in range(200):\n    z = z + 1\nloss = z.sum()"
    _, picture, _ = explained([deep, "h.zero_()", "loss.backward()"])
    assert len(picture.boxes) < 30
    assert "w" in {box.node.label for box in picture.boxes}


def test_an_error_that_no_tensor_took_part_in_gets_the_sentence_alone():
    line, picture, shown = explained(["c = torch.tensor([1, 2], requires_grad=True)"])
    assert "GV509" in line and picture is None and "<img" not in shown["text/html"]
