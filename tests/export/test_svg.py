"""The still picture: valid, inert, complete, and honest about what it leaves out."""

import base64
import re
import xml.etree.ElementTree as ET

import pytest

from gradviz import texts
from gradviz.export.picture import Picture
from gradviz.export.svg import svg
from gradviz.export.text import summary
from gradviz.export.words import figure
from gradviz.watch.model import LEAF, Detail, Saved, Stats
from gradviz.watch.recorder import Recorder
from tests.traces import HOSTILE, chain, node, put_all, small_net

SVG = "{http://www.w3.org/2000/svg}"


def drawn(recorder, target=None):
    return ET.fromstring(svg(Picture.of(recorder.trace, target)))


def shown_texts(tree):
    return ["".join(t.itertext()) for t in tree.iter(f"{SVG}text")]


def test_every_kind_has_its_shape():
    tree = drawn(small_net())
    kinds = [
        r.get("class").split()[1]
        for r in tree.iter(f"{SVG}rect")
        if r.get("class", "").startswith("b ")
    ]
    assert {k: kinds.count(k) for k in set(kinds)} == {
        "leaf": 4,
        "operation": 5,
        "root": 2,
        "untracked": 3,
    }
    corner = {
        r.get("class"): float(r.get("rx"))
        for r in tree.iter(f"{SVG}rect")
        if r.get("width", "").count(".")
    }
    assert corner["b operation"] > corner["b leaf"]


def test_names_ops_shapes_and_gradients_are_written():
    said = " ".join(shown_texts(drawn(small_net())))
    for part in (
        "fc1.weight",
        "h ReluBackward0",
        "64×256 float32",
        "‖∂‖ 1.94",
        "loss",
        "kept alive",
        "saved",
    ):
        assert part in said


def test_a_scalar_shows_its_value():
    net = small_net()
    net.put_detail(Detail(10, value=Stats((), "float32", values=0.41234567)))
    net.put_detail(Detail(6, value=Stats((2,), "float32", values=[1.0, 2.0])))
    assert "= 0.412 float32 · ‖∂‖ 1" in shown_texts(drawn(net))
    assert "= 0.412 float32" in summary(Picture.of(net.trace))


@pytest.mark.parametrize("norm", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_is_written(norm):
    net = small_net()
    net.trace.nodes[10].grad_norm = norm
    said = " ".join(shown_texts(drawn(net)))
    assert ("grad NaN" if norm != norm else "grad ∞") in said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0"), (7, "7"), (-3.0, "−3"), (1.117, "1.12"), (123.456, "123.46"),
        (1.234e-5, "1.23e-5"), (-2.5e-10, "−2.50e-10"), (1e5, "1.00e5"), (1.5e12, "1.50e12"),
        (99_999.9, "100000"),
        (float("-inf"), "−∞"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_in_the_live_view(value, said):
    assert figure(value) == said


def test_changes_in_place_are_written_as_in_the_live_view():
    recorder = Recorder()
    saved = Saved("self", (2,), "float32", 8, version_saved=0, version_now=2)
    nodes = [
        node(1, LEAF, label="x"),
        node(2, op="MulBackward0", label="y", version=2, inplace=True),
        node(3, op="SinBackward0", label="z", saved=[saved]),
        node(4, op="ExpBackward0", failed=True),
    ]
    picture = svg(Picture.of(put_all(recorder, nodes, [(1, 2), (2, 3), (3, 4)]).trace))
    assert "2 float32 · v2 · in place" in picture and "2 float32 · changed since saved" in picture
    framed = picture.count("operation bad") + picture.count("failed bad")
    assert framed == picture.count('class="badge fault"') == 2
    saved.version_now = 0
    nodes[3].failed = False
    assert " bad" not in svg(Picture.of(recorder.trace))


def test_gradients_only_where_they_flowed():
    paths = [p.get("class") for p in drawn(small_net()).iter(f"{SVG}path")]
    assert paths.count("g") == 6 + 1  # and the sample in the legend
    assert "freed" in "".join(shown_texts(drawn(small_net())))


def test_boxes_do_not_overlap_and_edges_go_down():
    picture = Picture.of(small_net().trace)
    for a in picture.boxes:
        for b in picture.boxes:
            if a is not b and a.y == b.y:
                assert abs(a.x - b.x) >= (a.width + b.width) / 2
    for line in picture.lines:
        assert line.points[0][1] < line.points[-1][1]


def test_hostile_text_is_inert():
    tree = drawn(small_net(label=HOSTILE))
    assert not [e for e in tree.iter() if e.tag.split("}")[1] in ("script", "img", "foreignObject")]
    assert any('"><script>' in text for text in shown_texts(tree))
    assert not re.search(
        r"\son\w+=", ET.tostring(tree, encoding="unicode").replace("onerror=alert", "")
    )


def test_a_deep_graph_is_cut_and_says_so():
    tree = drawn(chain(20_000))
    assert any("48 of 20001 nodes shown" in text for text in shown_texts(tree))


@pytest.mark.parametrize("recorder", [Recorder(), put_all(Recorder(), [node(1)], [])])
def test_empty_and_single(recorder):
    assert drawn(recorder).tag == f"{SVG}svg"


def test_an_empty_picture_says_so():
    assert shown_texts(drawn(Recorder())) == ["No operation has been recorded yet"]


def test_a_leaf_used_far_apart_is_drawn_per_use():
    recorder = chain(12)
    for target in (5, 12):
        recorder.put_edge(type(next(iter(recorder.trace.edges.values())))(1, target, 1))
    picture = Picture.of(recorder.trace)
    assert sum(box.node.id == 1 for box in picture.boxes) == 3
    assert picture.shown == 13


def test_the_graph_of_one_node():
    picture = Picture.of(small_net().trace, target=5)
    assert sorted(box.node.id for box in picture.boxes) == [1, 2, 3, 4, 5]


def test_chinese(monkeypatch):
    texts.set_language("zh")
    try:
        said = shown_texts(drawn(small_net()))
    finally:
        texts.set_language(None)
    assert "仍存活" in said and "叶子" in said


def test_it_survives_a_round_through_base64():
    data = svg(Picture.of(small_net(label=HOSTILE).trace)).encode("utf-8")
    assert ET.fromstring(base64.b64decode(base64.b64encode(data)))
