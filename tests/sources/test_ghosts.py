"""Places where values leave the graph, and the operation that failed, stand in the picture."""

import pytest

import gradviz as torch
from gradviz.notebook.session import Session
from gradviz.watch.holders import Roots

CELL = "<ghosts>"


@pytest.fixture
def session():
    made = Session(lambda filename: 3 if filename == CELL else None)
    made.watch()
    yield made
    made.rest()


def run(session, text, names=None):
    """Run ``text`` as a cell; its names and the error it raised."""
    names = {"torch": torch} if names is None else names
    session.begin(3, None, text)
    error = None
    try:
        exec(compile(text, CELL, "exec"), names)
    except Exception as raised:
        error = raised
    session.end(Roots(user_ns=names), error)
    return names, error


def rows(session, **wanted):
    found = session.recorder.trace.nodes.values()
    return [row for row in found if all(getattr(row, k) == v for k, v in wanted.items())]


def edge_to(session, row):
    return [e for e in session.recorder.trace.edges.values() if e.target == row.id]


START = "x = torch.ones(2, requires_grad=True)\ny = x * 3\nz = y.sum()\n"


@pytest.mark.parametrize(("line", "how"), [("n = z.item()", "item"), ("n = y.detach()", "detach")])
def test_a_value_that_left_has_a_place_of_its_own(session, line, how):
    run(session, START + line)
    (ghost,) = rows(session, cut=how)
    (edge,) = edge_to(session, ghost)
    source = session.recorder.trace.nodes[edge.source]
    assert (ghost.place.line, edge.cut) == (4, how)
    assert source.label == ("z" if how == "item" else "y")


def test_what_is_shown_already_is_not_shown_twice(session):
    run(session, START + "d = y.detach()\nw = x * d")
    assert len(rows(session, cut="detach")) == 1


def test_a_loop_leaves_one_place(session):
    run(session, START + "for _ in range(5):\n    z = (x * 2).sum()\n    n = z.item()")
    assert len(rows(session, cut="item")) == 1


def test_the_operation_that_failed_is_red_and_joined_to_its_operands(session):
    _, error = run(session, START + "w = torch.ones(3)\nbad = y + w")
    assert isinstance(error, RuntimeError)
    (failed,) = rows(session, failed=True)
    assert (failed.label, failed.op, failed.place.line) == ("bad = y + w", "RuntimeError", 5)
    operands = {session.recorder.trace.nodes[e.source].label for e in edge_to(session, failed)}
    assert operands == {"y", "w"}
    run(session, "a = torch.ones(2, requires_grad=True) * 2")
    assert rows(session, failed=True) == []


@pytest.mark.parametrize(
    ("line", "shapes"),
    [
        ("bad = (x * 2) @ torch.ones(3, 2)", [(2,), (3, 2)]),
        ("bad = torch.cat([x * 2, torch.ones(2, 2)])", [(2,), (2, 2)]),
        ("bad = (x * 2).view(5)", [(2,)]),
    ],
)
def test_operands_that_no_name_has_stand_beside_what_failed(session, line, shapes):
    run(session, "x = torch.ones(2, requires_grad=True)\n" + line)
    (failed,) = rows(session, failed=True)
    nodes = session.recorder.trace.nodes
    assert [nodes[edge.source].shape for edge in edge_to(session, failed)] == shapes


def test_an_error_that_touches_no_tensor_leaves_the_picture_alone(session):
    run(session, START + "1 / 0")
    assert rows(session, failed=True) == [] and rows(session, label="z")


def test_who_shares_memory_is_known(session):
    names, _ = run(session, "a = torch.ones(4, requires_grad=True)\nb = a * 2\nv = b[1:]")
    by_label = {row.label: row.id for row in rows(session)}
    assert session.source.detail(by_label["b"]).shares == [by_label["v"]]
    assert names["v"] is not None
