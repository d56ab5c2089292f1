"""A node is checked, and another value of a leaf tried, from the page; nothing changes by it."""

import pytest

from tests.browser.axe import AXE, violations
from tests.browser.test_view import LOAD, SCREENSHOTS, View

CELL = """w = torch.tensor([1.0, 2.0], requires_grad=True)
x, y = torch.tensor([3.0, 4.0]), torch.tensor(1.0)
loss = ((w * x).sum() - y) ** 2
gradviz.show(loss)"""


@pytest.mark.parametrize(("theme", "locale"), [("light", "en-US"), ("dark", "zh-CN")])
def test_check_and_what_if(notebook, theme, locale):
    cells = [LOAD, CELL, "print(w, w.grad)"]
    book = notebook(cells, name=f"trial-{theme}.ipynb", theme=theme, locale=locale)
    book.run(0)
    book.run(1)
    view = View(book, book.cell(1)).wait()
    view.until(view.total, lambda total: total > 5)
    view.select(label="w")
    field = view.root.locator("[data-testid=gv-what-if]")
    field.fill("[0, 0.5]")
    field.press("Enter")
    said = view.root.locator("[data-testid=gv-tried]")
    view.until(
        said.inner_text, lambda text: "[60, 80] \u2192 [6, 8]" in text and "100 \u2192 1" in text
    )
    SCREENSHOTS.mkdir(exist_ok=True)
    view.root.screenshot(path=SCREENSHOTS / f"what-if-{theme}.png")
    view.select(op="PowBackward0")
    view.root.locator("[data-testid=gv-tab-grad]").click()
    view.root.locator("[data-testid=gv-check]").click()
    said = view.root.locator("[data-testid=gv-checked]")
    view.until(said.inner_text, lambda text: "\u2713" in text)
    view.root.screenshot(path=SCREENSHOTS / f"check-{theme}.png")
    if AXE.is_file():
        assert violations(book.page, ".jp-OutputArea-output") == []
    book.run(2)
    assert book.output(2).split("\n")[0] == "tensor([1., 2.], requires_grad=True) None"
    assert book.serious_errors() == []
