"""How soon a picture is there, and how smoothly it moves: ``python -m tests.bench.view``.

Start-up: from handing the view its graph to the first painted picture; the script is loaded anew
each time (the first, cold, is told apart).

First picture: from the first operation of a running cell to the first painted picture with
something in it, in a real JupyterLab and Chromium. Frames: the time between two frames while 1,000
and 10,000 nodes that are all in view are dragged about. Medians and the worst. Needs Chromium; no
GPU is used.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from gradviz.export.html import bundle, page
from gradviz.watch.plain import dumps
from gradviz.watch.recorder import Recorder
from tests.browser import conftest
from tests.browser.notebook import Notebook
from tests.browser.test_view import LOAD, STAMPED, View
from tests.traces import LEAF, node, put_all, small_net

ROUNDS = 7
FRAMES = 90
WATCH_FRAMES = """() => { window.frames_ = []; let last = performance.now();
const each = now => { window.frames_.push(now - last); last = now; requestAnimationFrame(each); };
requestAnimationFrame(each); }"""

START = """async ([script, data, round]) => {
  const paint = () => new Promise(done => requestAnimationFrame(done));
  await paint();
  const start = performance.now();
  const file = new Blob([script, `//${round}`], {type: 'text/javascript'});
  const {default: view} = await import(URL.createObjectURL(file));
  const el = document.createElement('div');
  document.body.append(el);
  const traits = {panel: 'graph', bundle: data, language: 'en', placement: 'inline', height: 420};
  const nothing = () => {};
  view.render({el, model: {get: name => traits[name], set: nothing, save_changes: nothing,
    on: nothing, off: nothing, send: nothing}});
  const graph = el.firstChild.shadowRoot.querySelector('.graph');
  const painted = () => Number(graph.dataset.painted) > 0;
  if (!painted()) await new Promise(done => new MutationObserver(() => painted() && done())
    .observe(graph, {attributeFilter: ['data-painted']}));
  const spent = performance.now() - start;
  el.remove();
  return spent;
}"""


def start_ups(browser):
    """Milliseconds from the script's text to the first painted picture, one a round."""
    shown = browser.new_page()
    shown.set_content("<!doctype html><body></body>")
    script = (conftest.ROOT / "gradviz" / "static" / "widget.js").read_text("utf-8")
    data = dumps(bundle(small_net().trace))
    for n in range(ROUNDS):
        yield shown.evaluate(START, [script, data, n])
    shown.close()


def first_pictures(browser, url, folder):
    """Milliseconds to the first painted picture, one a round."""
    for n in range(ROUNDS):
        book = Notebook(browser.new_context(), url, folder, f"round{n}.ipynb")
        book.open([LOAD, "%gradviz", STAMPED.replace("range(600)", "range(8)")])
        book.run(0)
        book.run(1)
        view = View(book).wait()
        view.note_first_paint()
        book.run(2)
        _, started, _ = book.output(2).split()
        yield 1e3 * (view.first_paint()[0] - float(started))
        book.close()


def chains(count):
    """``count`` operations as many chains side by side, so that all of them can be in view."""
    side = round(count**0.5)
    nodes, edges = [], []
    for column in range(side):
        first = column * (side + 1) + 1
        nodes += [node(first, LEAF, label=f"w{column}")]
        nodes += [node(first + row, op="MulBackward0") for row in range(1, side + 1)]
        edges += [(first + row, first + row + 1) for row in range(side)]
    return put_all(Recorder(), nodes, edges)


def frames(browser, folder, count):
    """Milliseconds between frames while all of a graph is dragged about."""
    file = folder / f"{count}.html"
    file.write_text(page(chains(count).trace, lang="en"), encoding="utf-8")
    shown = browser.new_page(viewport={"width": 1280, "height": 900})
    shown.goto(file.as_uri())
    shown.locator("[data-testid=gv-fold]").click()
    shown.locator("[data-testid=gv-fold-none]").click()
    graph = shown.locator(".graph")
    shown.locator(f".graph[data-painted='{len(chains(count).trace.nodes)}']").wait_for()
    box = graph.bounding_box()
    shown.locator("[data-testid=gv-fit]").click()
    shown.wait_for_timeout(300)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    shown.mouse.move(x, y)
    shown.mouse.down()
    shown.evaluate(WATCH_FRAMES)
    for n in range(FRAMES):
        shown.mouse.move(x + 40 * (n % 20 - 10), y + 20 * (n % 10 - 5))
    found = shown.evaluate("() => window.frames_")[2:]
    shown.close()
    return found


def main():
    """Start JupyterLab and a browser, measure, print, end both."""
    from playwright.sync_api import sync_playwright

    with (
        conftest._serving("jupyterlab", Path(tempfile.mkdtemp())) as (url, folder),
        sync_playwright() as play,
    ):
        path = conftest.chromium()
        browser = play.chromium.launch(executable_path=path, args=conftest.FLAGS)
        cold, *warm = start_ups(browser)
        tell("start-up, cold", [cold])
        tell("start-up", warm)
        tell("first picture", list(first_pictures(browser, url, folder)))
        for count in (1_000, 10_000):
            tell(f"frames, {count:,} nodes in view", frames(browser, folder, count))
        browser.close()


def tell(name, times):
    """One line: the median and the worst."""
    print(f"{name}: {statistics.median(times):.0f} ms (median), {max(times):.0f} ms (worst)")


if __name__ == "__main__":
    main()
