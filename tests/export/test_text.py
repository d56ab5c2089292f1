"""The graph as text, the words around findings, plain JSON values."""

import json

import pytest

from gradviz import texts
from gradviz.export import words
from gradviz.export.picture import Picture
from gradviz.export.text import summary
from gradviz.watch.plain import dumps
from gradviz.watch.recorder import Recorder
from tests.traces import HOSTILE, chain, finding, small_net


def test_a_line_a_node():
    lines = summary(Picture.of(small_net().trace)).splitlines()
    assert lines[0] == "gradviz: 10 nodes, 5 leaves"
    assert len(lines) == 11
    assert lines[-1].split() == "loss = NllLossBackward0(%3, target) () float32 grad norm 1".split()


def test_deep_graphs_and_none():
    assert "48 of 3001 nodes shown" in summary(Picture.of(chain(3000).trace))
    assert summary(Picture.of(Recorder().trace)) == "No operation has been recorded yet"


def test_control_letters_do_not_reach_the_terminal():
    said = summary(Picture.of(small_net(label="\x1b[31mred\x07").trace))
    assert "\x1b" not in said and "\x07" not in said


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (1234, "1.2 kB"),
        (820_000, "820 kB"),
        (999_600, "1 MB"),
        (5 * 10**15, "5000 TB"),
    ],
)
def test_sizes(count, said):
    assert words.size(count) == said


def test_places_and_findings_in_both_languages():
    assert words.place(3, 8) == "In [3], line 8"
    assert words.place(None, 8, "train.py") == "train.py:8"
    assert words.place(None, None) == "place not known"
    said = words.paragraph(finding(), lang="zh")
    assert "In [3] 第 8 行" in said and "history[0]" in said and "820 kB" in said


def test_plain_values_are_json():
    value = {"a": float("nan"), 1: [float("-inf"), (1, 2)], "h": HOSTILE, "f": finding()}
    back = json.loads(dumps(value))
    assert back["a"] == "NaN" and back["1"] == ["-Infinity", [1, 2]]
    assert back["f"]["rule"] == "GV101" and "\ud800" not in back["h"]


def test_language_of_this_process():
    texts.set_language("zh")
    try:
        assert words.message(finding()).startswith("`history`")
    finally:
        texts.set_language(None)


def test_many_holders_are_counted():
    many = finding(holders=[f"kept[{i}]" for i in range(9)])
    assert words.held_by(many) == "kept[0], kept[1] and 7 more"
    assert words.held_by(finding()) == "history[0]"
