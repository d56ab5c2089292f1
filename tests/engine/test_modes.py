"""Grad mode, inference mode, saved-tensor hooks, hooks on tensors and nodes, the observer door."""

import pytest

import gradviz as torch
from gradviz.engine import events


def test_no_grad_nests_and_restores():
    assert torch.is_grad_enabled()
    with torch.no_grad():
        assert not torch.is_grad_enabled()
        with torch.enable_grad():
            assert (torch.ones(1, requires_grad=True) * 2).requires_grad
        assert not (torch.ones(1, requires_grad=True) * 2).requires_grad
    with pytest.raises(ValueError), torch.no_grad():
        raise ValueError
    assert torch.is_grad_enabled()


def test_modes_decorate_functions_and_generators():
    @torch.no_grad()
    def double(x):
        return x * 2

    @torch.no_grad()
    def numbers(x):
        yield x * 2
        yield torch.is_grad_enabled()

    x = torch.ones(1, requires_grad=True)
    assert not double(x).requires_grad
    produced = numbers(x)
    assert not next(produced).requires_grad and torch.is_grad_enabled()
    assert next(produced) is False


def test_set_grad_enabled_works_as_a_call_and_as_a_block():
    torch.set_grad_enabled(False)
    try:
        assert not torch.is_grad_enabled()
    finally:
        torch.set_grad_enabled(True)
    with torch.set_grad_enabled(False):
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_inference_tensors_refuse_what_they_cannot_do():
    w = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        y = torch.ones(2) * 2
    assert y.is_inference() and not y.requires_grad
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        _ = y * w
    with pytest.raises(
        RuntimeError, match="Inplace update to inference tensor outside InferenceMode"
    ):
        y.add_(1)
    with pytest.raises(RuntimeError, match="Setting requires_grad=True on inference tensor"):
        y.requires_grad_()
    assert (y + w).requires_grad
    assert (y.clone() * w).requires_grad


def test_saved_tensor_hooks_pack_and_unpack():
    packed, unpacked = [], []

    def pack(t):
        packed.append(t)
        return t.tolist()

    def unpack(values):
        unpacked.append(values)
        return torch.tensor(values)

    x = torch.tensor([2.0, 3.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = (x * x).sum()
    y.backward()
    assert len(packed) == 2 and len(unpacked) == 2
    assert x.grad.tolist() == [4.0, 6.0]


def test_tensor_hooks_replace_in_order_and_can_be_removed():
    x = torch.tensor([1.0], requires_grad=True)
    x.register_hook(lambda g: g * 2)
    handle = x.register_hook(lambda g: g + 1)
    (x * 1).sum().backward()
    assert x.grad.tolist() == [3.0]
    handle.remove()
    x.grad = None
    (x * 1).sum().backward()
    assert x.grad.tolist() == [2.0]


def test_node_hooks_see_both_sides():
    x = torch.tensor([1.0], requires_grad=True)
    y = x * 3
    seen = []
    y.grad_fn.register_prehook(lambda outs: seen.append(("pre", outs[0].item())))
    y.grad_fn.register_hook(lambda ins, outs: seen.append(("post", ins[0].item(), outs[0].item())))
    y.sum().backward()
    assert seen == [("pre", 1.0), ("post", 3.0, 1.0)]


def test_post_accumulate_hooks_run_after_the_sum():
    x = torch.tensor([1.0], requires_grad=True)
    seen = []
    x.register_post_accumulate_grad_hook(lambda t: seen.append(t.grad.item()))
    (x * 2 + x * 3).sum().backward()
    assert seen == [5.0]
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


class Notes(events.Observer):
    """Writes down what it is told."""

    def __init__(self):
        self.seen = []

    def operation(self, output, inputs):
        self.seen.append(("operation", type(events.node_of(output)).__name__))

    def backward_started(self, sweep):
        self.seen.append(("started",))

    def node_entered(self, sweep, node, grads):
        self.seen.append(("entered", type(node).__name__))

    def accumulated(self, sweep, leaf, grad):
        self.seen.append(("accumulated", tuple(leaf.shape)))

    def backward_finished(self, sweep):
        self.seen.append(("finished",))

    def backward_failed(self, sweep, error):
        self.seen.append(("failed", type(error).__name__))

    def cut(self, source, result, how):
        self.seen.append(("cut", how))

    def version_bumped(self, tensor):
        self.seen.append(("bumped",))


def test_the_door_tells_everything_in_order():
    notes = Notes()
    x = torch.ones(2, requires_grad=True)
    events.attach(notes)
    try:
        y = (x * 2).sum()
        y.backward()
        with pytest.raises(RuntimeError):
            y.backward()
        y.detach()
        with torch.no_grad():
            x.add_(1)
            _ = x * 2
    finally:
        events.detach(notes)
    _ = x * 3
    assert notes.seen == [
        ("operation", "MulBackward0"),
        ("operation", "SumBackward0"),
        ("started",),
        ("entered", "SumBackward0"),
        ("entered", "MulBackward0"),
        ("accumulated", (2,)),
        ("finished",),
        ("started",),
        ("entered", "SumBackward0"),
        ("entered", "MulBackward0"),
        ("failed", "RuntimeError"),
        ("cut", "detach"),
        ("bumped",),
        ("cut", "no_grad"),
    ]


def test_only_one_observer_at_a_time():
    first, second = Notes(), Notes()
    events.attach(first)
    try:
        with pytest.raises(RuntimeError, match="another observer"):
            events.attach(second)
    finally:
        events.detach(first)


def test_watching_does_not_change_the_numbers():
    def program():
        x = torch.tensor([0.3, -0.7], requires_grad=True)
        h = (x * 3).tanh()
        h.retain_grad()
        (h * h).sum().backward()
        return x.grad.tolist(), h.grad.tolist()

    alone = program()
    notes = Notes()
    events.attach(notes)
    try:
        assert program() == alone
    finally:
        events.detach(notes)


def test_reading_for_observers_has_no_side_effect():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    v = h[0]
    h.mul_(2)
    assert events.edge(v) is None
    y = (h * x).sum()
    node = y.grad_fn.next_functions[0][0]
    assert [name for name, *_ in events.saved(node)] == ["self", "other"]
    assert events.formula(node)
    assert events.output_meta(node) == (((2,), "float32"),)
    y.backward()
    assert all(freed for *_, freed in events.saved(node))
