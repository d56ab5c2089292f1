"""Real PyTorch in a real JupyterLab: the picture comes as it does with our engine."""

import pytest

from tests.browser.test_view import LEAK, NET, View, picture  # noqa: F401  a fixture

pytest.importorskip("torch", reason="shows PyTorch in JupyterLab, which is not installed")

LOAD = "%load_ext gradviz\nimport gradviz\nimport torch\nfrom torch import nn"
DARK = """() => window.jupyterapp.commands.execute(
  'apputils:change-theme', {theme: 'JupyterLab Dark'})"""


def test_pytorch_in_a_notebook_seen_stepped_and_found_out(notebook, picture):  # noqa: F811
    book = notebook(
        [LOAD, "%gradviz", NET, LEAK, "%gradviz step ((model(data) - target) ** 2).mean()"]
    )
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    view.until(view.total, lambda total: total > 8)
    view.select(label="model[0].weight")
    said = view.until(lambda: view.tab("grad"), lambda text: "norm" in text)
    assert "float32" in said
    picture(book, "torch-light")
    book.run(3)
    view.until(view.leaks, lambda count: count >= 1)
    assert "history" in book.output(3)
    book.page.evaluate(DARK)
    book.page.wait_for_selector("body[data-jp-theme-light=false]", state="attached")
    book.page.wait_for_selector("#jupyterlab-splash", state="detached")  # covers the page
    picture(book, "torch-dark")
    book.run(4)
    book.cell(4).locator("[data-testid=gv]").first.wait_for()
    assert "Error" not in book.output(4)
    picture(book, "torch-player")
    assert book.serious_errors() == []
