"""A view of one cell: its graph, and nothing of the cells before and after."""

import pytest

import gradviz as torch
from gradviz.notebook.onecell import CellFollower
from gradviz.notebook.session import Session
from gradviz.watch.holders import Roots


class View:
    closed, placement = False, "inline"

    def push(self, last):
        pass

    def close(self):
        self.closed = True


@pytest.fixture
def session():
    made = Session(lambda filename: None)
    made.watch()
    yield made
    made.rest()


@pytest.fixture
def before(session):
    """The names that a first cell left."""
    session.begin(1, None, "")
    w = torch.ones(2, requires_grad=True)
    names = {"w": w, "old": (w * 3).sum()}
    session.end(Roots(user_ns=names), None)
    return names


def follow(session):
    follower = CellFollower(session.source, session.recorder)
    session.add(View(), follower)
    return follower


def labels(follower):
    return {row.label for row in follower.recorder.trace.nodes.values()} - {""}


def test_it_grows_and_keeps_the_graph_of_its_cell(session, before):
    session.begin(2, None, "")
    follower = follow(session)
    session._tick()
    assert not follower.recorder.trace.nodes and follower.recorder.trace.state == "running"
    y = before["w"].exp()
    session._tick()
    assert len(follower.recorder.trace.nodes) == 2
    names = before | {"y": y}
    session.end(Roots(user_ns=names), None)
    assert labels(follower) == {"w", "y"}
    session.begin(3, None, "")
    z = torch.ones(3, requires_grad=True).sin()
    session._tick()
    session.end(Roots(user_ns=names | {"z": z}), ValueError("no"))
    status = follower.recorder.trace.status()
    assert labels(follower) == {"w", "y"}
    assert (status["state"], status["cell"]) == ("idle", 2)


def test_a_cell_that_computes_nothing_has_no_graph(session, before):
    session.begin(2, None, "")
    follower = follow(session)
    session._tick()
    session.end(Roots(user_ns=before), ZeroDivisionError("no"))
    assert session.recorder.trace.nodes and not follower.recorder.trace.nodes
    assert follower.recorder.trace.status()["total"] == 0
    assert follower.recorder.trace.state == "failed"


def test_a_sweep_shows_what_it_went_through_and_later_gradients_arrive(session, before):
    session.begin(2, None, "")
    follower = follow(session)
    before["old"].backward(retain_graph=True)
    session.end(Roots(user_ns=before), None)
    assert labels(follower) == {"w", "old"}
    before["w"].grad = None
    session.begin(3, None, "")
    before["old"].backward()
    session.end(Roots(user_ns=before), None)
    leaf = next(row for row in follower.recorder.trace.nodes.values() if row.label == "w")
    assert leaf.grad_norm == pytest.approx(18**0.5)


def test_what_has_died_since_is_grey(session, before):
    session.begin(2, None, "")
    follower = follow(session)
    names = before | {"y": before["w"].exp()}
    session.end(Roots(user_ns=names), None)
    rows = follower.recorder.trace.nodes
    assert all(row.alive for row in rows.values())
    session.begin(3, None, "")
    del names["y"]
    session.end(Roots(user_ns=names), None)
    alive = {row.label: row.alive for row in rows.values()}
    assert alive == {"w": True, "y": False}


def test_what_it_shows_can_be_tried(session, before):
    session.begin(2, None, "")
    follower = follow(session)
    y = before["w"].exp()
    session.end(Roots(user_ns=before | {"y": y}), None)
    (id,) = (row.id for row in follower.recorder.trace.nodes.values() if row.label == "y")
    told = follower.attempt({"what": "check", "id": id})
    assert told["id"] == id and "why" not in told
