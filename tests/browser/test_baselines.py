"""The look, held: pictures of the page beside remembered ones, both made very small.

So small that fonts and smoothing hardly matter, while colours that change or a graph that is not
drawn do; beside them, where the parts of the page stand. ``GRADVIZ_BASELINES=write`` remembers what
is there now; look at the screenshots before.
"""

import base64
import json
import os
from pathlib import Path

import pytest

from gradviz.export.html import page as page_of
from tests.browser.test_page import SCREENSHOTS
from tests.traces import finding, small_net

FOLDER = Path(__file__).parent / "baselines"
SIZE = {"width": 1180, "height": 820}
SMALL = """async ([shot, known]) => {
  const pixels = async data => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + data;
    await image.decode();
    const canvas = new OffscreenCanvas(59, 41);
    const to = canvas.getContext('2d');
    to.imageSmoothingQuality = 'high';
    to.drawImage(image, 0, 0, 59, 41);
    return [canvas, to.getImageData(0, 0, 59, 41).data];
  };
  const [canvas, now] = await pixels(shot);
  const bytes = new Uint8Array(await (await canvas.convertToBlob()).arrayBuffer());
  const small = btoa(String.fromCharCode(...bytes));
  if (!known) return {small};
  const [, before] = await pixels(known);
  const apart = Array.from(now, (value, n) => Math.abs(value - before[n]));
  return {small, mean: apart.reduce((a, b) => a + b) / apart.length,
    far: apart.filter(value => value > 48).length / apart.length};
}"""
PARTS = (".head", ".graph", ".legend", ".inspector", ".findings", ".tabs")
BOXES = """parts => Object.fromEntries(parts.map(part => {
  const found = document.getElementById('gradviz').shadowRoot.querySelector(part);
  const {x, y, width, height} = found ? found.getBoundingClientRect() : {};
  return [part, found && width ? [x, y, width, height].map(Math.round) : null];
}))"""
#: a mean of 255 steps; the share of values that may be another colour altogether; px
MEAN, FAR, MOVED = 1.2, 0.002, 16


def graph(lang):
    made = small_net()
    made.set_findings([finding(node_ids=[6])])
    return page_of(made.trace, lang=lang), "[data-node-id='6']"


def selected_nothing(lang):
    return page_of(small_net().trace, lang=lang), None


SCENES = {"graph": graph, "plain": selected_nothing}


@pytest.fixture
def shot(browser, tmp_path):
    """A picture of a document in a colour scheme, as base64."""
    contexts = []

    def take(content, scheme, click, file):
        context = browser.new_context(viewport=SIZE, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        (tmp_path / "page.html").write_text(content, encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        page.locator(".graph:not([data-painted='0'])").wait_for()
        if click:
            page.locator(click).first.dispatch_event("click")
        page.wait_for_timeout(500)
        SCREENSHOTS.mkdir(exist_ok=True)
        taken = page.screenshot(path=SCREENSHOTS / file, animations="disabled")
        return page, base64.b64encode(taken).decode()

    yield take
    for context in contexts:
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", SCENES)
def test_the_look_is_as_it_was(shot, name, scheme):
    content, click = SCENES[name]("en" if scheme == "light" else "zh")
    page, taken = shot(content, scheme, click, f"baseline-{name}-{scheme}.png")
    boxes = page.evaluate(BOXES, PARTS)
    file = FOLDER / f"{name}-{scheme}.png"
    writing = os.environ.get("GRADVIZ_BASELINES") == "write"
    known = None if writing else base64.b64encode(file.read_bytes()).decode()
    found = page.evaluate(SMALL, [taken, known])
    if writing:
        file.write_bytes(base64.b64decode(found["small"]))
        file.with_suffix(".json").write_text(json.dumps(boxes) + "\n")
        return
    assert found["mean"] < MEAN and found["far"] < FAR, found
    for part, box in json.loads(file.with_suffix(".json").read_text()).items():
        now = boxes[part]
        assert (box is None) == (now is None), part
        assert box is None or max(abs(a - b) for a, b in zip(box, now, strict=True)) < MOVED, part
