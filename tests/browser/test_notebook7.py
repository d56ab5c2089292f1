"""The heart of the view in Notebook 7: it grows, answers, survives a reload and a restart."""

import pytest

from tests.browser.test_view import LOAD, NET, SCREENSHOTS, STAMPED, View, grow_and_answer


@pytest.fixture
def notebook(notebook7, opener):
    return opener(*notebook7)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_it_grows_while_a_cell_runs_and_answers_a_click(notebook, theme):
    book = notebook([LOAD, "%gradviz", STAMPED], name=f"grows-{theme}.ipynb", theme=theme)
    book.run(0)
    book.run(1)
    view = View(book).wait()
    view.count(".gradviz-dock [data-testid=gv]", 1)
    assert len(grow_and_answer(book, view, 2)) >= 8
    SCREENSHOTS.mkdir(exist_ok=True)
    book.page.screenshot(path=SCREENSHOTS / f"notebook7-{theme}.png")
    assert book.serious_errors() == []


def test_selecting_a_node_shows_its_gradient_under_the_cell(notebook):
    book = notebook([LOAD + "\n" + NET + "\ngradviz.show(loss)"], name="select.ipynb")
    book.run(0)
    view = View(book, book.cell(0)).wait()
    view.until(view.total, lambda total: total > 8)
    view.select(label="model[0].weight")
    said = view.until(lambda: view.tab("grad"), lambda text: "32" in text or "norm" in text)
    assert "float32" in said
    assert book.serious_errors() == []


def test_reload_and_restart(notebook):
    book = notebook([LOAD, NET, "%gradviz"], name="reload.ipynb")
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    total = view.until(view.total, lambda total: total > 8)
    book.save()
    book.page.wait_for_timeout(500)
    book.goto()
    view = View(book).wait()
    assert view.until(view.total, lambda seen: seen == total)
    # an answer means that the front end and the kernel have nothing left to agree upon
    view.select(label="data")
    view.until(lambda: view.tab("value"), lambda text: "mean" in text)
    book.restart()
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    view.until(view.total, lambda seen: seen > 8)
    view.count("[data-testid=gv]", 1)
    assert book.serious_errors() == []
