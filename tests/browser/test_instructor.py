"""Instructor mode in JupyterLab: large type, folded answers not there; and back again."""

import pytest

from tests.browser.test_view import LOAD, SCREENSHOTS, View

FOLDED = (
    "from IPython.display import Markdown\n"
    "Markdown('Question <details><summary>A solution</summary>42</details>')"
)
GRAPH = "w = torch.ones(2, requires_grad=True)\ngradviz.show((w * w).sum())"
SIZE = "cell => getComputedStyle(cell.querySelector('.cm-content')).fontSize"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_large_type_and_no_answers(notebook, theme):
    cells = [LOAD, FOLDED, GRAPH, "%gradviz instructor", "%gradviz instructor off"]
    book = notebook(cells, name=f"instructor-{theme}.ipynb", theme=theme)
    for number in range(3):
        book.run(number)
    answer, view = book.cell(1).locator("details"), View(book, book.cell(2)).wait()
    head = view.root.locator(".head").first

    def height():
        return head.bounding_box()["height"]

    size, before = book.cell(0).evaluate(SIZE), height()
    assert answer.is_visible()
    book.run(3)
    view.until(lambda: book.cell(0).evaluate(SIZE), lambda found: found == "19px")
    view.until(answer.is_visible, lambda seen: not seen)
    view.until(height, lambda now: now > 1.2 * before)
    SCREENSHOTS.mkdir(exist_ok=True)
    book.page.screenshot(path=SCREENSHOTS / f"instructor-{theme}.png")
    book.run(4)
    view.until(lambda: book.cell(0).evaluate(SIZE), lambda found: found == size)
    view.until(answer.is_visible, lambda seen: seen)
    view.until(height, lambda now: now == before)
    assert book.serious_errors() == []
