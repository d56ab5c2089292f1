"""The exported page and the still pictures in Chromium: they work from a file, with no network."""

import pytest

from gradviz.export.html import page
from gradviz.export.picture import Picture
from gradviz.export.svg import svg
from tests.browser.axe import needs_axe, violations
from tests.browser.conftest import ROOT
from tests.traces import HOSTILE, finding, small_net

SCREENSHOTS = ROOT / "screenshots"


@pytest.fixture
def net():
    made = small_net(label=HOSTILE)
    made.set_findings([finding(node_ids=[6])])
    return made


@pytest.fixture
def visit(browser, tmp_path):
    """Open a file's content; the page, the console's errors and the addresses asked for."""
    opened = []

    def open_file(name, content, **context):
        file = tmp_path / name
        file.write_text(content, encoding="utf-8")
        made = browser.new_context(**context).new_page()
        opened.append(made)
        made.seen = {"errors": [], "requests": []}
        made.on("console", lambda m: m.type == "error" and made.seen["errors"].append(m.text))
        made.on("pageerror", lambda error: made.seen["errors"].append(str(error)))
        made.on("request", lambda request: made.seen["requests"].append(request.url))
        made.goto(file.as_uri())
        return made

    yield open_file
    for each in opened:
        each.context.close()


@pytest.mark.parametrize(("scheme", "lang"), [("light", "en"), ("dark", "zh")])
def test_the_page_is_interactive_offline(visit, net, scheme, lang):
    shown = visit("page.html", page(net.trace, lang=lang), color_scheme=scheme)
    view = shown.locator("[data-testid=gv]")
    view.locator("[data-testid=gv-count][data-total='10']").wait_for()
    view.locator("[data-node-id='6']").first.dispatch_event("click")
    assert "ReluBackward0" in view.locator("[data-testid=gv-inspector]").inner_text()
    assert view.locator("[data-testid=gv-finding]").count() == 1
    SCREENSHOTS.mkdir(exist_ok=True)
    shown.screenshot(path=SCREENSHOTS / f"page-{scheme}-{lang}.png")
    assert shown.seen["errors"] == []
    assert all(url.startswith(("file:", "data:", "blob:")) for url in shown.seen["requests"])


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("theme", ["auto", "light", "dark"])
def test_more_contrast_leaves_no_dim_text(visit, net, scheme, theme):
    wanted = {"color_scheme": scheme, "contrast": "more"}
    shown = visit("page.html", page(net.trace), **wanted)
    shown.goto(f"{shown.url}?theme={theme}")
    colour = "hint => [getComputedStyle(hint).color, getComputedStyle(hint.closest('.gv')).color]"
    hint = shown.locator(".inspector .dim").first
    hint.wait_for()
    dim, plain = hint.evaluate(colour)
    assert dim == plain


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_still_picture(visit, net, scheme):
    shown = visit("picture.svg", svg(Picture.of(net.trace)), color_scheme=scheme)
    assert shown.locator("text").count() > 10
    SCREENSHOTS.mkdir(exist_ok=True)
    shown.screenshot(path=SCREENSHOTS / f"picture-{scheme}.png")
    assert shown.seen["errors"] == []


def test_a_page_without_its_script_shows_the_picture(visit, net, monkeypatch):
    from gradviz.export import html

    monkeypatch.setattr(html, "_script", lambda: "")
    shown = visit("still.html", page(net.trace))
    assert shown.locator("#gradviz svg").count() == 1


@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [480, 1280])
def test_axe_finds_no_serious_violation(visit, net, scheme, width):
    size = {"width": width, "height": 900}
    shown = visit("page.html", page(net.trace), color_scheme=scheme, viewport=size)
    shown.locator("[data-node-id='6']").first.dispatch_event("click")
    shown.locator("[data-testid=gv-inspector] h3").wait_for()
    assert violations(shown) == []
