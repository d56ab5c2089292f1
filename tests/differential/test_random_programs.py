"""Random programs of views, in-place operations, hooks, modes and backwards: no difference."""

import pytest

import gradviz
from gradviz.engine import backward
from gradviz.engine.backward import Sweep
from gradviz.engine.modes import state
from tests.differential import random_programs

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)


@pytest.mark.parametrize("first", range(20_000, 20_400, 50))
def test_programs(first, monkeypatch):
    torch.set_num_threads(1)
    for seed in range(first, first + 50):
        monkeypatch.setattr(state, "onlookers", False)  # as in a process of its own
        statements, with_graph = random_programs.build(torch, seed)
        found = random_programs.compare(torch, gradviz, statements, with_graph)
        assert not found, "\n".join((f"seed {seed}", *statements, *found[:6]))


def test_every_edge_leads_to_an_older_node(monkeypatch):
    """What sweeps rely on: the youngest node that waits has got everything."""
    begun = []

    class Checked(Sweep):
        def __init__(self, roots, *rest):
            begun.append(roots)
            stack = [edge for edge, _ in roots]
            known = set()
            while stack:
                node = stack.pop()
                node = node.node if node._kind == 1 else node
                if node._kind == 0 and node not in known:
                    known.add(node)
                    inputs = [x.node if x._kind == 1 else x for x in node.e if x is not None]
                    inputs = [x for x in inputs if x._kind == 0]
                    assert all(x.seq < node.seq for x in inputs)
                    stack += inputs
            super().__init__(roots, *rest)

    monkeypatch.setattr(backward, "Sweep", Checked)
    for seed in range(30_000, 30_200):
        random_programs.build(gradviz, seed)
    assert len(begun) > 200


def test_a_difference_is_found_and_shrunk():
    class Odd:
        """gradviz with another sine."""

        def __getattr__(self, name):
            return getattr(gradviz, name)

    odd = Odd()
    odd.ones_like = lambda t: gradviz.ones_like(t) * 2
    statements = [
        "x = torch.ones(2, requires_grad=True)",
        "y = x * 1",
        "z = y * 3",
        "z.backward(torch.ones_like(z))",
    ]
    assert random_programs.compare(torch, odd, statements)
    assert random_programs.shrink(torch, odd, [*statements, "w = x + 1"]) == statements
