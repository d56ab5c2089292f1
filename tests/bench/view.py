"""How soon a picture is there: ``python tests/bench/view.py``. From the first operation of a
running cell to the first painted picture with something in it, in a real JupyterLab and Chromium;
several rounds, the median and the worst. Needs Chromium.
"""

from __future__ import annotations

import os
import signal
import statistics
import tempfile
from pathlib import Path

from tests.browser import conftest
from tests.browser.notebook import Notebook
from tests.browser.test_view import LOAD, STAMPED, View

ROUNDS = 7


def rounds(page_of):
    """Milliseconds to the first painted picture, one a round."""
    for n in range(ROUNDS):
        book = page_of(f"round{n}.ipynb")
        book.open([LOAD, "%gradviz", STAMPED.replace("range(30)", "range(8)")])
        book.run(0)
        book.run(1)
        view = View(book).wait()
        view.note_first_paint()
        book.run(2)
        _, started, _ = book.output(2).split()
        yield 1e3 * (view.first_paint()[0] - float(started))
        book.close()


def main():
    """Start JupyterLab and a browser, measure, print one line, end both."""
    from playwright.sync_api import sync_playwright

    root = Path(tempfile.mkdtemp())
    folder = root / "notebooks"
    folder.mkdir()
    process, port = conftest._start(root)
    url = f"http://127.0.0.1:{port}"
    try:
        conftest._wait_for(url, process, root / "lab.log")
        with sync_playwright() as play:
            browser = play.chromium.launch(executable_path=conftest.chromium(), args=conftest.FLAGS)
            made = lambda name: Notebook(browser.new_context(), url, folder, name)
            times = list(rounds(made))
            browser.close()
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)
    middle, worst = statistics.median(times), max(times)
    print(f"first picture: {middle:.0f} ms (median), {worst:.0f} ms (worst of {ROUNDS})")


if __name__ == "__main__":
    main()
