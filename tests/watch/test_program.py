"""Cells as statements."""

import ast

from gradviz.watch.cells import Cells
from gradviz.watch.model import Cell
from gradviz.watch.program import names_in, tokens, writes

TEXT = """%matplotlib inline
hist = []
def train(net, out):
    for x in net:
        with ctx():
            loss = net(x)
        out.append(loss)
        runs['a']['b'].append((1, loss))
        hist += [loss.item()]
train(1, hist)
"""


def cells(text=TEXT):
    return Cells.of([Cell(3, None, text)])


def expression(text):
    return ast.parse(text, mode="eval").body


def test_statements_know_their_surroundings():
    loss = cells().at(3, 6)
    assert loss.function.name == "train" and len(loss.loops) == len(loss.withs) == 1
    assert cells().at(3, 10).function is None
    assert cells().last_expression(3).line == 10
    assert cells().function("train").line == 3
    assert cells().code(3, 2) == "hist = []"


def test_writes():
    found = {(tuple(w.into), s.line) for s in cells().statements for w in writes(s)}
    assert (("out",), 7) in found and (("runs", "a", "b"), 8) in found and (("hist",), 9) in found


def test_names_that_carry_a_graph():
    assert names_in(expression("f(a.b, c.item(), float(d))")) == {"f", "a", "b"}
    assert "c" in names_in(expression("c.detach()"), plain=True)
    assert tokens(expression("self.runs['x'][i].log")) == ["runs", "x", "log"]


def test_text_that_is_not_python_has_no_statements():
    assert cells("x = = 1").statements == []
    assert cells("!ls\nx = 1\nx?").at(3, 2) is not None


def test_bindings_are_the_newest():
    several = Cells.of([Cell(1, None, "w = 1"), Cell(2, None, "\nw = 2\nself.fc = 3")])
    assert several.bindings == {
        "w": (2, 2),
        "fc": (2, 3),
    }
