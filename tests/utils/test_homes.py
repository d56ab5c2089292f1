"""Names under which PyTorch has what lies elsewhere here."""

import importlib
import sys

import pytest

import gradviz
from gradviz import homes


@pytest.mark.parametrize("name", homes._HOMES)
def test_a_stand_in_is_the_very_module(name):
    assert importlib.import_module(name) is sys.modules[homes._HOMES[name]]


@pytest.mark.parametrize("name", homes._HOMES)
def test_pytorch_has_that_module_with_those_classes(name):
    pytest.importorskip("torch", reason="PyTorch is not installed")
    theirs = importlib.import_module("torch" + name.removeprefix("gradviz"))
    ours = vars(importlib.import_module(name))
    own = [
        key
        for key, value in vars(theirs).items()
        if isinstance(value, type) and value.__module__ == theirs.__name__ and key[0] != "_"
    ]
    assert [key for key in own if key not in ours and hasattr(gradviz, key)] == []


def test_older_types_know_their_tensors():
    assert isinstance(gradviz.ones(2), gradviz.FloatTensor)
    assert not isinstance(gradviz.ones(2).long(), gradviz.FloatTensor)
    assert gradviz.LongTensor([1, 2]).dtype is gradviz.int64
