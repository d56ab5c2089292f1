"""Which nodes belong to the picture of one tensor."""

from gradviz.notebook.scope import Scope
from gradviz.watch.model import LEAF, Edge
from tests.traces import chain, node, small_net


def absorb(scope, recorder):
    return scope.absorb(list(recorder.trace.nodes.values()), list(recorder.trace.edges.values()))


def test_what_it_was_computed_from_and_what_grew_out_of_it():
    nodes, edges = absorb(Scope(6), small_net())
    assert [n.id for n in nodes] == list(range(1, 11))
    assert all(e.source in {n.id for n in nodes} for e in edges)


def test_another_graph_that_shares_a_leaf_stays_out():
    net = small_net()
    net.put(node(20, op="MulBackward0"))
    net.put_edge(Edge(2, 20, 0))
    nodes, edges = absorb(Scope(10), net)
    assert 20 not in {n.id for n in nodes}
    assert all(e.target != 20 for e in edges)


def test_what_grows_out_of_it_joins_with_its_inputs():
    scope = Scope(10)
    absorb(scope, small_net())
    nodes, edges = scope.absorb([node(11, LEAF, label="c")], [])
    assert nodes == []
    nodes, edges = scope.absorb([node(12, op="MulBackward0")], [Edge(10, 12, 0), Edge(11, 12, 1)])
    assert {n.id for n in nodes} == {11, 12}
    assert {(e.source, e.target) for e in edges} == {(10, 12), (11, 12)}


def test_no_more_than_the_limit_join():
    nodes, edges = absorb(Scope(2_001, limit=100), chain(2_000))
    assert len(nodes) == 100
    assert all(e.source in {n.id for n in nodes} for e in edges)


def test_rows_outside_are_forgotten_when_they_are_many():
    scope = Scope(10, limit=20)
    absorb(scope, small_net())
    scope.absorb([node(i, op="MulBackward0") for i in range(100, 200)], [])
    assert len(scope._nodes) == 10


def test_a_long_chain_needs_no_recursion():
    nodes, edges = absorb(Scope(20_001, 30_000), chain(20_000))
    assert len(nodes) == 20_001 and len(edges) == 20_000


def test_a_target_that_is_not_there_yet():
    scope = Scope(12)
    assert absorb(scope, small_net()) == ([], [])
    nodes, _ = scope.absorb([node(12, op="MulBackward0")], [Edge(10, 12, 0)])
    assert len(nodes) == 11
