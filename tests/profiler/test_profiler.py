"""The profiler: what it sees, its rounds, its table and its trace."""

import gzip
import importlib.util
import json

import pytest

import gradviz as torch
from gradviz import nn, profiler
from gradviz.engine import events
from gradviz.profiler import ProfilerAction, profile, record_function, schedule
from gradviz.utils.data import DataLoader

HAVE_TORCH = importlib.util.find_spec("torch") is not None
EVALUATE = "autograd::engine::evaluate_function: "


def train(steps=1, prof=None):
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in DataLoader(torch.ones(4 * steps, 3), 4):
        with record_function("forward"):
            loss = model(x).relu().sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        if prof is not None:
            prof.step()


def test_everything_has_its_row():
    with profile(record_shapes=True, profile_memory=True) as prof:
        train()
    rows = {e.key: e for e in prof.key_averages()}
    assert rows["aten::addmm"].count == rows["aten::relu"].count == 1
    assert rows["aten::item"].count == 2  # the loader's seed and the loss
    for node in ("AddmmBackward0", "ReluBackward0", "SumBackward0"):
        assert rows[EVALUATE + node].count == 1
    assert rows[EVALUATE + "torch::autograd::AccumulateGrad"].count == 2
    for block in (
        "forward",
        "Optimizer.step#SGD.step",
        "Optimizer.zero_grad#SGD.zero_grad",
        "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
    ):
        assert rows[block].count >= 1
    assert rows["aten::relu"].cpu_memory_usage == 4 * 2 * 4
    (relu,) = [e for e in prof.events() if e.name == "aten::relu"]
    assert relu.input_shapes == [[4, 2]]
    assert events.door.observer is None


def test_a_block_holds_what_ran_in_it():
    with profile() as prof:
        train()
    (forward,) = [e for e in prof.events() if e.name == "forward"]
    inside = [e for e in prof.events() if e.parent == forward.id]
    assert [e.name for e in inside] == ["aten::t", "aten::addmm", "aten::relu", "aten::sum"]
    assert forward.self_cpu_time_total <= forward.cpu_time_total
    total = prof.key_averages().self_cpu_time_total
    assert total == pytest.approx(sum(e.self_cpu_time_total for e in prof.events()))


def test_rounds_are_recorded_as_planned():
    rounds = []

    def ready(prof):
        names = [e.name for e in prof.events() if e.name.startswith("ProfilerStep")]
        rounds.append((names, prof.step_num))

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=plan, on_trace_ready=ready) as prof:
        train(9, prof)
    assert rounds == [
        (["ProfilerStep#2", "ProfilerStep#3"], 4),
        (["ProfilerStep#6", "ProfilerStep#7"], 8),
    ]


@pytest.mark.skipif(not HAVE_TORCH, reason="needs PyTorch to compare with")
def test_plans_are_those_of_pytorch():
    from torch.profiler import schedule as theirs

    for options in (
        {"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 3},
        {"wait": 0, "warmup": 2, "active": 1},
        {"wait": 2, "warmup": 0, "active": 3, "repeat": 1},
    ):
        ours, other = schedule(**options), theirs(**options)
        assert [ours(k).name for k in range(20)] == [other(k).name for k in range(20)]
    with pytest.raises(AssertionError, match="Invalid profiler schedule arguments. Got wait=-1"):
        schedule(wait=-1, warmup=0, active=1)


def test_the_table():
    with profile() as prof:
        train()
    text = prof.key_averages().table(sort_by="cpu_time_total", row_limit=3)
    lines = text.splitlines()
    assert lines[1].split("  ")[-2].strip() == "# of Calls" and "Self CPU %" in lines[1]
    assert len(lines) == 3 + 3 + 2 and lines[-1].startswith("Self CPU time total: ")
    with pytest.raises(AttributeError, match="nope"):
        prof.key_averages().table(sort_by="nope")


def test_the_trace_links_forward_and_backward(tmp_path):
    with profile(record_shapes=True) as prof:
        train()
    prof.export_chrome_trace(tmp_path / "trace.json.gz")
    with gzip.open(tmp_path / "trace.json.gz", "rt") as file:
        rows = json.load(file)["traceEvents"]
    kinds = {row["cat"] for row in rows}
    assert {"cpu_op", "backward", "accumulate", "user_annotation", "fwdbwd"} <= kinds
    by_name = {row["name"]: row for row in rows if row["ph"] == "X"}
    there = by_name["aten::relu"]["args"]["Sequence number"]
    assert by_name[EVALUATE + "ReluBackward0"]["args"]["Sequence number"] == there
    assert sorted(r["ph"] for r in rows if r.get("id") == there) == ["f", "s"]


def test_collectives_and_failures_are_seen():
    import gradviz.distributed as dist

    dist.init_process_group()
    try:
        with profile() as prof:
            dist.all_reduce(torch.ones(2))
            x = torch.ones(2, requires_grad=True)
            y = (x * x).sum()
            y.backward()
            with pytest.raises(RuntimeError):
                y.backward()
    finally:
        dist.destroy_process_group()
    rows = {e.key: e.count for e in prof.key_averages()}
    assert rows["gradviz::all_reduce"] == 1 and rows["aten::mul"] == 1


def test_who_watched_before_goes_on_watching():
    class Other(events.Observer):
        seen = 0

        def operation(self, output, inputs):
            self.seen += 1

    other = Other()
    events.attach(other)
    try:
        with profile() as prof:
            torch.ones(1, requires_grad=True).exp()
        assert other.seen == 1 and events.door.observer is other
        assert [e.name for e in prof.events()] == ["aten::exp"]
    finally:
        events.detach(other)


def test_traces_in_a_folder(tmp_path):
    handler = profiler.tensorboard_trace_handler(tmp_path / "log", "me")
    with profile(on_trace_ready=handler):
        train()
    (file,) = (tmp_path / "log").iterdir()
    assert file.name.startswith("me.") and json.loads(file.read_text())["traceEvents"]
    assert ProfilerAction.RECORD_AND_SAVE.value == 3


@pytest.mark.parametrize("mode", [torch.no_grad, torch.inference_mode, torch.enable_grad])
def test_untracked_operations_are_seen(mode):
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
    model.requires_grad_(False)
    x = torch.rand(2, 1, 6, 6)
    with mode(), profile(record_shapes=True, profile_memory=True) as prof:
        out = model(x)
        out.add_(1).argmax(1)
        (out > 1).nonzero()
        out.long()
    names = [e.name for e in prof.events()]
    assert names == [
        "aten::convolution",
        "aten::relu",
        "aten::max_pool2d_with_indices",
        "aten::view",
        "aten::add_",
        "aten::argmax",
        "aten::gt",
        "aten::nonzero",
        "aten::to_copy",
    ]
    memory = {e.name: e.cpu_memory_usage for e in prof.events()}
    assert memory["aten::relu"] == 4 * 2 * 2 * 4 * 4
    assert memory["aten::view"] == memory["aten::add_"] == 0
    assert prof.events()[0].input_shapes == [[2, 1, 6, 6], [2, 1, 3, 3], [2]]


def test_profiling_changes_no_graph():
    def graph():
        w = torch.ones(2, requires_grad=True)
        y = torch.ones(2, dtype=torch.float64)
        loss = ((w * y).sin_() @ y.to(torch.float32).double()).sum()
        found, stack = [], [loss.grad_fn]
        while stack:
            node = stack.pop()
            found.append(node.name())
            stack += [n for n, _ in node.next_functions if n is not None]
        return found

    plain = graph()
    with profile():
        watched = graph()
    assert watched == plain


def test_what_the_older_profiler_says():
    from gradviz.autograd import profiler as older

    with older.profile() as prof:
        torch.ones(2).add(1)
    assert "Self CPU time total" in str(prof.key_averages())
    with pytest.raises(RuntimeError, match="not reentrant"):
        prof.__enter__()
    assert str(older.profile().key_averages()) == ""


def test_memory_of_an_event_without_what_lies_in_it():
    with profile(profile_memory=True) as prof, record_function("block"):
        torch.ones(1000).add(1)
    (row,) = [e for e in prof.key_averages() if e.key == "aten::add"]
    assert row.cpu_memory_usage == row.self_cpu_memory_usage == 4000


def test_the_trace_carries_what_the_person_adds(tmp_path):
    with profile() as prof:
        torch.ones(2).add(1)
    prof.add_metadata("run", 7)
    prof.add_metadata_json("sizes", "[1, 2]")
    with pytest.raises(ValueError):
        prof.add_metadata_json("sizes", "[1")
    prof.export_chrome_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert (trace["run"], trace["sizes"]) == ("7", [1, 2])
