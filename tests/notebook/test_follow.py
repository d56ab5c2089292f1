"""A view of one tensor's graph: keeps it, follows it, never pins it."""

import gc
import weakref

import pytest

import gradviz as torch
from gradviz.export.picture import Picture
from gradviz.notebook.session import Session
from gradviz.watch.holders import Roots


@pytest.fixture
def session():
    made = Session(lambda filename: None)
    made.watch()
    yield made
    made.rest()


def cell(session, count, names):
    """End a cell that left ``names``."""
    return session.end(Roots(user_ns=names), None)


def operations(follower):
    return [row for row in follower.recorder.trace.nodes.values() if row.kind == "operation"]


def view_of(follower, session):
    class View:
        closed = False
        placement = "inline"

        def push(self, last):
            pass

        def close(self):
            self.closed = True

    view = View()
    session.add(view, follower)
    return view


def test_it_outlives_the_next_cell_and_sees_the_gradient(session):
    session.begin(1, None, "")
    w = torch.ones(2, requires_grad=True)
    loss = (w * w).sum()
    names = {"w": w, "loss": loss}
    follower = session.follower(loss, Roots(user_ns=names))
    view_of(follower, session)
    cell(session, 1, names)
    assert {row.label for row in follower.recorder.trace.nodes.values()} >= {"w", "loss"}
    session.begin(2, None, "")
    loss.backward()
    other = torch.ones(3, requires_grad=True) * 5
    cell(session, 2, names | {"other": other})
    nodes = follower.recorder.trace.nodes
    leaf = next(row for row in nodes.values() if row.label == "w")
    assert leaf.grad_norm == pytest.approx(8**0.5)
    assert len(nodes) == 3 and nodes[follower.target].root
    assert all(e.grad_norm is not None for e in follower.recorder.trace.edges.values())
    assert follower.detail(leaf.id).grad.values == [2.0, 2.0]


def test_what_grows_out_of_it_joins(session):
    session.begin(1, None, "")
    x = torch.ones(2, requires_grad=True) * 2
    follower = session.follower(x, Roots(user_ns={"x": x}))
    view_of(follower, session)
    y = x * 3
    session._tick()
    assert len(operations(follower)) == 2
    cell(session, 1, {"x": x, "y": y})
    rows = follower.recorder.trace.nodes.values()
    assert {row.label for row in rows} >= {"x", "y"}


def test_the_error_of_another_cell_is_not_its_own(session):
    session.begin(1, None, "")
    x = torch.ones(2, requires_grad=True) * 2
    follower = session.follower(x, Roots(user_ns={"x": x}))
    view_of(follower, session)
    cell(session, 1, {"x": x})
    session.begin(2, None, "")
    session.end(Roots(user_ns={"x": x}), ZeroDivisionError("no"))
    status = follower.recorder.trace.status()
    assert (status["state"], status["cell"]) == ("idle", 1)
    assert session.recorder.trace.state == "failed"


def test_the_error_of_its_own_cell_is(session):
    session.begin(1, None, "")
    x = torch.ones(2, requires_grad=True) * 2
    follower = session.follower(x, Roots(user_ns={"x": x}))
    view_of(follower, session)
    session.end(Roots(user_ns={"x": x}), ZeroDivisionError("no"))
    assert follower.recorder.trace.state == "failed"


def test_it_pins_nothing(session):
    session.begin(1, None, "")
    loss = (torch.ones(2, requires_grad=True) * 2).sum()
    ref, node = weakref.ref(loss), weakref.ref(loss.grad_fn)
    follower = session.follower(loss, Roots(user_ns={"loss": loss}))
    view_of(follower, session)
    cell(session, 1, {"loss": loss})
    del loss
    gc.collect()
    assert ref() is None and node() is None
    session.begin(2, None, "")
    cell(session, 2, {})
    assert len(operations(follower)) == 2


def test_what_is_left_out_of_a_large_graph_is_counted(session):
    w = torch.ones(1, requires_grad=True)
    for count, expected in ((10, 11), (6_000, 6_001)):
        y = w
        for _ in range(count):
            y = y * 2
        follower = session.follower(y, Roots(user_ns={"w": w, "y": y}))
        status = follower.recorder.trace.status()
        assert status["total"] == expected
        assert (status["shown"] < expected) == (count > 5_000)
        picture = Picture.of(follower.recorder.trace, follower.target)
        assert picture.total == expected


def test_a_leaf(session):
    session.begin(1, None, "")
    w = torch.ones(2, requires_grad=True)
    follower = session.follower(w, Roots(user_ns={"w": w}))
    assert [row.label for row in follower.recorder.trace.nodes.values()] == ["w"]


def test_norms_are_measured_only_while_somebody_looks(session):
    assert not session.source.want_norms
    view_of(None, session)
    assert session.source.want_norms
    session.remove(next(iter(session.views)))
    assert not session.source.want_norms


def test_only_the_newest_views_are_fed(session):
    docked = view_of(None, session)
    docked.placement = "dock"
    views = [view_of(None, session) for _ in range(20)]
    assert list(session.views) == [docked, *views[-12:]]


def test_a_sparing_session_looks_now_and_then(session, monkeypatch):
    looked = []
    monkeypatch.setattr(session, "_settle", lambda roots, error: looked.append(error) or [])
    session.sparing = True
    fault = ValueError("no")
    for count in range(1, 1001):
        session.begin(count, None, "")
        session.end(Roots(user_ns={}), fault if count == 1000 else None)
    assert 100 < len(looked) < 160 and looked[-1] is fault


def test_a_graph_that_is_gone_turns_grey(session):
    session.begin(1, None, "")
    w = torch.ones(2, requires_grad=True)
    names = {"w": w, "loss": (w * w).sum()}
    follower = session.follower(names["loss"], Roots(user_ns=names))
    view_of(follower, session)
    cell(session, 1, names)
    del names["loss"]
    session.begin(2, None, "")
    cell(session, 2, names)
    assert [row.alive for row in operations(follower)] == [False, False]
    assert follower.recorder.trace.nodes[follower.target].freed
