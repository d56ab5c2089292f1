"""Where NumPy counts in 32 bits, as in a browser, indices and Python's ints are int64 too."""

import numpy
import pytest

import gradviz as torch

COUNTING = "argsort argpartition argmax argmin bincount searchsorted flatnonzero".split()
X = torch.tensor([[3.0, 1.0, 2.0], [1.0, 5.0, 4.0]])
K = torch.tensor([0, 2, 2])
CALLS = {
    "sort": lambda: X.sort()[1],
    "sort down": lambda: X.sort(descending=True)[1],
    "argsort": lambda: X.argsort(),
    "topk": lambda: X.topk(2)[1],
    "topk of many": lambda: torch.arange(40.0).topk(2)[1],
    "kthvalue": lambda: X.kthvalue(2)[1],
    "median": lambda: X.median(1)[1],
    "mode": lambda: X.mode()[1],
    "max": lambda: X.max(1)[1],
    "argmax": lambda: X.argmax(),
    "nonzero": lambda: X.nonzero(),
    "bincount": lambda: K.bincount(),
    "searchsorted": lambda: torch.searchsorted(K, K),
    "multinomial": lambda: torch.multinomial(X, 2),
    "unique": lambda: torch.unique(K, return_inverse=True)[1],
    "repeat_interleave": lambda: torch.repeat_interleave(K),
    "ints": lambda: torch.tensor([1, 2]),
    "an int": lambda: torch.tensor(1),
}


@pytest.fixture
def narrow(monkeypatch):
    """NumPy of a 32-bit machine, as far as its counting functions and Python's ints go."""

    def narrowed(function):
        return lambda *a, **k: numpy.asarray(function(*a, **k)).astype(numpy.int32)

    for name in COUNTING:
        monkeypatch.setattr(numpy, name, narrowed(getattr(numpy, name)))

    def asarray(a, dtype=None, before=numpy.asarray, **options):
        found = before(a, dtype, **options)
        ints = dtype is None and isinstance(a, int | list) and found.dtype == numpy.int64
        return found.astype(numpy.int32) if ints else found

    monkeypatch.setattr(numpy, "asarray", asarray)


@pytest.mark.parametrize("name", CALLS)
def test_int64_is_what_comes_out(narrow, name):
    assert CALLS[name]().dtype is torch.int64


def test_a_count_may_be_wider_than_the_machine_s(monkeypatch):
    """``numpy.repeat`` refuses counts that its own index type does not hold."""

    def repeat(a, repeats, before=numpy.repeat):
        assert repeats.dtype == numpy.intp
        return before(a, repeats)

    monkeypatch.setattr(numpy, "repeat", repeat)
    counts = torch.tensor([1, 2], dtype=torch.int32)
    assert torch.tensor([5, 6]).repeat_interleave(counts).tolist() == [5, 6, 6]
