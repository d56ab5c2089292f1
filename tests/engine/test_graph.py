"""The graph that operations record: nodes, edges, identity, lifetime."""

import gc
import sys
import weakref

import pytest

import gradviz as torch


def names(fn):
    """Class names of the graph behind ``fn``, breadth first, each node once."""
    found, todo = [], [fn]
    while todo:
        node = todo.pop(0)
        if node is None or any(node is x for x in found):
            continue
        found.append(node)
        todo.extend(parent for parent, _ in node.next_functions)
    return [type(node).__name__ for node in found]


def test_names_and_edges_of_a_small_graph():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = ((x * x) + 1).sum()
    assert names(y.grad_fn) == ["SumBackward0", "AddBackward0", "MulBackward0", "AccumulateGrad"]
    assert y.grad_fn.next_functions[0][1] == 0
    assert y.grad_fn.next_functions[0][0].next_functions[1] == (None, 0)


def test_identity_of_nodes_and_accumulators():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert y.grad_fn is y.grad_fn
    first = y.grad_fn.next_functions[0][0]
    assert first is (x + 1).grad_fn.next_functions[0][0]
    assert first.variable is x


def test_untracked_results_are_leaves():
    x = torch.ones(2)
    assert (x * 2).is_leaf and (x * 2).grad_fn is None
    assert not (torch.ones(2, requires_grad=True) * 2).is_leaf


def test_results_that_have_no_derivative_are_untracked():
    x = torch.tensor([1.0, 3.0, 2.0], requires_grad=True)
    assert not (x > 1).requires_grad
    assert not x.argmax().requires_grad
    assert not x.long().requires_grad


def test_multi_output_nodes_have_output_numbers():
    x = torch.tensor([0.0, 1.0, 2.0, 3.0], requires_grad=True)
    a, b = x.split(2)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    assert (b * 1).grad_fn.next_functions[0] == (b.grad_fn, 1)


def test_the_graph_is_freed_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = torch.ones(3, requires_grad=True)
        h = (x * 2).exp()
        loss = (h.tanh() + h).sum()
        nodes = [weakref.ref(loss.grad_fn), weakref.ref(h.grad_fn)]
        loss.backward()
        del h, loss
        assert [ref() for ref in nodes] == [None, None]
    finally:
        gc.enable()


@pytest.mark.parametrize("length", [200_000])
def test_long_chains_need_no_recursion(length):
    x = torch.ones(1, requires_grad=True)
    y = x
    for _ in range(length):
        y = y + 1
    assert sys.getrecursionlimit() < length
    y.backward(torch.ones(1))
    assert x.grad.tolist() == [1.0]
    del y


def test_metadata_belongs_to_the_node():
    x = torch.ones(2, requires_grad=True)
    y = x * 3
    y.grad_fn.metadata["note"] = 5
    assert y.grad_fn.metadata == {"note": 5}


def test_attribute_errors_read_as_pythons():
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'nothing'"):
        _ = torch.ones(1).nothing
    with pytest.raises(AttributeError, match="has no attribute '_saved_nothing'"):
        _ = (torch.ones(1, requires_grad=True) * 2).grad_fn._saved_nothing
