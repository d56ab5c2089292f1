"""Names that gradviz has not say so when they are used, and nowhere else."""

import importlib

import pytest

import gradviz as torch
from gradviz.absent import NAMES, Absent, absent

ALL = [(place, name) for places in NAMES.values() for place in places for name in absent(place)]


def owner(place):
    module = importlib.import_module(
        f"gradviz{place.removeprefix('torch').removesuffix('.Tensor')}"
    )
    return module.Tensor if place.endswith("Tensor") else module


@pytest.mark.parametrize("place, name", ALL)
def test_using_it_names_it(place, name):
    found = getattr(owner(place), name)
    assert isinstance(found, Absent)
    with pytest.raises(NotImplementedError, match=rf"{place}\.{name} is not implemented") as caught:
        found()
    assert caught.value.__notes__


def test_methods_refuse_when_called():
    x = torch.ones(2)
    assert x.to_sparse is not None
    with pytest.raises(NotImplementedError, match="torch.Tensor.to_sparse"):
        x.to_sparse()


def test_parts_of_a_module_are_named_in_full():
    with pytest.raises(NotImplementedError, match="torch.jit.script is not"):
        torch.jit.script(lambda x: x)


def test_a_class_of_it_is_refused():
    with pytest.raises(NotImplementedError, match="torch.distributions.Transform is not"):

        class Own(torch.distributions.Transform):
            pass


def test_other_hardware_is_not_there():
    assert not torch.xpu.is_available() and torch.mps.device_count() == 0
    assert not isinstance(1, torch.SymInt)


def test_a_dtype_is_refused_where_it_would_count():
    with pytest.raises(TypeError, match="must be torch.dtype"):
        torch.zeros(2, dtype=torch.qint8)
    with pytest.raises(TypeError, match="invalid combination"):
        torch.zeros(2).to(torch.qint8)


def test_unknown_names_are_unknown():
    with pytest.raises(AttributeError):
        torch.no_such_name  # noqa: B018
    assert not hasattr(torch, "no_such_name")
