"""Views, in-place operations, version counters, rebased history."""

import pytest

import gradviz as torch

MODIFIED = "has been modified by an inplace operation"


def leaf(*values):
    return torch.tensor(list(values), requires_grad=True)


def test_views_share_storage_and_version():
    x = torch.zeros(4)
    v = x.view(2, 2)[0]
    v += 1
    assert x.tolist() == [1.0, 1.0, 0.0, 0.0]
    assert x._version == v._version == 1
    assert v._is_view() and v._base is x
    assert not x.detach()._is_view()


def test_detach_shares_the_version_and_data_does_not():
    x = torch.zeros(2)
    x.detach().add_(1)
    assert x._version == 1
    x.data.add_(1)
    assert x._version == 1 and x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (
            lambda x: x.add_(1),
            "a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        (
            lambda x: x[0].mul_(2),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        (
            lambda x: x.__setitem__(0, 5.0),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        (
            lambda x: (x * 1).unbind()[0].mul_(2),
            "is the output of a function that returns multiple views",
        ),
        (lambda x: (x * 1).expand(2, 2).add_(1), "more than one element of the written-to tensor"),
        (
            lambda x: torch.zeros(2, dtype=torch.int64).add_(1.5),
            "result type Float can't be cast to the desired output type Long",
        ),
    ],
)
def test_what_is_forbidden(act, message):
    with pytest.raises(RuntimeError, match=message):
        act(leaf(1.0, 2.0))


def test_a_view_from_no_grad_may_not_be_modified_with_recording_on():
    h = leaf(1.0, 2.0) * 1
    with torch.no_grad():
        v = h[:1]
    assert v.requires_grad and v.is_leaf and v.grad_fn is None
    with pytest.raises(
        RuntimeError, match="A view was created in no_grad mode and is being modified inplace"
    ):
        v.mul_(2)


def test_modifying_a_saved_tensor_is_noticed():
    x = leaf(1.0, 2.0)
    h = x.exp()
    y = h.sum()
    h.add_(1)
    with pytest.raises(RuntimeError, match=MODIFIED):
        y.backward()


def test_modifying_an_input_that_was_saved_is_noticed():
    x, w = torch.ones(2), leaf(1.0, 2.0)
    y = (x * w).sum()
    x.zero_()
    with pytest.raises(
        RuntimeError,
        match=r"\[torch.FloatTensor \[2\]\] is at version 1; expected version 0 instead",
    ):
        y.backward()


def test_in_place_rebases_history():
    x = leaf(1.0, 2.0)
    h = x * 2
    h.mul_(3)
    assert type(h.grad_fn).__name__ == "MulBackward0"
    h.sum().backward()
    assert x.grad.tolist() == [6.0, 6.0]


def test_writing_into_a_slice_gives_the_base_new_history():
    x = leaf(1.0, 2.0)
    a = torch.zeros(3)
    a[1] = x[0] * 2
    assert type(a.grad_fn).__name__ == "CopySlices"
    (a * torch.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert x.grad.tolist() == [20.0, 0.0]


def test_a_view_follows_its_base():
    x = leaf(1.0, 2.0)
    h = x * 1
    v = h[0]
    h.mul_(3)
    assert type(v.grad_fn).__name__ == "AsStridedBackward0"
    v.backward()
    assert x.grad.tolist() == [3.0, 0.0]


def test_views_of_views_written_in_turn():
    x = leaf(1.0, 2.0, 3.0, 4.0)
    h = (x * 1).view(2, 2)
    h[0].mul_(2)
    h[:, 1].mul_(5)
    h.sum().backward()
    assert x.grad.tolist() == [2.0, 10.0, 1.0, 5.0]


def test_second_derivative_through_a_slice_write():
    x = leaf(2.0, 3.0)
    a = torch.zeros(2)
    a[0] = x[0] ** 3
    (g,) = torch.autograd.grad(a.sum(), x, create_graph=True)
    (gg,) = torch.autograd.grad(g.sum(), x)
    assert g.tolist() == [12.0, 0.0] and gg.tolist() == [12.0, 0.0]


def test_an_untracked_view_becomes_tracked_with_its_base():
    base = torch.zeros(3)
    v = base[1:]
    assert not v.requires_grad
    base.add_(leaf(1.0, 2.0, 3.0))
    assert v.requires_grad and type(v.grad_fn).__name__ == "AsStridedBackward0"


def test_retain_grad_moves_with_an_in_place_operation():
    x = leaf(1.0)
    h = x * 2
    h.retain_grad()
    h.mul_(3)
    h.sum().backward()
    assert h.grad.tolist() == [1.0]


def test_copying_and_setting_items_broadcast_and_convert():
    a = torch.zeros(2, 3)
    a[:] = torch.tensor([1, 2, 3])
    a[1, 1:] = 7
    a[a == 1] = -1
    assert a.tolist() == [[-1.0, 2.0, 3.0], [-1.0, 7.0, 7.0]]


def test_in_place_functions_of_a_shape_that_does_not_fit():
    with pytest.raises(
        RuntimeError, match=r"output with shape \[2\] doesn't match the broadcast shape \[3, 2\]"
    ):
        torch.zeros(2).add_(torch.zeros(3, 2))
