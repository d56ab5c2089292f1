"""Graphs that other tools break on, each opened in a real JupyterLab: drawn, counted, no error."""

import pytest

from tests.browser.test_view import LOAD, SCREENSHOTS, View

#: name -> (a cell that makes `y`, how many nodes it has at least, whether some are folded)
GRAPHS = {
    "chain": ("y = w\nfor _ in range(5000):\n    y = y * 1.001", 5001, True),
    "lstm": (
        "cell, h = nn.LSTMCell(4, 4), (torch.zeros(2, 4), torch.zeros(2, 4))\n"
        "for _ in range(50):\n    h = cell(torch.randn(2, 4), h)\ny = h[0].sum()",
        600,
        True,
    ),
    "fan-in": (
        "leaves = [torch.ones(1, requires_grad=True) for _ in range(1000)]\n"
        "y = torch.stack(leaves).sum()",
        1002,
        True,
    ),
    "diamonds": ("y = w\nfor _ in range(100):\n    y = y.sin() + y.cos()", 301, True),
    "apart": ("a, y = (w * 2).exp(), torch.ones(3, requires_grad=True).sin()", 5, False),
    "freed": ("y = (w * w).sin().sum()\ny.backward()", 4, False),
    "single": ("y = w", 1, False),
}
#: The view of everything shows graphs that hang together by nothing.
WHOLE = ("apart",)
RAISES = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 8), nn.Linear(4, 1)
    def forward(self, x):
        h = self.first(x).relu()
        return self.second(h)
Net()(torch.randn(2, 4))"""


@pytest.mark.parametrize("name", GRAPHS)
def test_it_is_drawn(notebook, name):
    making, least, folds = GRAPHS[name]
    show = "gradviz.show()" if name in WHOLE else "gradviz.show(y)"
    making = "w = torch.ones(3, requires_grad=True)\n" + making
    book = notebook([LOAD, f"{making}\n{show}"], name=f"{name}.ipynb")
    book.run(0)
    book.run(1)
    view = View(book, book.cell(1)).wait()
    view.until(view.total, lambda total: total >= least)
    graph = view.root.locator(".graph")
    view.until(
        lambda: int(graph.get_attribute("data-painted") or 0),
        lambda painted: painted > 0 and (painted < least) == folds,
    )
    said = view.root.locator("[data-testid=gv-count]").inner_text
    view.until(said, lambda text: ("folded" in text) == folds)
    if name == "freed":
        view.root.locator(".legend").get_by_text("freed").wait_for()
    book.page.wait_for_timeout(300)
    SCREENSHOTS.mkdir(exist_ok=True)
    view.root.screenshot(path=SCREENSHOTS / f"hard-{name}.png")
    assert view.root.locator("[data-testid=gv-alert]").is_hidden()
    assert book.serious_errors() == []


def test_a_forward_that_raises_leaves_its_picture_with_what_failed_in_red(notebook):
    book = notebook([LOAD, "%gradviz", RAISES], name="raises.ipynb")
    book.run(0)
    book.run(1)
    book.run(2)
    assert "shapes cannot be multiplied" in book.output(2)
    view = View(book).wait()
    view.until(view.state, lambda state: state == "failed")
    view.until(view.total, lambda total: total >= 4)
    view.nodes(op="ReluBackward0", label="h").first.wait_for(state="attached")
    view.root.locator(".legend").get_by_text("failed").wait_for()
    SCREENSHOTS.mkdir(exist_ok=True)
    book.page.screenshot(path=SCREENSHOTS / "hard-raises.png")
    assert book.serious_errors() == []
