"""The same programs on PyTorch itself: what is found there is what is found on our engine."""

import warnings

import pytest

from tests.doctor.notebook import Notebook
from tests.doctor.programs import read

torch = pytest.importorskip("torch", reason="runs on PyTorch, which is not installed")

BESIDE = ("error.",)  # kinds that stand beside what a program was written for


@pytest.fixture(autouse=True)
def as_it_was():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        yield
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    assert torch._C._len_torch_function_stack() == 0


def after_each_cell(program):
    book, out = Notebook(), []
    try:
        for cell in program.cells:
            out.append(list(book.run(cell)))
        return out
    finally:
        book.close()


@pytest.mark.parametrize("program", read("sound.txt"), ids=repr)
def test_sound_program_is_not_accused_on_pytorch(program):
    found = [one for findings in after_each_cell(program) for one in findings]
    assert [(f.kind, f.cell, f.line) for f in found if f.severity != "info"] == []


@pytest.mark.parametrize("program", read("faulty.txt"), ids=repr)
def test_faulty_program_is_found_out_on_pytorch(program):
    findings = after_each_cell(program)[-1]
    for kind, place in program.expect:
        places = [f"{f.cell}:{f.line}" for f in findings if f.kind == kind]
        assert places, [(f.kind, f.cell, f.line) for f in findings]
        assert not place or set(place.split("|")) & set(places)
    serious = {f.kind for f in findings if f.severity != "info" and not f.kind.startswith(BESIDE)}
    assert serious <= {kind for kind, _ in program.expect}
