"""Loaders with workers: the same batches, seeds and errors as PyTorch's."""

import importlib.util
import json
import sys
import threading
import time
import types
import warnings
from pathlib import Path

import pytest

import gradviz as torch
from gradviz.utils.data import DataLoader, Dataset, get_worker_info
from tests.nn.both import run, same
from tests.utils.programs import PROGRAMS

RECORDED = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
HAVE_TORCH = importlib.util.find_spec("torch") is not None
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs processes that fork")


@pytest.mark.parametrize("name", PROGRAMS)
def test_gives_what_pytorch_gave(name):
    found = run("gradviz", PROGRAMS[name])
    assert same(found, RECORDED[name]), (found, RECORDED[name])


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
@pytest.mark.parametrize("name", ["order", "seeds", "streams", "collate"])
def test_what_was_recorded_is_what_pytorch_gives(name):
    assert same(run("torch", PROGRAMS[name]), RECORDED[name])


class Squares(Dataset):
    """Importable, so that processes that do not fork can have it."""

    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 9:
            raise LookupError("nine")
        return torch.tensor(float(i * i)), threading.get_ident()


def batches(**options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [x.tolist() for x, _ in DataLoader(Squares(), 2, num_workers=1, **options)]


@pytest.mark.parametrize("context", ["spawn", "thread"])
def test_other_ways_to_work(context, monkeypatch):
    # a shell that an earlier test made may have left its own namespace in this place
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
    assert batches(multiprocessing_context=context) == [[0.0, 1.0], [4.0, 9.0]]


def test_threads_work_beside_the_caller_and_tell_errors():
    here = threading.get_ident()
    loader = DataLoader(Squares(), 1, num_workers=2, multiprocessing_context="thread")
    assert all(ident.item() != here for _, ident in loader)
    loader = DataLoader(Squares(), sampler=[9], num_workers=1, multiprocessing_context="thread")
    with pytest.raises(LookupError, match="Caught LookupError in DataLoader worker thread 0"):
        list(loader)
    assert get_worker_info() is None


def test_what_cannot_be_pickled_is_told():
    loader = DataLoader([1], num_workers=1, collate_fn=lambda b: lambda: b)
    with pytest.raises(RuntimeError, match="Caught .* in DataLoader worker process 0"):
        list(loader)


def test_a_pass_that_is_given_up_leaves_no_process():
    import multiprocessing

    before = set(multiprocessing.active_children())
    passing = iter(DataLoader(range(1000), 2, num_workers=2))
    next(passing)
    workers = set(multiprocessing.active_children()) - before
    assert len(workers) == 2
    del passing
    end = time.monotonic() + 20
    while any(w.is_alive() for w in workers) and time.monotonic() < end:
        time.sleep(0.01)
    assert not any(w.is_alive() for w in workers)
