"""The engine as a source: what each node tells, which graph is shown, and that nothing is kept or
disturbed.
"""

import gc
import math
import threading
import time
import weakref
from types import SimpleNamespace

import numpy as np
import pytest

from gradviz.engine import events
from gradviz.sources import picture
from gradviz.sources.engine import LIVE, EngineSource
from gradviz.sources.flow import Flow
from gradviz.watch.recorder import Recorder

FIRST = """x = torch.tensor([1.0, 2.0]); w = torch.tensor([3.0, 4.0], requires_grad=True)
h = x * w
loss = h.sum()"""


def by_label(book):
    return {node.label: node for node in book.recorder.trace.nodes.values() if node.label}


def sources_of(book, id):
    return {
        edge.slot: edge.source for edge in book.recorder.trace.edges.values() if edge.target == id
    }


# -- rows ------------------------------------------------------------------------
def test_every_kind_of_node(book):
    book.run(FIRST)
    found = by_label(book)
    assert {label: node.kind for label, node in found.items()} == {
        "x": "untracked",
        "w": "leaf",
        "h": "operation",
        "loss": "operation",
    }
    assert found["h"].op == "MulBackward0" and found["h"].formula
    assert found["h"].shape == (2,) and found["h"].dtype == "float32" and found["h"].bytes == 8
    assert found["w"].requires_grad and found["w"].is_leaf and not found["h"].is_leaf
    assert [node.label for node in book.recorder.trace.nodes.values() if node.root] == ["loss"]
    assert sources_of(book, found["h"].id) == {0: found["x"].id, 1: found["w"].id}
    assert sources_of(book, found["loss"].id) == {0: found["h"].id}


def test_places_and_saved_tensors(book):
    book.run(FIRST)
    found = by_label(book)
    assert (found["h"].place.cell, found["h"].place.line, found["h"].place.code) == (
        2,
        2,
        "h = x * w",
    )
    assert (found["w"].place.cell, found["w"].place.line) == (2, 1)
    saved = {one.label: one for one in found["h"].saved}
    assert saved["x"].state == "alive" and saved["x"].bytes == 8
    book.run("loss.backward()")
    assert {one.state for one in by_label(book)["h"].saved} == {"freed"}
    assert by_label(book)["h"].freed


def test_saved_tensors_say_which_node_they_are_of(book):
    book.run(
        "x = torch.tensor([1.0, 2.0]); w = torch.tensor([3.0, 4.0], requires_grad=True)\n"
        "h = x * w\ns = h.sigmoid() * h\n"
        "class Double(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, a):\n"
        "        b = a * 2\n"
        "        ctx.save_for_backward(a, b)\n"
        "        return b\n"
        "    @staticmethod\n"
        "    def backward(ctx, g):\n"
        "        return 2 * g\n"
        "d = Double.apply(s)\nloss = d.prod()"
    )
    found = by_label(book)
    rows = book.recorder.trace.nodes

    def told(id):
        return {one.name: one.source for one in rows[id].saved}

    assert list(told(found["h"].id).values()) == [found["x"].id]  # only w needs a gradient
    sigmoid = sources_of(book, found["s"].id)[0]
    assert rows[sigmoid].op == "SigmoidBackward0" and told(sigmoid) == {"result": sigmoid}
    assert set(told(found["s"].id).values()) == {sigmoid, found["h"].id}
    assert list(told(found["d"].id).values()) == [found["s"].id, found["d"].id]
    assert found["d"].id in told(found["loss"].id).values()
    before = {id: told(id) for id in (found["h"].id, sigmoid, found["s"].id)}
    book.run("loss.backward()")
    assert {id: told(id) for id in before} == before


def test_changes_in_place_are_told_and_marked(book):
    book.run(
        "x = torch.ones(3, requires_grad=True)\ny = x * 2\ny.mul_(3)\ns = y.sin()\ny[0] = 5\n"
        "z = y.view(3)\nz.add_(1)\nt = y * 2\nwith torch.no_grad():\n    x.add_(1)\n    y.add_(1)"
    )
    rows = book.recorder.trace.nodes.values()
    marked = [(row.op.split("::")[-1], row.place.line) for row in rows if row.inplace]
    assert sorted(marked, key=lambda one: one[1]) == [
        ("MulBackward0", 3),
        ("CopySlices", 5),
        ("CopySlices", 7),
    ]
    found = book.source.detail(by_label(book)["y"].id)
    told = [(one.version, one.place.line) for one in found.changes]
    assert told == [(1, 3), (2, 5), (3, 7), (4, 11)]
    assert book.source.detail(by_label(book)["x"].id).changes[0].place.code == "x.add_(1)"
    assert book.source.detail(by_label(book)["t"].id).changes == []


def test_gradients_appear_at_once(book):
    book.run(FIRST)
    assert by_label(book)["w"].grad_norm is None
    book.run("loss.backward()")
    assert by_label(book)["w"].grad_norm == pytest.approx(5**0.5)
    detail = book.source.detail(by_label(book)["w"].id)
    assert (
        detail.grad.values == [1.0, 2.0]
        and detail.grad_state == "present"
        and detail.holders == ["w"]
    )
    assert book.source.detail(by_label(book)["h"].id).grad_state == "none_nonleaf"
    assert by_label(book)["x"].kind == "untracked"


def test_a_leaf_tells_which_lines_added_to_its_gradient(book):
    book.run(FIRST)
    again = "for _ in range(3):\n    (w * 2).sum().backward()\n(w * w).sum().backward()"
    book.run(again)
    id = by_label(book)["w"].id

    def told():
        return [(one.place.line, one.count) for one in book.source.detail(id).added]

    assert told() == [(2, 3), (3, 1)]
    book.run("w.grad.zero_()")
    assert told() == []
    book.run("w.grad = None\n(w * 5).sum().backward()")
    assert told() == [(2, 1)]
    book.run("w.grad = None")
    assert told() == []


def test_hooks_versions_and_retained_gradients(book):
    book.run(FIRST)
    book.run(
        "h.retain_grad()\nh.register_hook(print)\nw.data[0] = 1.0\nwith torch.no_grad(): w.mul_(2)"
    )
    found = by_label(book)
    assert found["h"].retains_grad and {hook.kind for hook in found["h"].hooks} == {
        "tensor",
        "retain_grad",
    }
    assert [hook.place.line for hook in found["h"].hooks if hook.kind == "tensor"] == [2]
    assert found["w"].version == 1


def test_hooks_of_a_module_are_on_what_it_gave(book):
    book.run(
        "def look(*_): pass\nnet = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())\n"
        "net[1].register_forward_hook(look)\nhandle = net.register_forward_pre_hook(look)\n"
        "h = net(torch.ones(1, 2))\ny = h.sum()"
    )
    rows = by_label(book)
    assert [(hook.kind, hook.owner, hook.name) for hook in rows["h"].hooks] == [
        ("forward", "ReLU", "look"),
        ("forward_pre", "Sequential", "look"),
    ]
    assert [hook.place.line for hook in rows["h"].hooks] == [3, 4]
    assert not rows["y"].hooks
    book.run("handle.remove()\nh = net(torch.ones(1, 2))")
    assert [hook.owner for hook in by_label(book)["h"].hooks] == ["ReLU"]


def test_hooks_tell_how_often_they_were_called_and_what_they_changed(book):
    book.run(FIRST)
    book.run(
        "same = lambda grad: None\n"
        "h.grad_fn.register_prehook(lambda grads: (grads[0] * 3,))\n"
        "h.register_hook(same)\nh.register_hook(lambda grad: grad * 2)\n"
        "w.register_post_accumulate_grad_hook(lambda leaf: None)\nw.register_hook(same)\n"
        "h.grad_fn.register_hook(lambda inputs, outputs: None)\nh.retain_grad()"
    )
    assert [hook.calls for hook in by_label(book)["h"].hooks] == [0, 0, 0, 0, None]
    book.run("loss.backward(retain_graph=True)\nloss.backward()")
    hooks = by_label(book)["h"].hooks
    assert [hook.kind for hook in hooks] == ["tensor", "tensor", "pre", "post", "retain_grad"]
    assert [hook.calls for hook in hooks] == [2, 2, 2, 2, None]
    length = math.sqrt(2)
    wanted = [(None, None), (length, 2 * length), (2 * length, 6 * length), (None, None)]
    for hook, (before, after) in zip(hooks, wanted, strict=False):
        assert (hook.before, hook.after) == (
            before if before is None else pytest.approx(before),
            after if after is None else pytest.approx(after),
        )
    assert [(hook.kind, hook.calls) for hook in by_label(book)["w"].hooks] == [
        ("tensor", 2),
        ("post_accumulate", 2),
    ]


def test_modules_name_their_parameters(book):
    book.run(
        "net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Linear(3, 1))\n"
        "out = net(torch.ones(4, 2)).mean()"
    )
    found = by_label(book)
    assert found["net[0].weight"].kind == "parameter"
    assert {node.module for node in book.recorder.trace.nodes.values()} >= {"net[0]", "net[1]"}


def test_calls_lead_to_the_cell(book):
    book.run("def f(a):\n    return a.exp()\nw = torch.ones(2, requires_grad=True)\ny = f(w)")
    node = by_label(book)["y"]
    assert (node.place.line, node.place.function) == (2, "f") and [
        place.line for place in node.calls
    ] == [4]


def test_names_are_data(book):
    book.ns["<img src=x>"] = None
    book.run("w = torch.ones(2, requires_grad=True); d = {'</script><b>': w * 2}\ndel w")
    assert "d['</script><b>']" in by_label(book)


# -- which graph ---------------------------------------------------------------------
def test_the_newest_graph_replaces_the_old(book):
    book.run(FIRST)
    book.run("z = w.exp().sum()")
    assert set(by_label(book)) == {"w", "z"}


def test_a_cell_without_graph_leaves_the_view_alone(book):
    book.run(FIRST)
    seq = book.recorder.seq
    before = set(book.recorder.trace.nodes)
    book.run("a = 1")
    assert set(book.recorder.trace.nodes) == before
    assert book.recorder.delta(seq).nodes == []


def test_a_graph_that_died_is_shown_grey(book):
    book.run(
        "w = torch.ones(3, requires_grad=True)\ndef step():\n    (w * 2).sum().backward()\nstep()"
    )
    nodes = book.recorder.trace.nodes.values()
    operations = [node for node in nodes if node.kind == "operation"]
    assert len(operations) == 2 and all(node.freed and not node.alive for node in operations)
    assert by_label(book)["w"].alive and by_label(book)["w"].grad_norm > 0


def test_a_deep_chain_is_cut_and_says_so(book):
    book.run("w = torch.ones(2, requires_grad=True); y = w\nfor _ in range(7000): y = y * 1.0")
    trace = book.recorder.trace
    assert trace.total == 7001 and len(trace.nodes) <= picture.SHOWN + 1 and trace.note
    assert max(trace.nodes) in trace.nodes and trace.nodes[max(i for i in trace.nodes)].label in (
        "y",
        "w",
    )


def test_a_failed_cell_still_shows_its_graph(book):
    book.run("w = torch.ones(2, requires_grad=True)\ny = w * 2\nraise ValueError('no')")
    assert isinstance(book.error, ValueError) and "y" in by_label(book)


def test_enter_puts_another_graph_beside(book):
    book.run(FIRST)
    book.run("z = w.exp()")
    id = book.source.enter(book.ns["loss"])
    assert book.recorder.trace.nodes[id].op == "SumBackward0"
    leaf = book.source.enter(book.ns["w"])
    assert book.recorder.trace.nodes[leaf].label == "w"


# -- while a cell runs ------------------------------------------------------------------
def test_the_graph_grows_while_the_cell_runs(book):
    sizes = []

    def watch():
        while len(sizes) < 400 and not done.is_set():
            book.source.drain(0.01)
            sizes.append(len(book.recorder.trace.nodes))
            time.sleep(0.005)

    done = threading.Event()
    thread = threading.Thread(target=watch)
    book.ns["pause"] = lambda: time.sleep(0.004)
    thread.start()
    try:
        book.run(
            "w = torch.ones(2, requires_grad=True); y = w\n"
            "for _ in range(60):\n    y = y * w\n    pause()"
        )
    finally:
        done.set()
        thread.join()
    assert len(set(sizes)) > 5 and len(book.recorder.trace.nodes) == 61


def test_drain_keeps_its_budget(book):
    book.recorder.begin_cell(9, None, "")
    torch = book.ns["torch"]
    y = w = torch.ones(2, requires_grad=True)
    for _ in range(4000):
        y = y * w
    assert book.source.drain(0.0) is False
    while not book.source.drain(0.01):
        pass
    assert len(book.recorder.trace.nodes) == LIVE


# -- gradients along edges -------------------------------------------------------------------
def test_the_norm_of_what_flowed_stands_on_each_edge(book):
    book.run("x = torch.ones(2); w = torch.ones(2, requires_grad=True)")
    book.run("h = x * w; loss = h.sum(); loss.backward()")
    norms = {
        edge.target: edge.grad_norm
        for edge in book.recorder.trace.edges.values()
        if edge.grad_norm is not None
    }
    assert norms[by_label(book)["loss"].id] == pytest.approx(2**0.5)


def test_measuring_stops_when_its_time_is_spent():
    flow = Flow()
    flow.share = 0.0
    node = SimpleNamespace(seq=1)
    assert flow.begin()
    while flow.begin():
        flow.left(node, (np.ones(1_000_000, np.float32), None))
    assert flow.norms == {(1, 0): pytest.approx(1000.0)}
    assert not flow.begin()
    flow.share = 1.0
    flow._then -= 10
    assert flow.begin()


def test_unusual_gradients_are_measured_too():
    flow = Flow()
    flow.begin()
    infinite = np.array([np.inf, 1.0])
    flow.left(SimpleNamespace(seq=1), (infinite, np.ones((2, 2))[:, 0], np.array(3 + 4j)))
    assert flow.norms[1, 0] == np.inf
    assert flow.norms[1, 1] == pytest.approx(2**0.5)
    assert flow.norms[1, 2] == pytest.approx(5.0)


# -- what has no gradient -------------------------------------------------------------------------
def test_untracked_inputs_stay_in_the_picture_after_backward(book):
    book.run("x = torch.ones(2); w = torch.ones(2, requires_grad=True)")
    book.run("loss = ((x * w * 1.5) - torch.zeros(2)).sum(); loss.backward()")
    rows = [row for row in book.recorder.trace.nodes.values() if row.kind == "untracked"]
    assert sorted((row.label, row.shape) for row in rows) == [("", (2,)), ("x", (2,))]


def test_a_detached_input_says_where_it_was_cut(book):
    book.run("w = torch.ones(2, requires_grad=True)")
    book.run("h = (w * 2).detach()\nloss = (w * h).sum()")
    row = by_label(book)["h"]
    assert (row.kind, row.cut, row.place.line) == ("untracked", "detach", 1)


# -- it keeps nothing and disturbs nothing ------------------------------------------------------
def test_nothing_is_kept_alive(book):
    book.run(
        "w = torch.ones(1000, requires_grad=True); h = w.exp(); loss = h.sum(); loss.backward()"
    )
    refs = [weakref.ref(book.ns[name]) for name in ("w", "h", "loss")] + [
        weakref.ref(book.ns["loss"].grad_fn)
    ]
    gc.disable()
    try:
        book.run("del w, h, loss")
        assert [ref() for ref in refs] == [None] * 4
    finally:
        gc.enable()


def test_off_means_off():
    source = EngineSource(Recorder(), lambda _: None)
    source.attach()
    with pytest.raises(RuntimeError):
        EngineSource(Recorder(), lambda _: None).attach()
    source.detach()
    assert events.door.observer is None
    source.detach()


def test_the_watcher_never_raises_into_the_program(book):
    book.source.watcher.ledger = None
    torch = book.ns["torch"]
    w = torch.ones(2, requires_grad=True)
    (w * 2).sum().backward()
    w.detach().mul_(3)
    assert w.grad.tolist() == [2.0, 2.0]
    assert book.source.watcher.errors
    book.source.watcher.errors.clear()


def test_reading_a_stale_view_does_not_trip(book):
    book.run(
        "net = torch.nn.Linear(2, 2)\nwith torch.no_grad():\n    row = net.weight[0]\n"
        "    row += 1.0\n"
        "out = net(torch.ones(1, 2)).sum()"
    )
    assert book.error is None and "out" in by_label(book)


def test_an_interrupt_in_a_backward(book):
    book.run(
        "w = torch.ones(2, requires_grad=True); y = (w * 2).exp().sum()\n"
        "def stop(g): raise KeyboardInterrupt\nw.register_hook(stop)\ny.backward()"
    )
    assert isinstance(book.error, KeyboardInterrupt)
    assert (
        book.source.ledger.current is None
        and book.source.ledger.sweeps[-1].error_type == "KeyboardInterrupt"
    )
    book.run("z = w.exp()")
    assert "z" in by_label(book)


def test_accounts(book):
    book.run("w = torch.ones(100, requires_grad=True); y = w.exp(); z = y.sum()")
    nothing = dict.fromkeys(("gradients", "retained", "optimizer", "kept_buffers", "kept"), 0)
    held = book.recorder.trace.cells[-1].bytes
    assert held == nothing | {"parameters": 400, "saved": 400, "others": 4}
    book.run("y.retain_grad(); z.backward(retain_graph=True)")
    held = book.recorder.trace.cells[-1].bytes
    assert held["gradients"] == 800 and held["retained"] == 400
    assert held["saved"] == held["kept_buffers"] == 400
    book.run("o = torch.optim.Adam([w]); o.step(); z.backward()")
    held = book.recorder.trace.cells[-1].bytes
    assert held["saved"] == 0 and 800 <= held["optimizer"] <= 820
    assert book.recorder.trace.overhead["ms"] > 0


def test_every_result_that_the_cell_named_is_in_the_picture(book):
    book.run("a = torch.ones(2, requires_grad=True); b = torch.ones(2, requires_grad=True)")
    book.run("first = (a * 2).sum()\nsecond = (b * 3).mean()")
    rows = by_label(book)
    assert {"a", "b", "first", "second"} <= set(rows)
    assert rows["first"].root and rows["second"].root


def test_nodes_of_an_earlier_watcher_have_no_line_rather_than_a_wrong_one(book):
    book.run("x = torch.ones(2, requires_grad=True)\n\n\ny = x.exp().sum()")
    book.source.detach()
    later = EngineSource(Recorder(), book.cells.get)
    book.source, book.recorder = later, later.recorder
    later.attach()
    book.run("a = x * 2\nb = a * 3\nc = b.sum()")
    assert by_label(book)["b"].place.line == 2
    later.enter(book.ns["y"])
    old = later.recorder.trace.nodes[events.node_of(book.ns["y"]).seq]
    assert old.place is None and not later.watcher.errors


def test_gradients_that_are_not_numbers_are_there(book):
    book.source.want_norms = True
    book.run(
        "n = torch.tensor([float('nan'), 1.0], requires_grad=True)\nm = (n * n).sum()\nm.backward()"
    )
    rows = by_label(book)
    assert math.isnan(rows["n"].grad_norm)
    detail = book.source.detail(rows["n"].id)
    assert math.isnan(detail.grad.norm) and detail.grad_state == "present"
    flowed = [edge.grad_norm for edge in book.recorder.trace.edges.values()]
    assert flowed and None not in flowed and any(math.isnan(norm) for norm in flowed)
    assert math.isnan(book.source.detail(rows["m"].id).value.values)


def test_an_operation_is_held_by_the_name_whose_graph_reaches_it(book):
    book.run("w = torch.ones(3, requires_grad=True)\nkept = [w.exp().mul(2).sum()]")
    book.run("loss = kept[0] + 1\nother = w.sin()")
    nodes = book.recorder.trace.nodes.values()
    inner = next(node for node in nodes if node.op == "ExpBackward0")
    assert book.source.detail(inner.id).holders == ["loss"]
    book.run("del loss")
    assert book.source.detail(inner.id).holders == ["kept[0]"]


def test_the_second_graph_names_the_nodes_whose_backward_made_it(book):
    book.run("x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = (x.sin() * x).sum()")
    book.run("y.backward(create_graph=True)\nz = y * 1")
    nodes = book.recorder.trace.nodes
    pairs = {(n.op, nodes[n.creator].op) for n in nodes.values() if n.creator is not None}
    assert {("CosBackward0", "SinBackward0"), ("MulBackward0", "MulBackward0")} <= pairs
    assert by_label(book)["z"].creator is None


def test_a_node_tells_what_it_keeps(book):
    book.run("w = torch.ones(250, requires_grad=True)\nh = w.exp()\nloss = h.exp().sum()")
    found = by_label(book)
    assert book.source.weigh(found["h"].id) == {"nodes": 1, "bytes": 1000}
    assert book.source.weigh(found["loss"].id) == {"nodes": 3, "bytes": 2000}
    assert book.source.weigh(found["w"].id) is None


def test_what_lives_after_a_sweep_is_not_grey_and_the_rest_is_counted(book):
    book.run("x = torch.ones(2, requires_grad=True); y = x\nfor _ in range(500): y = y * 1.001")
    book.run("y.sum().backward()")
    trace, rows = book.recorder.trace, by_label(book)
    assert rows["y"].alive and trace.total == 502 > len(trace.nodes) and trace.note
    assert [node.op for node in trace.nodes.values() if not node.alive] == ["SumBackward0"]


def test_a_context_that_holds_its_output_is_remembered_when_it_was_collected(book):
    book.run("""class Keep(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.y = x.exp()
        return ctx.y

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.y""")
    book.run("Keep.apply(torch.ones(2, requires_grad=True)).sum().item()\nimport gc\ngc.collect()")
    assert [name for _, name in book.source.watcher.contexts] == ["y"]


def test_what_a_cell_leaves_of_the_picture_is_counted_as_it_is(book):
    book.ns["tick"] = lambda: book.source.drain(1.0)
    trace = book.recorder.trace

    def shown(text):
        book.run(text)
        return len(trace.nodes), trace.status()["total"]

    chain = shown("w = torch.ones(2, requires_grad=True)\ny = w\nfor _ in range(6000): y = y * 1.0")
    assert chain == (5000, 6001)
    assert shown("(w * w).sum()\ntick()\nNone") == chain  # nothing was alive to be shown
    assert shown("z = w * 2\ntick()\ndel z") == (2, 2)  # a ghost and its leaf
    assert trace.note == ""


def test_an_input_that_was_not_given_has_no_place(book):
    book.run("w = torch.ones(1, 1, 2, requires_grad=True)\nx = torch.ones(1, 1, 3)")
    book.run("y = torch.nn.functional.conv1d(x, w)")
    assert book.error is None
    assert by_label(book)["y"].op == "ConvolutionBackward0"
