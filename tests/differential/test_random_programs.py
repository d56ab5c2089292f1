"""Random programs of views, in-place operations, hooks, modes and backwards: no difference."""

import pytest

import gradviz
from tests.differential import random_programs

torch = pytest.importorskip(
    "torch", reason="PyTorch is not installed: there is nothing to compare with"
)


@pytest.mark.parametrize("first", range(20_000, 20_400, 50))
def test_programs(first):
    torch.set_num_threads(1)
    for seed in range(first, first + 50):
        statements, with_graph = random_programs.build(torch, seed)
        found = random_programs.compare(torch, gradviz, statements, with_graph)
        assert not found, "\n".join((f"seed {seed}", *statements, *found[:6]))


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
