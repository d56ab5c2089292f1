"""Sound programs are not accused, at the end of any cell; faulty ones are found out, at the right
line.
"""

import warnings

import pytest

from gradviz.doctor import all_rules
from gradviz.notebook import alias
from tests.doctor.notebook import Notebook
from tests.doctor.programs import read

pytestmark = pytest.mark.usefixtures("rules_may_not_fail")


@pytest.fixture(autouse=True)
def as_torch():
    alias.install()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def after_each_cell(program):
    """The findings after every cell."""
    book, out = Notebook(), []
    try:
        for cell in program.cells:
            out.append(list(book.run(cell)))
        return out
    finally:
        book.close()


@pytest.mark.parametrize("program", read("sound.txt"), ids=repr)
def test_sound_program_is_not_accused(program):
    serious = [
        (f.kind, f.cell, f.line)
        for found in after_each_cell(program)
        for f in found
        if f.severity != "info"
    ]
    assert serious == []


@pytest.mark.parametrize("program", read("faulty.txt"), ids=repr)
def test_faulty_program_is_found_out(program):
    findings = after_each_cell(program)[-1]
    for kind, place in program.expect:
        places = [f"{f.cell}:{f.line}" for f in findings if f.kind == kind]
        assert places, [(f.kind, f.cell, f.line) for f in findings]
        assert not place or set(place.split("|")) & set(places)
    kinds = {kind for kind, _ in program.expect}
    others = {f.kind for f in findings if f.severity != "info" and not f.kind.startswith("error.")}
    assert others <= kinds


def test_every_rule_has_a_faulty_program():
    shown = {kind for program in read("faulty.txt") for kind, _ in program.expect}
    elsewhere = {"perf.ping-pong", "error.device-mismatch"}  # need two devices: test_devices.py
    assert {rule.kind for rule in all_rules()} - elsewhere == shown - elsewhere
