"""The binary frames, read back as docs/protocol.md describes them."""

import math

from gradviz.watch.model import Edge, Place, Saved
from gradviz.widgets.frames import Encoder, flags, shape_text
from tests.pages import Page, read_edges, read_nodes
from tests.traces import HOSTILE, node, small_net


def test_a_node_is_read_back():
    net = small_net().trace
    strings, buffers = Encoder().encode(net.nodes.values(), net.edges.values())
    table = strings
    rows = {row["id"]: row for row in read_nodes(buffers[0], buffers[1], table)}
    h = rows[6]
    assert (h["kind"], h["op"], h["label"], h["shape"]) == (2, "ReluBackward0", "h", "64×256")
    assert (h["dtype"], h["device"], h["cell"], h["line"], h["code"]) == (
        "float32",
        "cpu",
        3,
        6,
        "line 6",
    )
    assert (h["bytes"], h["grad_norm"]) == (8.0, 1.94)
    assert (rows[3]["saved"], rows[3]["saved_alive"]) == (2, 1)
    assert math.isnan(rows[1]["grad_norm"])
    assert rows[9]["op"] == "detach"


def test_edges_are_read_back():
    edges = [Edge(1, 3, 0, 0, 0.5), Edge(2, 3, 1, 0, None, "detach")]
    strings, buffers = Encoder().encode([], edges)
    first, second = read_edges(buffers[2], buffers[3], strings)
    assert (first["source"], first["target"], first["slot"], first["grad_norm"]) == (1, 3, 0, 0.5)
    assert second["cut"] == "detach" and math.isnan(second["grad_norm"])


def test_strings_are_sent_once():
    encoder = Encoder()
    first, _ = encoder.encode([node(1, op="MulBackward0")], [])
    again, _ = encoder.encode([node(2, op="MulBackward0", place=Place(3, 1, code="line 1"))], [])
    assert first[0] == "" and "MulBackward0" in first
    assert again == []
    encoder.restart()
    assert encoder.encode([], [])[0] == [""]


def test_what_utf8_cannot_carry_is_replaced():
    strings, _ = Encoder().encode([node(1, label=HOSTILE)], [])
    assert "".join(strings).encode("utf-8")
    assert any("<script>" in text for text in strings)


def test_flags():
    assert flags(node(1, alive=True)) == 16
    assert (
        flags(node(1, alive=False, requires_grad=True, grad_norm=math.nan, cut="detach"))
        == 1 | 64 | 256 | 512
    )
    assert (
        flags(node(1, freed=True, findings=["GV101"], root=True, retains_grad=True))
        == 4 | 8 | 16 | 32 | 128
    )


def test_shapes_as_text():
    assert shape_text(()) == "()"
    assert shape_text((64, 256)) == "64×256"


def test_a_page_that_follows_the_frames_sees_the_trace():
    page = Page()
    net = small_net()
    strings, buffers = Encoder().encode(net.trace.nodes.values(), net.trace.edges.values())
    page.hear({"t": "frame", "seq": 0, "base": -1, "strings": strings, "removed": []}, buffers)
    assert set(page.nodes) == set(net.trace.nodes)
    assert len(page.edges) == len(net.trace.edges)


def test_what_was_saved_and_changed_since_is_flagged():
    saved = [Saved("self", (2,), version_saved=0, version_now=1)]
    assert flags(node(1, saved=saved, inplace=True)) == 16 | 1024 | 2048
    freed = [Saved("self", (2,), version_saved=0, version_now=1, state="freed")]
    assert flags(node(1, saved=freed)) == 16
