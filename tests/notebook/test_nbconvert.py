"""Where widgets do not run: a converted notebook shows the graph as a picture."""

import base64
import re

import pytest

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("nbconvert", reason="nbconvert is not installed")
pytest.importorskip("ipykernel", reason="ipykernel is not installed")

CELLS = [
    "%load_ext gradviz\nimport gradviz, gradviz as torch",
    "%gradviz",
    "w = torch.ones(2, requires_grad=True)\nloss = (w * w).sum()\nloss.backward()",
    "gradviz.show(loss)",
    "%%gradviz\nh = w * 3",
]


@pytest.fixture
def executed(root, monkeypatch):
    from nbclient import NotebookClient

    monkeypatch.setenv("PYTHONPATH", str(root))
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(book, timeout=60, kernel_name="python3").execute()
    return book


def test_the_html_has_the_pictures(executed):
    from nbconvert import HTMLExporter

    html, _ = HTMLExporter().from_notebook_node(executed)
    found = [
        base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", html)
    ]
    graphs = [picture for picture in found if "SumBackward0" in picture]
    assert len(graphs) >= 1 and "loss" in graphs[0]
    assert len([picture for picture in found if "<title>gradviz" in picture]) >= 3
    assert '<script type="application/vnd.jupyter.widget-view+json">' not in html


def test_every_view_has_a_picture_and_a_text(executed):
    shown = [out.data for cell in executed.cells for out in cell.outputs if "data" in out]
    assert len(shown) == 3
    for data in shown:
        assert set(data) == {"text/html", "text/plain"}
    assert "loss = SumBackward0" in shown[1]["text/plain"]


def test_the_notebook_is_valid(executed):
    nbformat.validate(executed)
