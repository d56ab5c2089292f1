"""Each panel reads its source, shows what was saved, pins nothing."""

import gc
import json
import weakref

import numpy as np
import pytest

import gradviz as torch
from gradviz import nn, texts
from tests.doctor.notebook import Notebook


@pytest.fixture
def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))


@pytest.fixture
def optimizer(net):
    return torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)


def train(net, optimizer):
    optimizer.zero_grad()
    loss = (net(torch.ones(16, 4)) ** 2).mean()
    loss.backward()
    optimizer.step()
    return {"loss": loss}


def shown(panel):
    """What the page gets."""
    return json.loads(panel.data)


def again(panel):
    """A panel made from what another one saved, and then closed."""
    made = type(panel)(panel.to_json())
    made.close()
    return made.to_json()


def test_tensor_view_tells_value_gradient_slice_and_where_it_is_not_finite():
    x = torch.randn(3, 4, 5, requires_grad=True)
    (x * x).sum().backward()
    view = torch.TensorView(x, label="x")
    told = shown(view)
    assert told["strides"] == [20, 5, 1] and told["storage_bytes"] == 240
    assert sum(told["value"]["histogram"]["counts"]) == 60
    view.index = [2]
    part = shown(view)["value"]["part"]
    assert np.allclose(part["values"], x[2].tolist())
    assert np.allclose(shown(view)["grad"]["part"]["values"], (2 * x[2]).tolist())
    y = torch.tensor([1.0, float("nan"), float("inf")])
    assert shown(torch.TensorView(y))["value"]["bad"] == [[1], [2]]
    assert again(view) == view.to_json()


def test_tensor_view_compares_and_refuses():
    a, b = torch.ones(3), torch.arange(3.0)
    told = shown(torch.TensorView(a, b))
    assert told["difference"]["part"]["values"] == [1, 0, -1]
    with pytest.raises(ValueError, match="same shape"):
        torch.TensorView(a, torch.ones(2))
    with pytest.raises(TypeError, match="tensor or saved data"):
        torch.TensorView(3)
    with pytest.raises(ValueError, match="'tensor' panel"):
        torch.TensorView({"schema": 1, "panel": "flow"})


def test_a_panel_keeps_no_tensor_alive():
    x = torch.ones(3)
    view, died = torch.TensorView(x), weakref.ref(x)
    bench = torch.HookBench(x=x)
    storage = torch.StorageMap(x=x)
    del x
    gc.collect()
    assert died() is None
    view.refresh()
    assert shown(view)["shape"] == [3]
    for panel in (bench, storage):
        panel.refresh()
        assert panel.lines() == []


def test_flow_records_each_step_of_an_optimizer(net, optimizer):
    flow = torch.GradFlow(net, optimizer)
    train(net, optimizer)
    train(net, optimizer)
    steps = flow.to_json()["steps"]
    layer = steps[-1]["layers"]["0.weight"]
    assert [step["number"] for step in steps] == [1, 2] and set(steps[0]["layers"]) == {
        name for name, _ in net.named_parameters()
    }
    norm = float(np.linalg.norm(net[0].weight.grad.numpy()))
    assert layer["grad"] == pytest.approx(norm, rel=1e-5)
    assert 0 < layer["update"] < 1 and sum(layer["bins"]) <= 32
    assert again(flow) == flow.to_json()
    flow.close()
    train(net, optimizer)
    assert len(flow.to_json()["steps"]) == 2


def test_flow_tells_dead_units_and_nan(net):
    flow = torch.GradFlow(net)
    with torch.no_grad():
        net[0].bias[:] = -100.0
    (net(torch.ones(2, 4)) ** 2).mean().backward()
    flow.record()
    assert flow.to_json()["steps"][-1]["layers"]["0.weight"]["dead"] == 1.0
    net[2].bias.grad[0] = float("nan")
    flow.record()
    assert flow.to_json()["steps"][-1]["layers"]["2.bias"]["nan"] == 1


def test_ledger_measures_a_step(net, optimizer):
    ledger = torch.MemoryLedger()
    with ledger.measure(net, optimizer):
        train(net, optimizer)
        train(net, optimizer)
    told = shown(ledger)["measured"]
    assert [mark["what"] for mark in told["marks"]] == ["forward", "backward", "step"] * 2
    last, peak = told["moments"][-1], told["peak"]
    size = sum(p.numel() * 4 for p in net.parameters())
    assert last["parameters"] == last["gradients"] == last["optimizer"] == size
    assert last["activations"] == 0 < peak["activations"]
    assert peak["activations"] >= sum(one["bytes"] for one in told["saving"]) > 0
    assert {one["name"] for one in told["saving"]} <= {"0", "1", "2"}
    assert not net[0]._forward_hooks and not net[0]._forward_pre_hooks
    assert again(ledger) == ledger.to_json()


def test_ledger_leaves_who_watched_watching(net):
    from gradviz.engine import events

    class Ear(events.Observer):
        heard = 0

        def operation(self, output, inputs):
            Ear.heard += 1

    ear = Ear()
    events.attach(ear)
    try:
        with torch.MemoryLedger().measure(net):
            net(torch.ones(1, 4))
        assert events.door.observer is ear and Ear.heard > 0
    finally:
        events.detach(ear)


def test_cockpit_logs_and_runs(net, optimizer):
    cockpit = torch.Cockpit(lambda: train(net, optimizer))
    cockpit.run(2)
    cockpit.log(loss=1.0, lr=0.5)
    cockpit.event("halved")
    told = cockpit.to_json()
    assert [x for x, _ in told["series"]["loss"]] == [1, 2, 3]
    assert told["series"]["lr"] == [[3, 0.5]] and told["events"] == [{"at": 3, "text": "halved"}]
    cockpit._handle_custom_msg({"t": "ask", "steps": 4}, [])
    assert cockpit.count == 7
    saved = again(cockpit)
    assert saved == cockpit.to_json()
    with pytest.raises(TypeError, match="no step"):
        torch.Cockpit().run()


def test_an_error_of_a_step_asked_for_by_the_page_is_shown():
    def step():
        raise ZeroDivisionError("no")

    cockpit = torch.Cockpit(step)
    cockpit._handle_custom_msg({"t": "ask", "steps": 1}, [])
    assert shown(cockpit)["error"] == "ZeroDivisionError: no"


def test_bench_lists_and_removes_hooks(net):
    calls = []
    net[0].register_forward_hook(lambda *a: calls.append("forward"))
    net[0].weight.register_hook(lambda g: calls.append("weight"))
    y = net(torch.ones(1, 4))
    y.register_hook(lambda g: calls.append("y"))
    bench = torch.HookBench(net, y=y)
    rows = shown(bench)["hooks"]
    assert [(row["owner"], row["kind"]) for row in rows] == [
        ("0", "forward"),
        ("0.weight", "tensor"),
        ("y", "tensor"),
    ]
    bench._handle_custom_msg({"t": "ask", "remove": rows[1]["number"]}, [])
    assert [row["owner"] for row in shown(bench)["hooks"]] == ["0", "y"]
    calls.clear()
    y.sum().backward()
    assert calls == ["y"]
    bench.refresh()
    assert [row["calls"] for row in shown(bench)["hooks"]] == [None, None]  # nobody watches here
    assert again(bench) == bench.to_json()


def test_bench_lists_hooks_of_states_of_steps_and_of_all_modules(net):
    calls = []

    def note(*_):
        calls.append(None)

    everywhere = torch.nn.modules.module.register_module_forward_hook(note)
    optimizer = torch.optim.SGD(net.parameters(), 0.1)
    optimizer.register_step_post_hook(note)
    net.register_state_dict_post_hook(note)
    net[0].register_load_state_dict_pre_hook(note)
    bench = torch.HookBench(net, opt=optimizer, again=net[0])
    try:
        rows = shown(bench)["hooks"]
        assert [(row["owner"], row["kind"]) for row in rows] == [
            ("", "forward"),
            ("Sequential", "state_dict"),
            ("0", "load_state_dict_pre"),
            ("opt", "step"),
            ("again", "load_state_dict_pre"),
        ]
        assert bench.lines()[0].startswith("every module: after forward ")
        for row in reversed(rows[:4]):
            bench.remove(row["number"])
        assert shown(bench)["hooks"] == []
        net(torch.ones(1, 4)), net.load_state_dict(net.state_dict()), optimizer.step()
        assert not calls
    finally:
        everywhere.remove()


def test_storage_map_tells_who_shares():
    w = torch.arange(16.0).reshape(4, 4)
    told = shown(torch.StorageMap(w=w, v=w[1:], t=w.t(), alone=torch.ones(2)))["storages"]
    assert [[view["name"] for view in one["views"]] for one in told] == [["w", "v", "t"], ["alone"]]
    assert told[0]["bytes"] == 64
    assert (told[0]["views"][1]["offset"], told[0]["views"][2]["strides"]) == (4, [1, 4])


def test_tower_differentiates_again_and_again():
    made = torch.DerivativeTower(lambda x: x**3, order=2, low=-2, high=2)
    floors = shown(made)["floors"]
    x = np.array(shown(made)["points"])
    expected = [x**3, 3 * x**2, 6 * x]
    assert all(np.allclose(f["values"], e) for f, e in zip(floors, expected, strict=True))
    made.order = 6
    assert shown(made)["note"] == "constant"
    assert set(shown(made)["floors"][-1]["values"]) == {0.0}
    with pytest.raises(ValueError, match="one number for each"):
        torch.DerivativeTower(lambda x: x.sum())


def test_graph_is_a_widget_of_a_tensor_or_a_trace(net):
    graph = torch.Graph((net(torch.ones(1, 4)) ** 2).mean())
    saved = graph.to_json()
    assert {row["kind"] for row in saved["nodes"]} >= {"operation", "parameter"}
    twin = torch.Graph(saved)
    assert twin.to_json() == saved and len(json.loads(twin.bundle)["nodes"]) == len(saved["nodes"])
    with pytest.raises(TypeError):
        torch.Graph(3)


def test_where_widgets_do_not_run_there_is_text(net, optimizer):
    cockpit = torch.Cockpit(lambda: {"<b>": 1.0})
    cockpit.run()
    data = cockpit._repr_mimebundle_()
    assert data["text/plain"] == "<b>: 1" and "&lt;b&gt;: 1" in data["text/html"]
    ledger = torch.MemoryLedger()
    with ledger.measure(net, optimizer):
        train(net, optimizer)
    for panel in (ledger, torch.TensorView(torch.ones(3)), torch.StorageMap(x=torch.ones(2))):
        assert panel._repr_mimebundle_()["text/plain"].strip()


def test_findings_remember_what_went():
    from tests.traces import finding

    panel = torch.Findings()
    panel._remember([finding()], 3)
    panel._remember([], 5)
    (entry,) = panel._history.values()
    assert (entry["came"], entry["went"]) == (3, 5)


def test_lines_of_panels_are_in_the_language(net):
    w = torch.ones(2, requires_grad=True)
    h = w * 2
    h.retain_grad(), h.register_hook(print), w.register_post_accumulate_grad_hook(print)
    h.grad_fn.register_hook(print), h.grad_fn.register_prehook(print)
    for kind in ("forward", "forward_pre", "full_backward", "full_backward_pre"):
        getattr(net, f"register_{kind}_hook")(print)
    said = {}
    for lang in texts.LANGUAGES:
        texts.set_language(lang)
        panels = (
            torch.HookBench(net, w=w, h=h),
            torch.TensorView(w),
            torch.DerivativeTower(torch.sin),
        )
        said[lang] = [line for panel in panels for line in panel.lines()]
    texts.set_language(None)
    assert said["en"][-1].startswith("f″: graph of ") and said["zh"][-1].endswith("个节点的计算图")
    english = ("minimum", "value", "graph", "forward", "tensor", "order")
    assert not [line for line in said["zh"] if any(word in line for word in english)]


def test_a_tower_is_built_unseen():
    notebook = Notebook()
    try:
        notebook.ns["gradviz"] = torch
        notebook.run("tower = gradviz.DerivativeTower(lambda x: x.sin())")
        assert not notebook.recorder.trace.nodes
    finally:
        notebook.close()


@pytest.mark.parametrize(
    ("panel", "said"),
    [("Cockpit", "a function"), ("GradFlow", "a module"), ("TensorView", "a tensor")],
)
def test_a_panel_of_the_wrong_thing(panel, said):
    with pytest.raises(TypeError, match=f"{said} .*got int"):
        getattr(torch, panel)(3)
