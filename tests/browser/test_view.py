"""The live view in a real JupyterLab: it grows, answers, flags, survives; with pictures."""

import time

import pytest

from tests.browser.conftest import ROOT
from tests.browser.notebook import Notebook

VIEWPORT = {"width": 1440, "height": 960}
SCREENSHOTS = ROOT / "screenshots"
LOAD = "%load_ext gradviz\nimport gradviz\nimport gradviz as torch\nfrom gradviz import nn"
#: It goes on for three seconds, and then until it is told to end (for a minute at most).
LOOP = """import pathlib, time
x = torch.ones(2, requires_grad=True)
y = x
for step in range(600):
    y = y * 1.1
    time.sleep(0.1)
    if step >= 30 and pathlib.Path('end').exists():
        break"""
NET = """torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
data, target = torch.randn(16, 4), torch.randn(16, 1)
loss = ((model(data) - target) ** 2).mean()
loss.backward()"""
LEAK = """history = []
for step in range(4):
    loss = ((model(data) - target) ** 2).mean()
    loss.backward()
    history.append(loss)"""

# Every view is looked at: one may be mounted anew meanwhile.
NOTE_FIRST_PAINT = """() => {
  const painted = host => Number(host.shadowRoot?.querySelector('.graph')?.dataset.painted ?? 0);
  const look = () => {
    const items = Math.max(0, ...[...document.querySelectorAll('.gradviz-host')].map(painted));
    if (items > 0) window.firstPaint = { at: Date.now(), items };
    else requestAnimationFrame(look);
  };
  look();
}"""
STAMPED = "import time\nstart = time.time()\n" + LOOP + "\nprint('at', start, time.time())"


class View:
    """gradviz's view inside a notebook (the first one on the page, or the one in ``place``)."""

    def __init__(self, book, place=None):
        self.page = book.page
        self.root = (place or book.page).locator("[data-testid=gv]").first

    def wait(self, timeout=15):
        """Until it is there."""
        self.root.wait_for(state="attached", timeout=timeout * 1000)
        return self

    def total(self):
        """How many nodes it says there are."""
        said = self.root.locator("[data-testid=gv-count]").get_attribute("data-total")
        return int(said or 0)

    def state(self):
        """What it says that runs."""
        return self.root.locator("[data-testid=gv-state]").get_attribute("data-state")

    def until(self, what, value, timeout=40):
        """Wait until ``what()`` passes ``value`` (a function), and give it back."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            seen = what()
            if value(seen):
                return seen
            self.page.wait_for_timeout(30)
        raise AssertionError(f"still {what()!r}")

    def count(self, selector, number):
        """Wait until the page has ``number`` elements of ``selector``."""
        self.until(self.page.locator(selector).count, lambda count: count == number)

    def nodes(self, **attributes):
        """The entries of its list of nodes, by ``data-`` attribute."""
        chosen = "".join(f"[data-{name}='{value}']" for name, value in attributes.items())
        return self.root.locator(f"[data-node-id]{chosen}")

    def select(self, **attributes):
        """Select a node as a screen reader would."""
        self.nodes(**attributes).first.dispatch_event("click")

    def note_first_paint(self):
        """Remember, in the page, when the first picture with something in it was painted."""
        self.page.evaluate(NOTE_FIRST_PAINT)

    def first_paint(self):
        """When that was (seconds since the epoch), and how many things were in the picture."""
        found = self.until(lambda: self.page.evaluate("() => window.firstPaint"), bool)
        return found["at"] / 1000, found["items"]

    def tab(self, name):
        """Open a tab of the inspector; its text."""
        self.root.locator(f"[data-testid=gv-tab-{name}]").click()
        return self.root.locator(f"[data-testid=gv-inspector] [data-tab={name}]").inner_text()

    def leaks(self):
        """How many leaks the badge says."""
        badge = self.root.locator("[data-testid=gv-leaks]")
        return int(badge.get_attribute("data-count")) if badge.count() else 0


def grow_and_answer(book, view, number):
    """Run the cell ``number`` (`STAMPED`): the view grows and answers a click before the cell is
    told to end; the numbers of nodes that were seen.
    """
    end = book.file.parent / "end"
    end.unlink(missing_ok=True)
    book.start(number)
    seen = {view.until(view.total, lambda total: total >= 6)}
    view.select(op="MulBackward0")
    view.root.locator("[data-testid=gv-tab-grad]").click()
    view.root.locator("[data-testid=gv-formula]").wait_for()
    while len(seen) < 8 and book.busy(number):
        seen.add(view.total())
        book.page.wait_for_timeout(40)
    assert book.busy(number), "the answer came only after the cell"
    end.touch()
    book.wait(number)
    view.until(view.state, lambda state: state == "idle")
    view.until(view.total, lambda total: total >= 31)
    return seen


@pytest.fixture
def picture():
    SCREENSHOTS.mkdir(exist_ok=True)
    return lambda book, name: book.page.screenshot(path=SCREENSHOTS / f"{name}.png")


def test_it_grows_while_a_cell_runs_and_answers_a_click(notebook, picture):
    book = notebook([LOAD, "%gradviz", STAMPED])
    book.run(0)
    book.run(1)
    view = View(book).wait()
    view.note_first_paint()
    assert len(grow_and_answer(book, view, 2)) >= 8
    picture(book, "grown")
    painted, items = view.first_paint()
    _, started, ended = book.output(2).split()
    assert float(started) < painted < float(ended) and items < view.total()
    assert book.serious_errors() == []
    assert all(url.startswith((book.origin, "data:", "blob:")) for url in book.requests)


def test_loading_and_opening_in_one_cell_while_the_next_are_waiting(notebook):
    book = notebook(["%load_ext gradviz\n%gradviz", LOAD + "\n" + NET, "loss.item()"])
    for number in range(3):
        book.start(number)
    book.wait(2)
    view = View(book).wait()
    view.until(view.total, lambda total: total > 8)
    view.count(".gradviz-dock [data-testid=gv]", 1)
    assert book.serious_errors() == []


def test_selecting_a_node_shows_its_gradient(notebook, picture):
    book = notebook([LOAD, NET + "\ngradviz.show(loss)"])
    book.run(0)
    book.run(1)
    view = View(book, book.cell(1)).wait()
    view.until(view.total, lambda total: total > 8)
    view.select(label="model[0].weight")
    said = view.until(lambda: view.tab("grad"), lambda text: "32" in text or "norm" in text)
    assert "float32" in said
    view.until(view.nodes(label="loss", kind="operation").count, lambda count: count == 1)
    assert view.root.locator("[data-fact=requires_grad]").inner_text() == "True"
    picture(book, "inspect")
    assert book.serious_errors() == []


def test_a_leak_flag_comes_and_goes(notebook, picture):
    book = notebook([LOAD + "\n" + NET, "%gradviz", LEAK, "history.clear()\nloss = None"])
    book.run(0)
    book.run(1)
    view = View(book).wait()
    assert view.leaks() == 0
    book.run(2)
    view.until(view.leaks, lambda count: count >= 1)
    assert "history" in book.output(2)
    assert view.root.locator("[data-testid=gv-finding]").count() >= 1
    picture(book, "leak")
    book.run(3)
    view.until(view.leaks, lambda count: count == 0)
    assert view.root.locator("[data-testid=gv-finding]").count() == 0
    assert "history" not in book.output(2)
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
    view.count(".gradviz-dock", 1)
    view.count("[data-testid=gv]", 1)
    assert book.serious_errors() == []


def test_unloading_leaves_a_picture(notebook):
    book = notebook([LOAD + "\n" + NET, "%gradviz", "%unload_ext gradviz\nprint('gone')"])
    book.run(0)
    book.run(1)
    view = View(book).wait()
    view.until(view.total, lambda total: total > 8)
    book.run(2)
    view.count("[data-testid=gv]", 0)
    book.cell(1).locator("img[src^='data:image/svg+xml']").wait_for()
    assert book.output(2).strip() == "gone"
    assert book.serious_errors() == []


def test_opening_again_moves_the_view(notebook):
    book = notebook([LOAD + "\n" + NET, "%gradviz", "%gradviz", "%gradviz off"])
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    view.count("[data-testid=gv]", 1)
    view.until(lambda: book.output(1).strip(), lambda text: text == "")
    book.run(3)
    view.count("[data-testid=gv]", 0)
    view.count(".gradviz-dock", 0)
    assert book.serious_errors() == []


@pytest.mark.parametrize(("theme", "language"), [("light", "en"), ("dark", "en"), ("light", "zh")])
def test_pictures_of_the_look(notebook, picture, theme, language):
    cells = [LOAD + f"\n%gradviz lang {language}\n" + NET, "%gradviz", LEAK, "gradviz.show(loss)"]
    book = notebook(cells, theme=theme, name=f"look-{theme}-{language}.ipynb")
    for number in range(4):
        book.run(number)
    view = View(book).wait()
    view.until(view.leaks, lambda count: count >= 1)
    view.select(label="loss")
    book.page.wait_for_timeout(600)
    picture(book, f"lab-{theme}-{language}")
    wanted = "泄漏" if language == "zh" else "leak"
    assert wanted in view.root.locator("[data-testid=gv-leaks]").inner_text()
    assert book.serious_errors() == []


def test_hostile_names_are_only_text(notebook):
    hostile = "<img src=x onerror=window.broken=1>"
    book = notebook(
        [
            LOAD,
            f"n = {hostile!r}\nd = {{n: torch.ones(2, requires_grad=True) * 2}}\nh = d[n] * 3",
            "%gradviz",
        ]
    )
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    view.until(view.total, lambda total: total >= 2)
    book.page.wait_for_timeout(300)
    assert book.page.evaluate("() => window.broken === undefined")
    assert book.serious_errors() == []


def test_a_selected_node_leaves_the_graph_its_room(notebook):
    """Beside the notebook the whole of a small graph is in view, with and without the details."""
    deep = "x = torch.ones(3, requires_grad=True)\ny = (x.sin().exp() * 2).tanh().cos().mean()"
    book = notebook([LOAD, "%gradviz", deep + "\ny.backward()"])
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    view.until(view.total, lambda total: total >= 7)
    view.select(label="x")
    view.root.locator("[data-testid=gv-tab-value]").wait_for()
    overview = view.root.locator(".map")
    view.until(overview.is_hidden, lambda hidden: hidden)

    def share():
        graph, whole = view.root.locator(".graph").bounding_box(), view.root.bounding_box()
        return graph["height"] / whole["height"]

    view.until(share, lambda share: share > 0.5)
    assert book.serious_errors() == []


def test_a_view_is_saved_as_a_page_that_works_by_itself(notebook, browser, tmp_path):
    book = notebook([LOAD + "\n" + NET + "\ngradviz.show(loss)"])
    book.run(0)
    view = View(book, book.cell(0)).wait()
    total = view.until(view.total, lambda total: total > 8)
    view.root.locator("[data-testid=gv-export]").click()
    with book.page.expect_download() as saved:
        view.root.locator("[data-testid=gv-export-html]").click()
    file = tmp_path / "page.html"
    saved.value.save_as(file)
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        failed = []
        page.on("pageerror", lambda error: failed.append(str(error)))
        page.goto(file.as_uri())
        page.locator(f"[data-testid=gv-count][data-total='{total}']").wait_for()
        assert failed == []
    finally:
        context.close()
    assert book.serious_errors() == []


def test_a_second_tab_shows_the_same_and_follows(notebook, lab, browser):
    url, folder = lab
    book = notebook(
        [LOAD + "\n" + NET, "%gradviz", "other = (loss * 2).sin().exp()"], name="tabs.ipynb"
    )
    book.run(0)
    book.run(1)
    view = View(book).wait()
    total = view.until(view.total, lambda total: total > 8)
    book.save()
    second = Notebook(browser.new_context(viewport=VIEWPORT), url, folder, "tabs.ipynb")
    try:
        second.goto()
        twin = View(second).wait()
        twin.until(twin.total, lambda seen: seen == total)
        book.run(2)
        both = lambda: (view.total(), twin.total())  # noqa: E731
        view.until(both, lambda seen: total < seen[0] == seen[1])
        twin.select(label="other")
        twin.until(lambda: twin.tab("value"), lambda text: text.strip() != "")
        assert second.serious_errors() == []
    finally:
        second.context.close()
    assert book.serious_errors() == []


def test_earlier_cells_are_shown_again_and_compared(notebook, picture):
    cells = [LOAD + "\n" + NET, "%gradviz", "a = (loss * 2).exp()", "b = (loss * 3).sin().tanh()"]
    book = notebook(cells, name="moments.ipynb")
    for number in range(4):
        book.run(number)
    view = View(book).wait()
    view.until(lambda: view.nodes(label="b").count(), lambda count: count == 1)
    view.root.locator("[data-testid=gv-moment-3]").click()
    view.until(lambda: view.nodes(label="a").count(), lambda count: count == 1)
    view.until(view.nodes(label="b").count, lambda count: count == 0)
    view.root.locator("[data-testid=gv-compare]").click()
    view.root.locator("[data-testid=gv-now]").click()
    view.until(lambda: view.nodes(label="b").count(), lambda count: count == 1)
    said = view.root.locator("[data-testid=gv-note]")
    view.until(said.inner_text, lambda text: "new" in text and "gone" in text)
    view.root.locator("[data-testid=gv-moment-3]").click()
    view.until(said.inner_text, lambda text: "after In [3]" in text)
    picture(book, "moments")
    assert book.serious_errors() == []


def test_a_line_of_code_and_what_it_made_light_each_other_up(notebook, picture):
    code = "x = torch.ones(3, requires_grad=True)\ny = x.sin()\nz = (y * 2).sum()"
    book = notebook([LOAD, "%gradviz", code], name="lines.ipynb")
    for number in range(3):
        book.run(number)
    view = View(book).wait()
    view.until(lambda: view.nodes(label="z").count(), lambda count: count == 1)
    lines = book.cell(2).locator(".cm-line")
    book.page.wait_for_timeout(400)
    lines.nth(2).hover()
    book.page.wait_for_timeout(200)
    picture(book, "line-lit")
    graph = view.root.locator(".graph")
    box = graph.bounding_box()
    lit = "line => line.style.background !== ''"
    seen = []
    for part in range(20):
        y = box["y"] + box["height"] * part / 20
        book.page.mouse.move(box["x"] + box["width"] / 2, y)
        seen += [n for n in range(3) if lines.nth(n).evaluate(lit)]
    assert {0, 1, 2} >= set(seen) >= {1, 2}
    assert book.serious_errors() == []
