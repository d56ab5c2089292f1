"""Function transforms: alone and nested."""

import pytest

import gradviz as torch
from gradviz import func

V = torch.tensor([1.0, 2.0], dtype=torch.float64)


def cube(v):
    return (v**3).sum()


def test_gradients_nest():
    assert func.grad(cube)(V).tolist() == [3.0, 12.0]
    second = func.grad(lambda s: func.grad(lambda q: q**3)(s))
    assert second(torch.tensor(2.0)).item() == 12.0
    g, value = func.grad_and_value(cube)(V)
    assert (g.tolist(), value.item()) == ([3.0, 12.0], 9.0)


def test_results_leave_the_graph_and_inputs_stay_untouched():
    w = torch.ones(2, requires_grad=True)
    assert func.grad(lambda v: (v * w).sum())(V).tolist() == [1.0, 1.0]
    assert not V.requires_grad and w.grad is None


def test_jacobians_by_rows_and_by_columns_agree():
    for transform in (func.jacrev, func.jacfwd):
        assert transform(lambda v: v * v)(V).tolist() == [[2.0, 0.0], [0.0, 4.0]]
    assert func.hessian(cube)(V).tolist() == [[6.0, 0.0], [0.0, 12.0]]


def test_products():
    ones = torch.ones(2, dtype=torch.float64)
    out, pull = func.vjp(lambda v: v * v, V)
    assert out.tolist() == [1.0, 4.0] and pull(ones)[0].tolist() == [2.0, 4.0]
    assert func.jvp(lambda v: v * v, (V,), (ones,))[1].tolist() == [2.0, 4.0]
    assert func.linearize(lambda v: v * v, V)[1](ones).tolist() == [2.0, 4.0]


def test_vmap_over_examples_and_over_gradients():
    batch = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert func.vmap(lambda r: (r * r).sum())(batch).tolist() == [5.0, 25.0]
    assert func.vmap(func.grad(cube))(batch).tolist() == [[3.0, 12.0], [27.0, 48.0]]
    assert func.vmap(lambda r, s: r + s, in_dims=(1, None))(batch, torch.ones(2)).tolist() == [
        [2.0, 4.0],
        [3.0, 5.0],
    ]


def test_what_is_refused():
    with pytest.raises(RuntimeError, match="to return a scalar Tensor"):
        func.grad(lambda v: v)(V)
    with pytest.raises(ValueError, match="Expected at least one Tensor to vmap over"):
        func.vmap(lambda v: v, in_dims=(None,))(V)


def test_a_module_as_a_function_of_its_parameters():
    layer = torch.nn.Linear(2, 1)
    before = layer.weight
    given = {"weight": torch.ones(1, 2), "bias": torch.zeros(1)}
    assert func.functional_call(layer, given, torch.tensor([[2.0, 3.0]])).tolist() == [[5.0]]
    assert layer.weight is before
