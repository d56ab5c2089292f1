"""What every process of a job does in the tests; each writes what it saw as JSON: ``job.py
FOLDER``."""

import json
import sys
import warnings
from pathlib import Path

import gradviz as torch
import gradviz.distributed as dist
from gradviz import nn
from gradviz.distributed.algorithms.ddp_comm_hooks import default_hooks
from gradviz.distributed.algorithms.join import Join
from gradviz.nn.parallel import DistributedDataParallel


def collectives(rank, size):
    """Every verb once."""
    seen = {}
    for op in dist.ReduceOp:
        t = torch.tensor([rank + 1, rank + 2])
        dist.all_reduce(t, op)
        seen[op.name] = t.tolist()
    for dtype in (torch.bfloat16, torch.float16, torch.bool, torch.complex64, torch.float64):
        t = torch.tensor([1.5]).to(dtype)
        dist.all_reduce(t)
        seen[str(dtype)] = str(t.tolist())
    scalar = torch.tensor(float(rank))
    dist.broadcast(scalar, 1)
    kept = torch.tensor([float(rank)])
    dist.reduce(kept, 1)
    rows = torch.zeros(size, 2)
    dist.all_gather_into_tensor(rows, torch.tensor([rank, -rank]).float())
    gathered = [torch.zeros(1) for _ in range(size)] if rank == 2 else None
    dist.gather(torch.tensor([float(rank)]), gathered, dst=2)
    share = torch.zeros(1)
    dist.scatter(share, [torch.tensor([k * 10.0]) for k in range(size)] if rank == 0 else None)
    part = torch.zeros(2)
    dist.reduce_scatter(part, [torch.full((2,), float(k)) for k in range(size)])
    swapped = [torch.zeros(1) for _ in range(size)]
    dist.all_to_all(swapped, [torch.tensor([float(10 * rank + k)]) for k in range(size)])
    uneven = torch.zeros(size * (rank + 1))
    dist.all_to_all_single(
        uneven,
        torch.arange(float(sum(range(1, size + 1)))),
        [rank + 1] * size,
        list(range(1, size + 1)),
    )
    written = (t, scalar, share, part, rows, swapped[0], uneven)
    seen["versions"] = [min(one._version, 1) for one in written]
    seen["one to all"] = [scalar.item(), kept.item(), share.item(), rows.tolist()]
    seen["gathered"] = [t.item() for t in gathered or ()]
    seen["parts"] = [part.tolist(), [t.item() for t in swapped], uneven.tolist()]
    return seen


def handles(rank, size):
    """Asynchronous works, messages from one to another, objects, groups."""
    first, second = torch.ones(3), torch.tensor([float(rank)])
    works = [dist.all_reduce(t, async_op=True) for t in (first, second)]
    future = works[1].get_future().then(lambda f: f.value()[0].item() * 2)
    works[0].wait()
    seen = {"async": [first.tolist(), future.wait(), second.item(), works[1].is_completed()]}
    came = torch.zeros(1)
    to, source = (rank + 1) % size, (rank - 1) % size
    ring = [
        dist.P2POp(dist.isend, torch.tensor([float(rank)]), to),
        dist.P2POp(dist.irecv, came, source),
    ]
    for work in dist.batch_isend_irecv(ring):
        work.wait()
    seen["ring"] = came.item()
    if rank == 0:
        anybody = torch.zeros(1)
        senders = sorted([dist.recv(anybody, tag=5), dist.recv(anybody, tag=5)])
        seen["senders"] = senders
    elif rank in (1, 2):
        dist.send(torch.ones(1), 0, tag=5)
    objects = [None] * size
    dist.all_gather_object(objects, {"rank": rank, "w": torch.ones(rank)})
    told = [("from", 3, None)] if rank == 3 else [None]
    dist.broadcast_object_list(told, 3)
    own = [None]
    dist.scatter_object_list(own, [f"for {k}" for k in range(size)] if rank == 1 else None, 1)
    seen["objects"] = [[o["rank"], o["w"].numel()] for o in objects], told, own
    pair = dist.new_group([1, 3])
    t = torch.tensor([float(rank)])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        dist.all_reduce(t, group=pair)
    ranks = [dist.get_rank(pair), dist.get_world_size(pair)]
    seen["group"] = [t.item(), ranks, [str(w.message) for w in said]]
    own, every = dist.new_subgroups(2)
    dist.broadcast(t, own.ranks[1], own)
    seen["subgroups"] = [t.item(), own.ranks, len(every), dist.get_group_rank(own, rank)]
    dist.monitored_barrier()
    return seen


class Branches(nn.Module):
    """``b`` is used by rank 0 only, ``c`` by nobody."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = (nn.Linear(2, 2) for _ in range(3))

    def forward(self, x):
        return self.a(x) + (self.b(x) if dist.get_rank() == 0 else 0)


def network():
    return nn.Sequential(*[nn.Linear(30, 30) for _ in range(4)], nn.BatchNorm1d(30))


def full_batch(size):
    """Largest difference to one process that sees all rows, over three steps of training."""
    torch.manual_seed(dist.get_rank())
    model = network()[:4]
    wrapped = DistributedDataParallel(model, bucket_cap_mb=0.004)
    whole = network()[:4]
    whole.load_state_dict(model.state_dict())
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (wrapped, whole)]
    torch.manual_seed(9)
    rows, worst = torch.randn(4 * size, 30), 0.0
    mine = rows[dist.get_rank() * 4 : dist.get_rank() * 4 + 4]
    for _ in range(3):
        for optimizer in optimizers:
            optimizer.zero_grad()
        wrapped(mine).pow(2).mean().backward()
        whole(rows).pow(2).mean().backward()
        pairs = zip(model.parameters(), whole.parameters(), strict=True)
        worst = max(worst, *((p.grad - q.grad).abs().max().item() for p, q in pairs))
        for optimizer in optimizers:
            optimizer.step()
    line = wrapped.timeline()
    arrived = max(t for row in line for t in row["arrived"])
    return worst, [row["parameters"] for row in line], line[0]["started"] < arrived


def shared_statistics(rank, size):
    """Largest difference of SyncBatchNorm over all processes to batch norm of the whole batch."""
    torch.manual_seed(1)
    whole = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 2))
    model.load_state_dict(whole.state_dict())
    wrapped = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(model))
    rows = torch.randn(5 * size, 3)
    wrapped(rows[5 * rank : 5 * rank + 5]).pow(3).mean().backward()
    whole(rows).pow(3).mean().backward()
    own, other = wrapped.module, whole
    pairs = [(p.grad, q.grad) for p, q in zip(own.parameters(), other.parameters(), strict=True)]
    pairs += list(zip(own.buffers(), other.buffers(), strict=True))
    return max((a - b).abs().max().item() for a, b in pairs)


def parallel(rank, size):
    """``DistributedDataParallel``."""
    worst, buckets, overlaps = full_batch(size)
    seen = {"full batch": worst < 1e-6, "buckets": buckets, "overlaps": overlaps}
    seen["shared statistics"] = shared_statistics(rank, size)
    one = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        one.weight.fill_(float(rank + 1))
    wrapped, x = DistributedDataParallel(one), torch.tensor([[float(rank + 1)]])
    with wrapped.no_sync():
        wrapped(x).sum().backward()
    local = one.weight.grad.item()
    wrapped(x).sum().backward()
    seen["no_sync"] = [local, one.weight.grad.item()]
    (direct,) = torch.autograd.grad(wrapped(x).sum(), [one.weight])
    seen["grad bypasses"] = direct.item()
    found = DistributedDataParallel(Branches(), find_unused_parameters=True)
    found(torch.ones(1, 2)).sum().backward()
    seen["unused"] = [None if p.grad is None else p.grad.sum().item() for p in found.parameters()]
    strict = DistributedDataParallel(Branches())
    strict(torch.ones(1, 2)).sum().backward()
    try:
        strict(torch.ones(1, 2))
    except RuntimeError as error:
        seen["strict"] = [str(error), error.__notes__]
    hooked = DistributedDataParallel(nn.Linear(2, 1))
    hooked.register_comm_hook(None, default_hooks.fp16_compress_hook)
    hooked(torch.full((1, 2), 1.0 + rank)).sum().backward()
    norm = DistributedDataParallel(network())
    norm.module[4].running_mean.fill_(float(rank))
    norm(torch.ones(2, 30))
    seen["hook"] = hooked.module.weight.grad.tolist()
    seen["buffers from rank 0"] = norm.module[4].running_mean.max().item() < 1
    try:
        DistributedDataParallel(nn.Linear(2, 2 if rank == 0 else 3))
    except RuntimeError as error:
        seen["other model"] = str(error)
    return seen


def uneven(rank, size):
    """Processes with different numbers of inputs."""
    seen = {}
    for whole in (True, False):
        model = nn.Linear(1, 1, bias=False)
        wrapped = DistributedDataParallel(model)
        gradients = []
        with wrapped.join(divide_by_initial_world_size=whole):
            for _ in range(rank + 1):
                model.weight.grad = None
                wrapped(torch.ones(1, 1)).sum().backward()
                gradients.append(model.weight.grad.item())
                with torch.no_grad():
                    model.weight.fill_(float(len(gradients)))
        seen[str(whole)] = [gradients, model.weight.item()]
    wrapped = DistributedDataParallel(nn.BatchNorm1d(1))
    with wrapped.join(), wrapped.no_sync():
        for _ in range(size - rank):
            wrapped(torch.full((2, 1), float(rank))).sum().backward()
    seen["buffers"] = wrapped.module.running_mean.item()
    try:
        with wrapped.join(throw_on_early_termination=True):
            for _ in range(rank + 1):
                wrapped(torch.ones(2, 1)).sum().backward()
    except RuntimeError as error:
        seen["early"] = str(error)
    try:
        Join([])
    except ValueError as error:
        seen["none"] = str(error)
    return seen


def main(folder):
    dist.init_process_group()
    rank, size = dist.get_rank(), dist.get_world_size()
    seen = {f.__name__: f(rank, size) for f in (collectives, handles, parallel, uneven)}
    Path(folder, f"{rank}.json").write_text(json.dumps(seen), encoding="utf-8")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
