"""Which findings are wanted."""

import pytest

from gradviz.doctor import Choice
from gradviz.doctor.choice import silenced
from gradviz.watch.cells import Cells
from gradviz.watch.model import Cell, Finding


def found(rule="GV203", kind="alias.state-dict", cell=1, line=1):
    return Finding(rule, kind, "warning", [], cell, line, 0, 0, {}, {})


@pytest.mark.parametrize(
    ("select", "ignore", "wanted"),
    [
        ((), (), True),
        (("GV203",), (), True),
        (("gv2",), (), True),
        (("alias",), (), True),
        (("alias.state-dict",), (), True),
        (("alias.state",), (), False),
        (("GV1", "leak"), (), False),
        ((), ("GV2",), False),
        (("alias",), ("GV203",), False),
        ((), ("", "GV204"), True),
    ],
)
def test_names_of_rules_and_kinds(select, ignore, wanted):
    assert Choice(select, ignore).wants(found()) is wanted


TEXT = """best = keep(  # gradviz: ignore[GV203, leak]
    model)
for x in y:
    z = 1  # gradviz: ignore
"""


@pytest.mark.parametrize(
    ("line", "rule", "quiet"),
    [(1, "GV203", True), (2, "GV203", False), (1, "GV101", False), (3, "GV203", False)]
    + [(4, "GV999", True)],
)
def test_comments_belong_to_their_statement(line, rule, quiet):
    cells = Cells.of([Cell(1, None, TEXT)])
    assert silenced(found(rule, line=line), cells) is quiet


def test_the_last_line_of_a_long_statement_may_say_it():
    text = "f(a,\n  b)  # gradviz: ignore[alias]"
    assert silenced(found(), Cells.of([Cell(1, None, text)]))
