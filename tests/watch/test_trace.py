"""A trace goes to JSON and back."""

import json

import pytest

from gradviz.watch.model import Cell, Detail, Edge, Finding, Hook, Node, Place, Saved, Stats
from gradviz.watch.trace import Trace, load


def trace():
    place = Place(2, 3, function="f", code="y = <b>x</b>")
    node = Node(2, "operation", "MulBackward0", "y", (2, 3), "float32", place=place, calls=[place])
    node.saved = [Saved("self", (2, 3), "float32", 24, 1, 2, "alive", "x")]
    node.hooks = [Hook("tensor", "<lambda>", place)]
    found = Trace(nodes={1: Node(1, "leaf"), 2: node}, edges={(2, 0): Edge(1, 2, grad_norm=0.5)})
    found.cells = [Cell(2, "id", "y = x", 1.5, 2.5, "", 1, {"saved": 24})]
    found.details = {
        2: Detail(
            2, Stats((2,), "float32", mean=1.0, values=[1.0, 1.0]), None, "none_nonleaf", ["y"]
        )
    }
    found.findings = [
        Finding(
            "GV101",
            "leak.container",
            "warning",
            ["h[0]"],
            2,
            3,
            4,
            5,
            {"en": "a", "zh": "b"},
            {"en": "c", "zh": "d"},
        )
    ]
    found.total = 7
    return found


def test_round_trip():
    found = load(json.loads(json.dumps(trace().to_json())))
    assert found == trace()


def test_not_a_number_is_valid_json():
    found = trace()
    found.details[2].value.mean = float("nan")
    text = json.dumps(found.to_json(), allow_nan=False)
    assert (
        load(json.loads(text)).details[2].value.mean != load(json.loads(text)).details[2].value.mean
    )


def test_status():
    status = trace().status()
    assert status["shown"] == 2 and status["total"] == 7 and status["cell"] == 2
    assert status["cells"] == [{"count": 2, "bytes": {"saved": 24}}]


def test_another_schema_is_refused():
    with pytest.raises(ValueError, match="schema"):
        load({"schema": 99})
