"""The heat map of a large tensor."""

import math
from xml.etree import ElementTree

import pytest

from gradviz.export.tensor import tensor_html
from gradviz.watch.model import Stats

ROWS = [[1.0, -0.5, None], [0.0, math.inf, -1.0]]


def made(printed="tensor([...])", **more):
    return tensor_html(Stats((60, 90), "float32", -1.0, 0.25, 1.0, 9.0, heat=ROWS, **more), printed)


def test_every_cell_has_the_colour_of_its_value():
    root = ElementTree.fromstring(made())
    paths = {p.get("class"): p.get("d") for p in root.iter("path")}
    assert paths == {
        "p10": "M0 0h1v1h-1zM1 1h1v1h-1z",
        "n5": "M1 0h1v1h-1z",
        "x": "M2 0h1v1h-1z",
        "z": "M0 1h1v1h-1z",
        "n10": "M2 1h1v1h-1z",
    }


@pytest.mark.parametrize(
    ("lang", "words"), [("en", ("min", "7 NaN")), ("zh", ("最小", "7 个 NaN"))]
)
def test_the_summary_is_in_the_language(lang, words, monkeypatch):
    monkeypatch.setenv("GRADVIZ_LANG", lang)
    page = made(nan=7)
    assert all(word in page for word in (*words, "60 × 90", "float32"))


def test_texts_are_data():
    hostile = "</pre><script>alert(1)</script>\ud800"
    page = tensor_html(Stats((2, 2), hostile, heat=ROWS), hostile)
    root = ElementTree.fromstring(page)
    assert not list(root.iter("script"))
    assert root.find("pre").text.startswith("</pre><script>")


def test_it_is_light_or_dark_as_the_notebook_is():
    page = made()
    assert "prefers-color-scheme:dark" in page
    for mark in ("[data-jp-theme-light=false]", "[data-jp-theme-light=true]", "vscode-dark"):
        assert mark in page


def test_a_screen_reader_is_told_the_figures():
    (picture,) = ElementTree.fromstring(made()).iter("svg")
    assert "60 × 90 float32" in picture.get("aria-label") and "0.25" in picture.get("aria-label")
