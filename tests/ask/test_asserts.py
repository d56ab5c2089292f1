"""Assertions for tests: they pass, and fail with words."""

import pytest

import gradviz
import gradviz as torch


def test_a_leak_fails_with_its_words():
    w, history = torch.ones(3, requires_grad=True), []
    with gradviz.watching() as watch:
        for _ in range(3):
            loss = (w * w).sum()
            loss.backward()
            history.append(loss)
        with pytest.raises(AssertionError, match=r"history holds 3 tensors"):
            gradviz.assert_no_leak()
        history.clear()
        gradviz.assert_no_leak()
        assert watch.file_of(1) == __file__


def test_without_a_watcher_there_is_no_verdict():
    with pytest.raises(RuntimeError, match="watching"):
        gradviz.assert_no_leak()


def test_two_watchers_are_one_too_many():
    told = pytest.raises(RuntimeError, match="leave watching.. out")
    with gradviz.watching(), told, gradviz.watching():
        pass
    with gradviz.watching():
        pass


def test_gradients_flow_or_do_not():
    w = torch.ones(3, requires_grad=True)
    h = w * 2
    gradviz.assert_grad_flows(w, (h + 1).sum())
    gradviz.assert_grad_flows(h, h.sum())
    with pytest.raises(AssertionError, match="not computed from"):
        gradviz.assert_grad_flows(w, (h.detach() * torch.ones(3, requires_grad=True)).sum())
    with pytest.raises(AssertionError, match="no graph"):
        gradviz.assert_grad_flows(w, h.detach())
    with pytest.raises(AssertionError, match="does not require grad"):
        gradviz.assert_grad_flows(torch.ones(1), h)
    with pytest.raises(TypeError):
        gradviz.assert_grad_flows(w, 3)


def test_the_size_of_a_graph():
    w = torch.ones(3, requires_grad=True)
    y = (w * 2).sum()
    gradviz.assert_graph_size_below(3, y)
    gradviz.assert_graph_size_below(3)
    with pytest.raises(AssertionError, match="2 operations"):
        gradviz.assert_graph_size_below(2, y)
    with pytest.raises(AssertionError):
        gradviz.assert_graph_size_below(1)
