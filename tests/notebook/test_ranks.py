"""Every process of a job tells of its graph and its buckets; ipyparallel brings them together."""

import gc
import importlib.util
import json
import os
import sys
import weakref
from pathlib import Path

import pytest

import gradviz as torch
import gradviz.distributed as dist
from gradviz.nn.parallel import DistributedDataParallel
from gradviz.watch.ranks import read, together

MISSING = [m for m in ("mpi4py", "ipyparallel") if importlib.util.find_spec(m) is None]
TRAINING = """
import gradviz as torch
import gradviz.distributed as dist
from gradviz import nn
from gradviz.nn.parallel import DistributedDataParallel

dist.init_process_group("mpi")
torch.manual_seed(0)
layers = [nn.Linear(8, 8) for _ in range(3)]
model = DistributedDataParallel(nn.Sequential(*layers), bucket_cap_mb=0.0002)
for _ in range(2):
    loss = model(torch.randn(4, 8)).pow(2).mean()
    loss.backward(retain_graph=True)
report = torch.rank_report(loss, model)
"""


def test_one_process_alone():
    dist.init_process_group()
    try:
        model = DistributedDataParallel(torch.nn.Linear(2, 1))
        loss = model(torch.ones(1, 2)).sum()
        loss.backward(retain_graph=True)
        report = json.loads(json.dumps(torch.rank_report(loss, model)))
    finally:
        dist.destroy_process_group()
    (rank,) = together([report])
    assert (rank.rank, rank.size) == (0, 1)
    assert [b.parameters for b in rank.buckets] == [["weight", "bias"]]
    assert {"SumBackward0", "AddmmBackward0"} <= {n["op"] for n in rank.graph["nodes"]}
    with pytest.raises(TypeError):
        torch.rank_report(3)


def row(bucket, arrived, started, ended):
    return {
        "bucket": bucket,
        "parameters": ["w"] * len(arrived),
        "bytes": 4,
        "arrived": arrived,
        "started": started,
        "ended": ended,
    }


def test_how_much_of_the_communication_was_hidden():
    report = {"rank": 0, "size": 1, "graph": {}}
    timeline = [row(0, [1.0, None], 1.0, 3.0), row(1, [2.0], 2.0, 4.0)]
    rank = read(report | {"timeline": timeline})
    assert rank.computed == 2.0 and rank.hidden == 0.25
    assert read(report | {"timeline": []}).hidden == 0.0


def test_a_timeline_takes_reports_a_model_or_what_was_saved():
    graph = {"nodes": [{}, {}]}
    reports = [
        {"rank": n, "size": 2, "graph": graph, "timeline": [row(0, [0.1 + n], 0.2, 0.4)]}
        for n in (1, 0)
    ]
    panel = torch.RankTimeline(reports)
    told = json.loads(panel.data)["ranks"]
    assert [one["rank"] for one in told] == [0, 1] and told[0]["nodes"] == 2
    assert told[1]["computed"] == 1.1 and told[1]["hidden"] == 1.0
    assert torch.RankTimeline(panel.to_json()).to_json() == panel.to_json()
    assert "rank 1: 1 bucket, 4 B" in panel.lines()[1]
    with pytest.raises(ValueError, match="one a rank"):
        torch.RankTimeline(reports[:1])
    with pytest.raises(TypeError, match="rank_report"):
        torch.RankTimeline(3)


def test_a_timeline_follows_a_model_and_does_not_keep_it_alive():
    dist.init_process_group()
    try:
        model = DistributedDataParallel(torch.nn.Linear(2, 1))
        panel = torch.RankTimeline(model)
        assert panel.to_json()["ranks"][0]["buckets"] == []
        model(torch.ones(1, 2)).sum().backward()
        panel.refresh()
        assert panel.to_json()["ranks"][0]["buckets"][0]["parameters"] == ["weight", "bias"]
        seen = weakref.ref(model)
        del model
        gc.collect()
        assert seen() is None
    finally:
        dist.destroy_process_group()


def test_reports_of_one_job_are_wanted():
    report = {"rank": 1, "size": 2, "graph": {}, "timeline": []}
    with pytest.raises(ValueError, match="one a rank; these are of 1"):
        together([report])
    with pytest.raises(KeyError):
        together([{"rank": 0}])


@pytest.mark.skipif(bool(MISSING), reason="needs the extra `distributed`: MPI and ipyparallel")
def test_engines_of_ipyparallel(monkeypatch):
    import ipyparallel

    for name in ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe")
    beside = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([beside, os.environ["PATH"]]))
    cluster = ipyparallel.Cluster(engines="mpi", n=2, log_level=30, engine_timeout=90)
    with cluster as client:
        client[:].execute(TRAINING, block=True)
        ranks = together(client[:]["report"])
    assert [r.rank for r in ranks] == [0, 1]
    for rank in ranks:
        assert len(rank.buckets) == 3 and rank.graph["nodes"]
        assert rank.buckets[0].parameters == ["2.bias", "2.weight"]
        assert rank.buckets[0].started < rank.computed and 0 <= rank.hidden <= 1
