"""With the garbage collector off, dropping the last reference frees the graph; failures leak
nothing; threads may share graphs.
"""

import gc
import threading
import weakref

import pytest

import gradviz as torch


@pytest.fixture(autouse=True)
def no_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


class Square(torch.autograd.Function):
    """A user's function that saves its input and its output."""

    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x, y)
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * 2 * x


def chain(x):
    return (x.exp().sin() * x).sigmoid()


def in_place(x):
    h = x * 2
    h[0] = 1.0
    h.view(-1).mul_(x)
    return h.tanh_()


def views(x):
    a, b = (x * 2).split(1)
    return a * b.sum()


def function(x):
    return Square.apply(x * 2)


def packed(x):
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        return x.exp() * x


def function_in_place(x):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.mark_dirty(a)
            return a.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Double.apply((x * 1)[:1])


MAKERS = [chain, in_place, views, function, packed, function_in_place]


def dies(make):
    """Whether the node of what ``make`` gives is gone with it."""
    x = torch.ones(2, requires_grad=True)
    y = make(x)
    node, result = weakref.ref(y.grad_fn), weakref.ref(y)
    del y
    return node() is None and result() is None


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_a_graph_that_never_ran(make):
    assert dies(make)


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_a_graph_that_ran(make):
    def ran(x):
        y = make(x)
        y.sum().backward()
        return y

    assert dies(ran)


@pytest.mark.parametrize("make", MAKERS, ids=lambda f: f.__name__)
def test_a_graph_with_hooks_and_retained_gradients(make):
    def hooked(x):
        y = make(x)
        y.retain_grad()
        y.register_hook(lambda g: g * 2)
        y.grad_fn.register_hook(lambda given, out: None)
        y.grad_fn.register_prehook(lambda out: None)
        y.sum().backward(retain_graph=True)
        return y

    assert dies(hooked)


def test_a_sweep_that_fails():
    kept = []

    def fails(g):
        raise ValueError("stop")

    def make(x):
        h = x.exp()
        h.register_hook(fails)
        kept.append(weakref.ref(h))
        y = (h * h).sum()
        with pytest.raises(ValueError, match="stop"):
            y.backward()
        return y

    assert dies(make)
    assert kept[0]() is None


def test_an_interrupted_sweep_can_be_repeated():
    x = torch.ones(2, requires_grad=True)
    h = x * 2

    def stop(g):
        raise KeyboardInterrupt

    with h.register_hook(stop), pytest.raises(KeyboardInterrupt):
        (h * 3).sum().backward(retain_graph=True)
    assert x.grad is None and torch.is_grad_enabled()
    (h * 3).sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_saved_tensors_go_node_by_node():
    x = torch.ones(2, requires_grad=True)
    h = x.exp()
    alive = weakref.ref(h.detach()._a)
    y = h.sin().sum()
    arrays = []
    x.register_hook(lambda g: arrays.append(alive()))
    del h
    y.backward()
    assert arrays == [None]


def test_threads_that_share_a_leaf_and_a_subgraph():
    x = torch.ones(64, requires_grad=True)
    shared = (x * 2).exp().log()
    failures = []

    def work(k):
        try:
            for _ in range(50):
                (shared * k).sum().backward(retain_graph=True)
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in (1, 2, 3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures
    assert torch.allclose(x.grad, torch.full((64,), 2.0 * 50 * 6))


def test_modes_of_threads_are_their_own():
    inside, outside = threading.Event(), threading.Event()
    seen = []

    def work():
        with torch.no_grad():
            inside.set()
            outside.wait(10)
            seen.append(torch.is_grad_enabled())

    thread = threading.Thread(target=work)
    thread.start()
    inside.wait(10)
    x = torch.ones(2, requires_grad=True)
    seen.append((x * 2).requires_grad)
    outside.set()
    thread.join()
    assert seen == [True, False]
    assert torch.is_grad_enabled()
