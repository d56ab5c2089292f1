"""Every widget by itself, in both themes and languages: the pictures of docs/widgets.md.

GRADVIZ_GALLERY=1 pytest tests/browser/test_gallery.py    makes them anew
"""

import os

import pytest

from tests.browser.conftest import ROOT
from tests.browser.test_panels import SETUP
from tests.browser.test_view import SCREENSHOTS, View

SHOWN = {
    "graph": "gradviz.Graph(((model(data) - target) ** 2).mean(), height=300)",
    "player": "player = gradviz.BackwardPlayer(((model(data) - target) ** 2).mean(), height=300)\n"
    "for _ in range(4):\n    player.step()\nplayer",
    "tensor": "gradviz.TensorView(big, label='big')",
    "findings": "gradviz.Findings()",
    "ledger": "ledger",
    "flow": "flow",
    "cockpit": "cockpit",
    "hooks": "bench",
    "storage": "part = big[1:]\ngradviz.StorageMap(w=big, v=part)",
    "tower": "gradviz.DerivativeTower(lambda x: x ** 3)",
}
LEAK = """history = []
for _ in range(3):
    loss = ((model(data) - target) ** 2).mean()
    loss.backward()
    history.append(loss)"""
FOLDER = ROOT / "docs" / "images" / "widgets" if os.environ.get("GRADVIZ_GALLERY") else SCREENSHOTS


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(("lang", "locale"), [("en", "en-US"), ("zh", "zh-CN")])
def test_each_widget_alone(notebook, theme, lang, locale):
    cells = [SETUP, LEAK, *SHOWN.values()]
    book = notebook(cells, name=f"gallery-{theme}-{lang}.ipynb", theme=theme, locale=locale)
    book.page.set_viewport_size({"width": 1180, "height": 1000})
    FOLDER.mkdir(parents=True, exist_ok=True)
    for number in range(2):
        book.run(number)
    for number, kind in enumerate(SHOWN, 2):
        book.run(number)
        view = View(book, book.cell(number))
        box = book.cell(number).locator("[data-testid=gv],[data-testid=gv-panel]").first
        box.wait_for()
        if kind == "graph":
            view.until(view.total, lambda total: total > 8)
        box.scroll_into_view_if_needed()
        book.page.wait_for_timeout(400)  # until the picture has come to rest
        box.screenshot(path=FOLDER / f"{kind}-{theme}-{lang}.png", animations="disabled")
        view.until(box.bounding_box, lambda seen: seen is not None and seen["height"] > 60)
    assert book.serious_errors() == []
