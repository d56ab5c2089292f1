"""The backward player in a real JupyterLab: it steps the real engine between cells."""

from tests.browser.test_view import LOAD, SCREENSHOTS, View

NET = """x = torch.tensor([0.5, 1.5], requires_grad=True)
h = (x * x).sin()
loss = (h + h ** 2).sum()"""


class Player(View):
    """The view with its band."""

    def press(self, name, until):
        """Press a button, and wait until ``until`` steps are shown as done."""
        self.root.locator(f"[data-testid=gv-player-{name}]").click()
        self.until(self.position, lambda position: position == until)

    def position(self):
        """How many steps are shown as done."""
        band = self.root.locator("[data-testid=gv-player]")
        return int(band.get_attribute("data-position") or 0)

    def card(self):
        """What it says of the step."""
        return self.root.locator("[data-testid=gv-step]").inner_text()


def test_stepping_between_cells(notebook):
    book = notebook([LOAD + "\n" + NET, "%gradviz step loss", "print(x.grad)", "print(x.grad)"])
    book.run(0)
    book.run(1)
    player = Player(book, book.cell(1)).wait()
    player.until(player.total, lambda total: total > 4)
    player.press("forward", 1)
    player.press("forward", 2)
    book.run(2)
    assert book.output(2).strip() == "None"
    player.until(player.card, lambda text: "local rule" in text)
    player.press("back", 1)
    player.press("play", 5)
    player.select(label="x")
    player.until(player.card, lambda text: "paths" in text)
    SCREENSHOTS.mkdir(exist_ok=True)
    book.page.screenshot(path=SCREENSHOTS / "player.png")
    book.run(3)
    assert "tensor" in book.output(3)
    assert book.serious_errors() == []


def test_aborting_and_reloading(notebook):
    cells = [LOAD + "\n" + NET, "player = gradviz.BackwardPlayer(loss)\nplayer", "print(x.grad)"]
    book = notebook(cells, name="player.ipynb")
    book.run(0)
    book.run(1)
    player = Player(book, book.cell(1)).wait()
    player.until(player.total, lambda total: total > 4)
    player.press("forward", 1)
    book.save()
    book.goto()
    player = Player(book).wait()
    player.until(player.position, lambda position: position == 1)
    player.press("forward", 2)
    player.root.locator("[data-testid=gv-player-abort]").click()
    said = player.root.locator("[data-testid=gv-said]")
    player.until(said.inner_text, lambda text: "aborted" in text)
    book.run(2)
    assert book.output(2).strip() == "None"
    assert book.serious_errors() == []


def test_a_recording_plays_in_a_page_of_its_own(notebook, browser, tmp_path):
    cells = [
        LOAD + "\n" + NET + "\nplayer = gradviz.BackwardPlayer(loss)\nplayer.finish()",
        "player",
    ]
    book = notebook(cells, name="saved.ipynb")
    book.run(0)
    book.run(1)
    player = Player(book, book.cell(1)).wait()
    player.until(player.position, lambda position: position == 5)
    player.root.locator("[data-testid=gv-export]").click()
    with book.page.expect_download() as saved:
        player.root.locator("[data-testid=gv-export-html]").click()
    saved.value.save_as(tmp_path / "pass.html")
    context = browser.new_context(offline=True)
    try:
        page = context.new_page()
        page.goto((tmp_path / "pass.html").as_uri())
        page.locator("[data-testid=gv-player][data-position='5']").wait_for()
        page.locator("[data-testid=gv-player-back]").click()
        page.locator("[data-testid=gv-player][data-position='4']").wait_for()
        page.locator("[data-testid=gv-player-play]").click()
        page.locator("[data-testid=gv-player][data-position='5']").wait_for()
    finally:
        context.close()
    assert book.serious_errors() == []
