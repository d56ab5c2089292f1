"""PyTorch's own tensors, with nothing loaded before: their graphs, read after the fact."""

import gc
import subprocess
import sys
import weakref

import pytest

import gradviz
from gradviz.sources import reading
from gradviz.sources.graph import reach
from gradviz.sources.torch_nodes import MOST, Mark, WeakNode

torch = pytest.importorskip("torch", reason="compares with PyTorch, which is not installed")


class Double(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        ctx.factor = 2
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * ctx.factor


def rows_of(tensor):
    """The rows of the graph of ``tensor``, by name or class."""
    nodes = gradviz.Graph(tensor).to_json()["nodes"]
    return {row["label"] or row["op"]: row for row in nodes}


def test_a_graph_has_names_shapes_formulas_saved_tensors_and_hooks():
    layer, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
    h = layer(x)
    h.retain_grad()
    h.register_hook(lambda g: g * 1)
    loss = h.tanh().mean()
    rows = rows_of(loss)
    assert rows["layer.weight"]["kind"] == "parameter" and rows["x"]["kind"] == "untracked"
    assert rows["h"]["op"] == "AddmmBackward0" and rows["h"]["shape"] == [4, 2]
    assert rows["h"]["module"] == "layer" and rows["h"]["retains_grad"]
    assert [hook["kind"] for hook in rows["h"]["hooks"]] == ["tensor", "retain_grad"]
    assert [(s["name"], s["label"], s["state"]) for s in rows["h"]["saved"]] == [
        ("mat1", "x", "alive")
    ]
    assert rows["TanhBackward0"]["formula"]["en"] == "g · (1 − result²)"
    assert rows["loss"]["root"] and not rows["h"]["root"]


def test_edges_are_those_of_next_functions():
    a, b = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    first, second = (a * b).split([1, 2])
    out = first.sum() - second.sum()
    told = gradviz.Graph(out).to_json()
    ops = {row["id"]: row["op"] or row["label"] for row in told["nodes"]}
    edges = {(ops[e["source"]], ops[e["target"]], e["output"]) for e in told["edges"]}
    assert ("a", "MulBackward0", 0) in edges and ("b", "MulBackward0", 0) in edges
    assert ("SplitWithSizesBackward0", "SumBackward0", 1) in edges
    ids = [row["id"] for row in told["nodes"] if row["op"]]
    order = {id: fn._sequence_nr() for id, fn in zip(sorted(ids), by_age(out.grad_fn), strict=True)}
    assert sorted(order.values()) == list(order.values())


def by_age(fn):
    found, pending = {}, [fn]
    while pending:
        fn = pending.pop()
        if fn is not None and type(fn).__name__ != "AccumulateGrad" and id(fn) not in found:
            found[id(fn)] = fn
            pending += [below for below, _ in fn.next_functions]
    return sorted(found.values(), key=lambda fn: fn._sequence_nr())


def test_what_backward_freed_is_shown_as_freed():
    w = torch.ones(3, requires_grad=True)
    y = w.exp()
    loss = Double.apply(y).sum()
    assert not rows_of(loss)["y"]["freed"]
    loss.backward()
    rows = rows_of(loss)
    assert rows["y"]["freed"] and rows["DoubleBackward"]["freed"]
    assert [one["state"] for one in rows["y"]["saved"]] == ["freed"]
    assert rows["w"]["grad_norm"] == pytest.approx(w.grad.norm().item())


def test_versions_of_a_saved_tensor_that_was_changed_in_place():
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    out = y * y.exp()
    y.detach().add_(1)
    found = {name: (at, now) for name, _, at, now, _ in reading.saved(reading.node_of(out))}
    assert found["self"] == (0, 1)
    with pytest.raises(RuntimeError, match="version 1; expected version 0"):
        out.sum().backward()


def strange():
    """Tensors that are hard to read, by name."""
    w = torch.nn.Parameter(torch.randn(2, 3))
    x = torch.randn(4, 3)
    yield "sparse", torch.sparse.mm(w.to_sparse(), torch.randn(3, 2)).sum()
    yield "bfloat16", w.bfloat16().exp().sum()
    yield "complex", w.to(torch.cfloat).mul(1j).abs().sum()
    yield "conjugate", w.to(torch.cfloat).conj().real.sum()
    yield "custom", Double.apply(w).sum()
    for reentrant in (False, True):
        made = torch.utils.checkpoint.checkpoint(torch.sin, w, use_reentrant=reentrant)
        yield f"checkpoint {reentrant}", made.sum()
    written = torch.zeros(3, 2)
    written[0] = w[0, :2].sum()
    yield "written into", written * 2
    yield "transformed", torch.func.grad(lambda v: (v**2).sum())(w)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield "autocast", torch.nn.functional.linear(x, w).sum()
    with torch.autograd.graph.save_on_cpu():
        yield "hooked", w.exp().sum()
    yield "meta", torch.nn.Linear(3, 2, device="meta")(x.to("meta")).sum()
    yield "recurrent", torch.nn.LSTM(3, 4)(torch.randn(5, 1, 3))[0].sum()
    with torch.no_grad():
        stale = torch.zeros(6, requires_grad=True).view(3, 2)
        stale.mul_(2)
    yield "stale view", stale
    with torch.inference_mode():
        yield "inference", w * 2
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True)
    yield "nested", (nested * 2).unbind()[0].sum()


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_strange_tensors_are_shown_and_explained_before_and_after_backward(capsys, tmp_path):
    for name, tensor in strange():
        gradviz.show(tensor)
        assert gradviz.explain(tensor).reason, name
        gradviz.export_html(tmp_path / "page.html", tensor)
        if name not in ("meta", "inference", "stale view"):
            tensor.sum().backward()
            gradviz.show(tensor)
    assert capsys.readouterr().out.count("gradviz: ") >= 25


def test_arguments_that_a_node_keeps_are_told():
    w = torch.ones(2, 3, requires_grad=True)
    out = w.pow(3).logsumexp(1, keepdim=True).transpose(0, 1)
    told = {
        row["op"]: row["formula"]["en"]
        for row in gradviz.Graph(out).to_json()["nodes"]
        if row["op"]
    }
    assert told["PowBackward0"].endswith("(exponent = 3)")
    assert told["LogsumexpBackward0"].endswith("(dim = (1,), keepdim = True)")
    assert told["TransposeBackward0"].endswith("(dim0 = 0, dim1 = 1)")


def test_a_node_that_stands_for_many_says_so():
    w = torch.ones(3, requires_grad=True)
    made = torch.utils.checkpoint.checkpoint(torch.sin, w, use_reentrant=True)
    told = rows_of(made.sum())["made"]["formula"]
    assert told["en"].startswith("a checkpoint") and told["zh"].startswith("检查点")


def test_reading_leaves_values_versions_and_gradients_as_they_were():
    w = torch.randn(3, requires_grad=True)
    y = w.exp()
    loss = (y * y).sum()
    before = w._version, y._version, w.clone(), loss.item()
    gradviz.Graph(loss), gradviz.explain(w)
    assert (w._version, y._version) == before[:2] and torch.equal(w, before[2])
    loss.backward()
    assert torch.equal(w.grad, (2 * y * y).detach()) and loss.item() == before[3]


def test_reading_keeps_nothing_alive():
    w = torch.ones(3, requires_grad=True)
    loss = (w * 2).exp().sum()
    top = reading.node_of(loss)
    refs = [WeakNode(node.mark) for node in reach([top]).nodes.values()]
    del top
    picture = gradviz.Graph(loss)
    assert [ref() is not None for ref in refs] == [True] * 3
    gone = weakref.ref(loss)
    del loss
    gc.collect()
    assert gone() is None and [ref() for ref in refs] == [None] * 3
    assert picture.to_json()["nodes"]


def test_a_node_is_found_again_through_what_lies_above_it():
    w = torch.ones(3, requires_grad=True)
    loss = (w * 2).exp().sum()
    ref = WeakNode(reading.inputs(reading.node_of(loss))[0][0].mark)
    assert ref().name() == "ExpBackward0" and ref().fn is loss.grad_fn.next_functions[0][0]
    held = loss.grad_fn
    del loss
    assert ref() is not None and held is not None


def test_names_of_the_holders_of_a_graph():
    w = torch.ones(3, requires_grad=True)
    y = w * 2
    history = [y.sum()]
    assert gradviz.why_alive(y).paths == ["y", "history[0]"]
    with pytest.raises(AssertionError):
        gradviz.assert_grad_flows(w, torch.ones(3))
    gradviz.assert_grad_flows(w, history[0])


DEEP = """
import torch, gradviz
from gradviz.sources import reading
from gradviz.sources.graph import reach
from gradviz.sources.torch_nodes import MOST
x = torch.ones(2, requires_grad=True)
for _ in range(2):
    y = x
    for _ in range(60_000):
        y = y * 1.0
    print(len(reach([reading.node_of(y)]).nodes) <= MOST)
del y
print("freed")
"""


def test_a_very_deep_graph_is_looked_into_only_so_far_that_it_can_be_freed():
    ended = subprocess.run([sys.executable, "-c", DEEP], capture_output=True, text=True)
    assert ended.returncode == 0 and ended.stdout.split() == ["True"] * 2 + ["freed"], ended.stderr


def test_marks_are_counted():
    before, w = Mark.alive, torch.ones(2, requires_grad=True)
    y = w * 2 + 1
    reach([reading.node_of(y)])
    assert Mark.alive == before + 2 < MOST
    del y
    assert Mark.alive == before


def test_norms_of_gradients_are_told(capsys):
    net = torch.nn.Linear(2, 1)
    assert gradviz.check_gradients(net).odd == {"weight": "none", "bias": "none"}
    net(torch.ones(1, 2)).sum().backward()
    found = gradviz.check_gradients(net, 3)
    assert found.norms == pytest.approx({"weight": 2**0.5, "bias": 1.0})
    assert "[step 3]" in capsys.readouterr().out
