"""Graphviz's language: names are data there too."""

from gradviz.export.dot import dot
from tests.traces import HOSTILE, chain, small_net


def test_nodes_and_edges():
    source = dot(small_net().trace).source
    assert 'n6 [label="h ReluBackward0 64×256 float32"' in source
    assert "n5 -> n6" in source and source.count("->") == 9


def test_hostile_names_stay_inside_their_quotes():
    for name in (HOSTILE, '"; evil [label=x]; "', "<b>html</b>", "back\\", "\\N \\G"):
        source = dot(small_net(label=name).trace).source
        line = next(line for line in source.splitlines() if line.strip().startswith("n1 "))
        assert line.count("evil") <= 1 and "n1 [label=<" not in line
        assert line.rstrip().endswith("]")


def test_a_deep_graph_is_cut():
    source = dot(chain(5000).trace, limit=100).source
    assert source.count("MulBackward0") == 100 and 'label="100 / 5001"' in source
