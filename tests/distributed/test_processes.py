"""Two processes that exchange tensors through files."""

import multiprocessing
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs processes that fork")


def _run(rank, world, path, body, queue):
    import gradviz.distributed as dist

    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=world)
    queue.put((rank, body(rank)))
    dist.barrier()
    dist.destroy_process_group()


def together(path, body, world=2):
    """What ``body(rank)`` gives in each of ``world`` processes."""
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    processes = [
        context.Process(target=_run, args=(r, world, path, body, queue)) for r in range(world)
    ]
    for p in processes:
        p.start()
    found = dict(queue.get(timeout=60) for _ in processes)
    for p in processes:
        p.join(20)
        assert p.exitcode == 0
    return [found[r] for r in range(world)]


def _collectives(rank):
    import gradviz as torch
    import gradviz.distributed as dist

    total, largest, first = (torch.tensor([float(rank + 1), -rank]) for _ in range(3))
    dist.all_reduce(total)
    dist.all_reduce(largest, dist.ReduceOp.MAX)
    dist.broadcast(first, 1)
    gathered = [torch.zeros(1) for _ in range(2)]
    dist.all_gather(gathered, torch.tensor([float(rank)]))
    share = torch.zeros(1)
    dist.scatter(share, [torch.tensor([5.0]), torch.tensor([6.0])] if rank == 0 else None)
    return [t.tolist() for t in (total, largest, first, *gathered, share)]


def test_collectives_agree_everywhere(tmp_path):
    found = together(tmp_path / "store", _collectives)
    shared = [[3.0, -1.0], [2.0, 0.0], [2.0, -1.0], [0.0], [1.0]]
    assert found == [[*shared, [5.0]], [*shared, [6.0]]]


def _averages(rank):
    import gradviz as torch
    from gradviz.nn.parallel import DistributedDataParallel

    model = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(float(rank + 1))
    wrapped = DistributedDataParallel(model)
    x = torch.tensor([[float(rank + 1)]])
    start = model.weight.item()
    with wrapped.no_sync():
        wrapped(x).sum().backward()
    local = model.weight.grad.item()
    wrapped(x).sum().backward()
    return [start, local, model.weight.grad.item()]


def test_gradients_are_averaged_and_no_sync_waits(tmp_path):
    assert together(tmp_path / "store", _averages) == [[1.0, 1.0, 3.0], [1.0, 2.0, 3.0]]


def test_nothing_is_left_behind(tmp_path):
    together(tmp_path / "store", _collectives)
    assert not list(tmp_path.iterdir())


def test_without_a_group_the_error_says_so():
    import gradviz.distributed as dist

    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        dist.get_rank()
