"""The graph view: frames in order, whole ones until a page speaks, answers to the page."""

import gc
import threading
import tracemalloc
import weakref

import pytest

from gradviz.watch import recorder as recorder_module
from gradviz.watch.model import Detail, Edge, Stats
from gradviz.watch.recorder import Recorder
from gradviz.widgets.graph import GraphView
from tests.pages import Page
from tests.traces import chain, finding, node, small_net


def told(view):
    """A page that hears what ``view`` sends."""
    page = Page()
    view.send = page.hear
    return page


def ask(view, **message):
    view._handle_custom_msg(message, [])


@pytest.fixture
def net():
    return small_net()


@pytest.fixture
def view(net):
    view = GraphView(
        net,
        lambda i: Detail(
            i, grad_state="present", value=Stats((2,), "float32", nan=1, mean=float("nan"))
        ),
    )
    yield view
    view.close()


def test_until_a_page_speaks_every_frame_is_whole(view, net):
    page = told(view)
    view.push()
    view.push(last=True)
    assert [frame["base"] for frame in page.frames] == [-1, -1]
    assert set(page.nodes) == set(net.trace.nodes)


def test_after_ready_only_changes_are_sent(view, net):
    page = told(view)
    ask(view, t="ready", seq=-1)
    net.put(node(11, op="MulBackward0"))
    net.put_edge(Edge(10, 11, 0))
    view.push()
    assert [frame["base"] for frame in page.frames] == [-1, 0]
    assert 11 in page.nodes and page.edges[11, 0]["source"] == 10
    assert page.lost == 0


def test_nothing_is_sent_when_nothing_changed(view):
    page = told(view)
    ask(view, t="ready", seq=-1)
    view.push()
    view.push(last=True)
    assert len(page.frames) == 1


def test_removed_nodes_and_findings(view, net):
    page = told(view)
    ask(view, t="ready", seq=-1)
    net.set_findings([finding()])
    net.remove([1])
    view.push()
    assert 1 not in page.nodes and (3, 0) not in page.edges
    assert page.findings[0]["message"]["zh"]
    net.set_findings([])
    view.push()
    assert page.findings == []


def test_a_page_that_lost_its_place_gets_everything(view, net):
    page = told(view)
    ask(view, t="ready", seq=-1)
    ask(view, t="resync")
    assert page.frames[-1]["base"] == -1
    assert set(page.nodes) == set(net.trace.nodes)


def test_inspect_tells_row_and_detail(view):
    page = told(view)
    ask(view, t="inspect", id=3)
    detail = page.details[3]
    assert detail["place"]["line"] == 3 and [s["state"] for s in detail["saved"]] == [
        "freed",
        "alive",
    ]
    assert detail["grad_state"] == "present" and detail["value"]["mean"] == "NaN"


def test_inspecting_what_is_gone(net):
    view = GraphView(net, lambda i: None, weigh=lambda i: {"nodes": 2, "bytes": 8})
    page = told(view)
    ask(view, t="inspect", id=999)
    assert page.details[999] == {"id": 999, "keeps": {"nodes": 2, "bytes": 8}}
    view.close()


def test_the_last_frame_refreshes_what_is_selected(view, net):
    page = told(view)
    ask(view, t="ready", seq=-1)
    ask(view, t="inspect", id=6)
    net.put(node(6, op="ReluBackward0", grad_norm=3.0))
    view.push(last=True)
    assert page.frames[-1]["details"]["6"]["grad_state"] == "present"


def test_the_last_frame_tells_the_numbers_of_scalars(view, net):
    page = told(view)
    view.push()
    assert page.details == {}
    view.push(last=True)
    assert set(page.details) == {10}


def test_messages_that_make_no_sense_are_let_pass(view):
    page = told(view)
    for message in (
        {},
        {"t": "inspect"},
        {"t": "inspect", "id": "x"},
        {"t": 7},
        {"t": "__init__"},
        {"t": "language", "language": "xx"},
    ):
        ask(view, **message)
    view._handle_custom_msg("text", [])
    assert page.frames == [] and view.language == "auto"


def test_ping_and_language(view):
    heard = []
    view.send = lambda message, buffers=None: heard.append(message)
    ask(view, t="ping", n=4)
    ask(view, t="language", language="zh")
    assert heard == [{"t": "pong", "n": 4}] and view.language == "zh"


@pytest.mark.parametrize("kind", ["ready", "language"])
def test_python_hears_the_language_of_the_page(view, monkeypatch, kind):
    told = []
    monkeypatch.setattr("gradviz.widgets.base.follow_page", told.append)
    ask(view, t=kind, seq=-1, language="zh")
    assert told == ["zh"]


def test_frames_from_two_threads_stay_in_order():
    recorder = chain(10)
    view = GraphView(recorder, lambda i: None)
    page = told(view)
    ask(view, t="ready", seq=-1)

    def grow(first):
        for i in range(first, first + 200):
            recorder.put(node(i, op="MulBackward0"))
            view.push()

    threads = [threading.Thread(target=grow, args=(1000 * k,)) for k in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    view.push(last=True)
    assert page.lost == 0 and set(page.nodes) == set(recorder.trace.nodes)
    view.close()


def test_a_closed_view_lets_everything_go(net):
    view = GraphView(net, lambda i: None)
    view.close()
    view.push()
    view.whole()
    del net
    view_ref = weakref.ref(view)
    del view
    gc.collect()
    assert view_ref() is None


def test_ipykernel_7_4_answers_on_the_shell_that_asked():
    view = GraphView(small_net(), lambda i: None)

    class Comm:
        def _reply_subshell_for(self, data, default):
            return "busy shell"

    comm = Comm()
    view.comm = None
    view.set_trait("comm", None)
    view.__dict__["_trait_values"]["comm"] = comm
    view._answer_on_the_asking_shell()
    assert comm._reply_subshell_for({}, "asking shell") == "asking shell"
    view.__dict__["_trait_values"]["comm"] = None


def test_ten_thousand_updates_leave_the_tables_as_long_as_they_need_to_be(monkeypatch):
    """Names that come and go do not pile up, here or in the page."""
    monkeypatch.setattr("gradviz.widgets.frames.STRINGS", 500)
    recorder = chain(3)
    view = GraphView(recorder, lambda i: None)
    page = told(view)
    ask(view, t="ready", seq=-1)
    for n in range(10_000):
        row = node(4, op="MulBackward0")
        row.label = f"losses[{n}]"
        recorder.put(row)
        view.push()
        page.frames.clear()
    assert page.lost == 0 and page.nodes[4]["label"] == "losses[9999]"
    assert len(page.strings) < 600 and len(view._encoder._index) < 600
    view.close()


def test_a_page_may_try_a_node_where_there_is_somebody_to_run_it(net):
    asked = []
    view = GraphView(net, lambda i: None, lambda content: asked.append(content) or {"rows": []})
    sent = []
    view.send = lambda content, buffers=None: sent.append(content)
    ask(view, t="try", what="check", id=4)
    saved = GraphView(net, lambda i: None)
    saved.send = view.send
    ask(saved, t="try", what="check", id=4)
    assert asked[0]["id"] == 4
    assert sent == [
        {"t": "tried", "what": "check", "id": 4, "rows": []},
        {"t": "tried", "what": "check", "id": 4, "why": "not_live"},
    ]


def test_ten_thousand_updates_leave_no_more_behind_than_two_thousand(monkeypatch):
    # what was removed is remembered for pages that come late, up to this number
    monkeypatch.setattr(recorder_module, "REMOVALS_KEPT", 1_000)
    recorder = Recorder()
    view = GraphView(recorder, lambda i: None)
    view.send = lambda content, buffers=None: None
    ask(view, t="ready", seq=-1)

    def update(first, last):
        for n in range(first, last):
            recorder.put(node(n, op="MulBackward0", label=f"step {n % 500}", place=None))
            recorder.put_edge(Edge(n - 1, n))
            recorder.remove([n - 40])
            view.push()

    tracemalloc.start()
    try:
        update(1, 2_000)
        before = tracemalloc.get_traced_memory()[0]
        update(2_000, 10_000)
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 100_000 and len(recorder.trace.nodes) == 40
    assert len(recorder.trace.edges) <= 41
