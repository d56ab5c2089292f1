"""Data sets, loaders, optimizers, schedulers, modules and distributions: what they give, refuse
and warn about, compared with PyTorch. One program a line in kit.txt.
"""

import importlib
import re
import warnings
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: nothing to compare with")

PROGRAMS = (Path(__file__).parent / "kit.txt").read_text(encoding="utf-8").splitlines()
PARTS = ("utils.data.distributed", "nn.utils.rnn", "distributions")
SETUP = """
import copy, pickle, io, collections
nn=t.nn; F=nn.functional; D=t.utils.data; O=t.optim; dist=t.distributions
class DS(D.Dataset):
    def __init__(s,n=10): s.n=n
    def __len__(s): return s.n
    def __getitem__(s,i):
        if i>=s.n: raise IndexError("out")
        return t.tensor([float(i)]), i
class It(D.IterableDataset):
    def __iter__(s): return iter(range(7))
class Bad(D.Dataset):
    def __len__(s): return 4
    def __getitem__(s,i): raise ValueError("bad item")
def m():
    t.manual_seed(0)
    return nn.Sequential(nn.Linear(3,4),nn.BatchNorm1d(4),nn.ReLU(),nn.Linear(4,2))
def gen(): return t.Generator().manual_seed(3)
"""


def plain(value):
    """The value in plain Python."""
    if hasattr(value, "tolist") and hasattr(value, "dtype"):
        return "tensor", str(value.dtype), plain(value.tolist())
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return value


def outcome(name, program):
    engine = importlib.import_module(name)
    for part in PARTS:
        importlib.import_module(f"{name}.{part}")
    names = {"t": engine}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec(SETUP, names)  # noqa: S102
            found = plain(eval(program, names))  # noqa: S307
        except Exception as error:
            found = type(error).__name__, str(error)
    said = [str(one.message) for one in seen if one.category is not DeprecationWarning]
    return in_short(repr((found, said)))


def in_short(text):
    """Numbers to four digits; no addresses, no places in PyTorch's own sources."""
    for ours, theirs in (
        ("gradviz.engine.tensor.", "torch."),
        ("gradviz.", "torch."),
        ("torch.nn.parameter.", ""),
    ):
        text = text.replace(ours, theirs)
    text = re.sub(r"0x[0-9a-f]+| ?\(Triggered internally[^)]*\)", "", text)
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda number: f"{float(number[0]):.4g}", text)


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_in_pytorch(program):
    assert outcome("gradviz", program) == outcome("torch", program)
