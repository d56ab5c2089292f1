"""NCCL with a stand-in for CuPy's module: the calls it gets, with one process. It proves how the
calls are made, and nothing about NCCL."""

import ctypes
import sys
from types import ModuleType, SimpleNamespace

import pytest

import gradviz as torch
import gradviz.distributed as dist
from gradviz.backend import twin
from gradviz.distributed.group import _World
from gradviz.distributed.nccl import KINDS, Nccl
from gradviz.distributed.transport import Alone

WIDTH = {"NCCL_UINT8": 1, "NCCL_INT8": 1, "NCCL_FLOAT16": 2, "NCCL_INT32": 4, "NCCL_FLOAT32": 4}


class Communicator:
    """Copies what one process sends to itself."""

    calls: list = []

    def __init__(self, count, identity, rank):
        assert (count, rank, len(identity)) == (1, 0, 128)

    def allReduce(self, source, target, count, kind, op, stream):
        self.calls.append(("allReduce", count, kind, op))
        ctypes.memmove(target, source, count * WIDTH.get(kind, 8))

    def allGather(self, source, target, count, kind, stream):
        self.calls.append(("allGather", count, kind))
        ctypes.memmove(target, source, count * WIDTH[kind])

    def bcast(self, buffer, count, kind, root, stream):
        self.calls.append(("bcast", count, kind, root))

    def check_async_error(self):
        self.calls.append(("check",))

    def destroy(self):
        self.calls.append(("destroy",))


class Event:
    done = True

    def __init__(self, disable_timing):
        assert disable_timing

    def record(self, stream):
        assert stream.ptr == 7


@pytest.fixture
def group(monkeypatch):
    """The group of one process on the strict double of a GPU, with the stand-in for NCCL."""
    cuda, nccl = ModuleType("standin"), ModuleType("standin.nccl")
    cuda.Event, cuda.get_current_stream = Event, lambda: SimpleNamespace(ptr=7)
    nccl.NcclCommunicator, nccl.get_unique_id = Communicator, lambda: tuple(range(128))
    nccl.groupStart = nccl.groupEnd = lambda: None
    for name in (*KINDS.values(), "NCCL_SUM", "NCCL_PROD", "NCCL_MIN", "NCCL_MAX"):
        setattr(nccl, name, name)
    monkeypatch.setitem(sys.modules, "standin", cuda)
    monkeypatch.setitem(sys.modules, "standin.nccl", nccl)
    monkeypatch.setattr(Communicator, "calls", [])
    with twin.installed(1):
        dist.init_process_group()
        _World.default.transport = Nccl(Alone(), "standin")
        yield Communicator.calls
        dist.destroy_process_group()
        assert Communicator.calls[-1] == ("destroy",)


def test_tensors_of_a_gpu_go_by_nccl(group):
    t = torch.tensor([1.0, 2.0], device="cuda")
    dist.all_reduce(t)
    dist.all_reduce(t, dist.ReduceOp.MAX)
    dist.broadcast(t, 0)
    out = [torch.zeros(2, device="cuda")]
    dist.all_gather(out, t)
    assert group == [
        ("allReduce", 2, "NCCL_FLOAT32", "NCCL_SUM"),
        ("allReduce", 2, "NCCL_FLOAT32", "NCCL_MAX"),
        ("bcast", 8, "NCCL_UINT8", 0),
        ("allGather", 8, "NCCL_UINT8"),
    ]
    assert t.tolist() == out[0].tolist() == [1.0, 2.0] and out[0].is_cuda


def test_what_nccl_has_no_reduction_for_is_gathered(group):
    for t in (torch.tensor([1.5], dtype=torch.bfloat16, device="cuda"), torch.tensor([3]).cuda()):
        dist.all_reduce(t, dist.ReduceOp.BOR if t.dtype is torch.int64 else dist.ReduceOp.SUM)
    assert [call[0] for call in group] == ["allGather", "allGather"]


def test_tensors_of_the_host_go_the_other_way(group):
    t = torch.tensor([1.0])
    dist.all_reduce(t)
    dist.barrier()
    assert group == [] and t.item() == 1.0


def test_without_a_gpu_it_is_refused():
    with pytest.raises(ValueError, match="ProcessGroupNCCL is only supported with GPUs"):
        dist.init_process_group("nccl")
