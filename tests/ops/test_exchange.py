"""Tensors given to other libraries and taken from them."""

import copy
import importlib.util
import pickle
import warnings

import numpy as np
import pytest

import gradviz as torch
from gradviz.backend import twin
from gradviz.engine import errors


def needs(name):
    """Skip where a library is not installed."""
    return pytest.mark.skipif(
        importlib.util.find_spec(name) is None, reason=f"{name} is not installed here"
    )


def test_errors_say_what_to_write_instead():
    tracked = torch.ones(2, requires_grad=True)
    for ask in (tracked.numpy, lambda: np.asarray(tracked), lambda: np.sin(tracked)):
        with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor") as caught:
            ask()
        assert "detach()" in caught.value.__notes__[0]
    with twin.installed():
        there = torch.ones(2, device="cuda")
        for ask in (there.numpy, lambda: np.asarray(there), lambda: np.add(there, 1)):
            with pytest.raises(TypeError, match="can't convert cuda:0 device type") as caught:
                ask()
            assert "t.cpu()" in caught.value.__notes__[0]
        assert there.numpy(force=True).tolist() == [1.0, 1.0]


def test_what_may_surprise_is_said_once(monkeypatch):
    monkeypatch.setattr(errors, "_warned", set())
    a = np.arange(3.0)
    a.flags.writeable = False
    weight = torch.ones(1, requires_grad=True)
    for give, words in (
        (lambda: torch.from_numpy(a), "NumPy array is not writable"),
        (lambda: torch.frombuffer(b"abcd", dtype=torch.uint8), "buffer is not writable"),
        (lambda: torch.tensor([np.ones(2), np.ones(2)]), "extremely slow"),
        (lambda: float(weight), "with requires_grad=True to a scalar"),
    ):
        with pytest.warns(UserWarning, match=words):
            give()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            give()


def test_memory_is_shared_both_ways_by_dlpack():
    t = torch.zeros(2, 3)
    view = np.from_dlpack(t.t())
    view[0, 1] = 5.0
    assert t[1, 0].item() == 5.0 and torch.from_dlpack(t).data_ptr() == t.data_ptr()
    back = torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(t))
    back[0, 0] = 7.0
    assert t[0, 0].item() == 7.0
    assert torch.from_dlpack(t, copy=True).data_ptr() != t.data_ptr()
    with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
        torch.ones(1, requires_grad=True).__dlpack__()
    with pytest.raises(ValueError, match="negative"):
        torch.from_dlpack(np.arange(3.0)[::-1])


def test_how_a_gpu_shows_its_memory():
    with pytest.raises(AttributeError, match="non-CUDA tensor type: torch.FloatTensor"):
        torch.ones(1).__cuda_array_interface__  # noqa: B018
    assert not hasattr(torch.ones(1), "__cuda_array_interface__")
    with twin.installed():
        x = torch.ones(2, device="cuda", requires_grad=True)
        assert x.__dlpack_device__() == (2, 0)
        with pytest.raises(RuntimeError, match="Variable that requires grad"):
            x.__cuda_array_interface__  # noqa: B018
        with pytest.raises(BufferError):
            x.detach().__dlpack__()


def test_copies():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    x.sum().backward()
    twice = [x, x.detach()[0]]
    first, row = copy.deepcopy(twice)
    with torch.no_grad():
        first[0, 0] = 9.0
    assert row[0].item() == 9.0 and x[0, 0].item() == 0.0
    assert first.grad.tolist() == x.grad.tolist() and first.grad is not x.grad
    result = x * 2
    with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
        copy.deepcopy(result)
    shallow = copy.copy(result)
    assert shallow.is_leaf and shallow.requires_grad and shallow.data_ptr() == result.data_ptr()
    assert pickle.loads(pickle.dumps(result)).is_leaf
    weight = torch.nn.Parameter(torch.ones(2))
    assert isinstance(copy.copy(weight), torch.nn.Parameter)
    assert copy.copy(weight).data_ptr() == weight.data_ptr()


def test_copies_on_a_gpu():
    with twin.installed():
        x = torch.ones(2, 2, device="cuda", requires_grad=True)
        for made in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
            assert made.is_cuda and made.requires_grad and made.tolist() == x.tolist()
        both = copy.deepcopy([x.detach(), x.detach()[0]])
        both[0][0, 0] = 4.0
        assert both[1][0].item() == 4.0


@needs("pandas")
def test_pandas():
    import pandas as pd

    frame = pd.DataFrame({"a": torch.arange(3), "b": torch.ones(3)})
    assert frame["a"].tolist() == [0, 1, 2]
    assert torch.from_numpy(frame.to_numpy()).shape == (3, 2)
    assert torch.tensor(frame["b"]).tolist() == [1.0, 1.0, 1.0]
    assert pd.Series(torch.ones(2)).sum() == 2.0
    with pytest.raises(
        ValueError, match="could not determine the shape of object type 'DataFrame'"
    ):
        torch.tensor(frame)


@needs("matplotlib")
def test_matplotlib():
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots()
    (line,) = axes.plot(torch.arange(4.0), torch.arange(4.0) ** 2)
    assert line.get_ydata().tolist() == [0.0, 1.0, 4.0, 9.0]
    assert axes.imshow(torch.rand(3, 4)).get_array().shape == (3, 4)
    axes.hist(torch.rand(10))
    axes.scatter(torch.rand(3), torch.rand(3), c=torch.rand(3))
    pyplot.close(figure)


@needs("PIL")
def test_pillow():
    from PIL import Image

    pixels = (torch.rand(2, 3, 3) * 255).to(torch.uint8)
    image = Image.fromarray(pixels.numpy())
    assert torch.from_numpy(np.array(image)).equal(pixels)
    with pytest.raises(RuntimeError, match="Could not infer dtype of Image"):
        torch.tensor(image)


def test_a_tracked_scalar_read_where_nothing_is_recorded_is_no_slip():
    tracked = torch.ones(1, requires_grad=True)
    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with torch.no_grad():
                assert float(tracked) == 1.0
        with pytest.warns(UserWarning, match="to a scalar may lead"):
            float(tracked)
    finally:
        torch.set_warn_always(False)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_an_optimizer_that_reads_the_loss_does_not_warn_of_it(search):
    w = torch.ones(2, requires_grad=True)
    optimizer = torch.optim.LBFGS([w], line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        loss = ((w - 2) ** 2).sum()
        loss.backward()
        return loss

    torch.set_warn_always(True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.step(closure)
    finally:
        torch.set_warn_always(False)
