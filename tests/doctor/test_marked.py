"""Faulty programs in many styles are found out: the kind, the line, and for leaks the holder;
nothing else is said of them.
"""

import asyncio
import sys
import warnings
from pathlib import Path

import pytest

from gradviz.notebook import alias
from tests.doctor.notebook import Notebook
from tests.doctor.programs import marked

pytestmark = pytest.mark.usefixtures("rules_may_not_fail")


@pytest.fixture(autouse=True)
def as_torch():
    alias.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(autouse=True)
def no_loop():
    """The loop of a browser that other tests left running in this thread is not the program's."""
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Writes modules that can be imported."""
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)

    def write(files):
        for name, text in files.items():
            (tmp_path / name).write_text(text)

    yield write
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def squeezed(path):
    return "".join(c for c in path if c not in " '\"")


@pytest.mark.parametrize("program", marked("marked.txt"), ids=repr)
def test_marked_program_is_found_out(program, beside):
    if any("import pandas" in cell for cell in program.cells):
        pytest.importorskip("pandas", reason="pandas is not installed")
    beside(program.files)
    book = Notebook()
    try:
        for cell in program.cells:
            findings = book.run(cell)
    finally:
        book.close()
    places = [(Path(f.file).name if f.file else f.cell, f.line) for f in findings]
    told = [(f.kind, place, f.holders) for f, place in zip(findings, places, strict=True)]
    for kind, places, holder in program.expect:
        here = [holders for k, place, holders in told if k == kind and place in places]
        assert here, (kind, places, told)
        wanted = squeezed(holder)
        named = [squeezed(h) for holders in here for h in holders or [""]]
        assert any(path.startswith(wanted) for path in named), named
    serious = {f.kind for f in findings if f.severity != "info" and not f.kind.startswith("error.")}
    raised = {"leak.traceback"} if book.source.failures else set()
    assert serious <= {kind for kind, _, _ in program.expect} | raised
