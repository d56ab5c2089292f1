"""What a lesson measures and prints is what PyTorch measures and prints."""

import re
import warnings
from unittest.mock import MagicMock

import pytest

from .lessons import answers, cells_of
from .test_lessons import EACH, SOURCES

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
IMPORTS = re.compile(r"^from gradviz import (.*)$", re.M)
ADDRESS = re.compile(r"0x[0-9a-f]+")


class Notes:
    """A lesson that only notes what is measured."""

    def __init__(self, *_, **__):
        self.measured = []

    def compare(self, guess, measured):
        measured = measured.tolist() if hasattr(measured, "tolist") else measured
        self.measured.append(measured)

    def check(self, number):
        return lambda function: function


def heard(cells, engine, capsys):
    """(measured, printed) of a lesson on one engine; pictures are not made."""
    teach = MagicMock(Lesson=Notes)
    names = {"gradviz": MagicMock(), "teach": teach, "__name__": "__main__"}
    solutions = {number: one["solution"][0] for number, one in answers(cells).items()}
    capsys.readouterr()
    for cell in cells:
        given = cell.metadata
        if cell.cell_type != "code" or "solution" in given or "wrong" in given:
            continue
        code = solutions.get(given.get("exercise"), cell.source)
        code = re.sub(r"^%.*$|^import gradviz$", "", code, flags=re.M)
        code = code.replace("import gradviz as torch", f"import {engine} as torch")
        for found in IMPORTS.findall(code):
            ours = ", ".join(name for name in found.split(", ") if name != "teach")
            code = code.replace(
                f"from gradviz import {found}", f"from {engine} import {ours}" if ours else ""
            )
        code = code.replace("from gradviz.", f"from {engine}.").replace(
            "import gradviz.", f"import {engine}."
        )
        try:
            exec(compile(code, "<lesson>", "exec"), names)
        except Exception:
            assert "raises-exception" in given.get("tags", ()), code
    if "dist" in names:
        names["dist"].destroy_process_group()
    return names["lesson"].measured, ADDRESS.sub("", capsys.readouterr().out).splitlines()


def alike(a, b):
    if isinstance(a, MagicMock) or isinstance(b, MagicMock):
        return True
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(alike, a, b))
    return a == (pytest.approx(b, rel=1e-4, abs=1e-6, nan_ok=True) if isinstance(b, float) else b)


@EACH
def test_a_lesson_is_true_of_pytorch(name, capsys):
    cells = cells_of(SOURCES[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        measured, printed = heard(cells, "gradviz", capsys)
        torch.manual_seed(0)
        theirs, their_lines = heard(cells, "torch", capsys)
    assert len(measured) == len(theirs) > 0
    assert [pair for pair in zip(measured, theirs, strict=True) if not alike(*pair)] == []
    assert printed == their_lines
