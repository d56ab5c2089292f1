"""Handwritten digits learned by all processes of a job together: ``ddp_digits.py FOLDER EPOCHS``.

Each writes, as JSON, the accuracy on rows it has not seen and the largest difference of its weights
to those of one process that learns from the whole batches.
"""

import json
import sys
from pathlib import Path

from sklearn.datasets import load_digits

import gradviz as torch
import gradviz.distributed as dist
from gradviz import nn
from gradviz.nn.parallel import DistributedDataParallel
from gradviz.utils.data import DataLoader, DistributedSampler, TensorDataset

BATCH = 16


def network():
    return nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 10))


def rows():
    images, labels = load_digits(return_X_y=True)
    x, y = torch.tensor(images / 16.0, dtype=torch.float32), torch.tensor(labels)
    return TensorDataset(x[:1400], y[:1400]), x[1400:], y[1400:]


def main(folder, epochs):
    dist.init_process_group()
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    data, unseen, labels = rows()
    whole, model = network(), DistributedDataParallel(network(), bucket_cap_mb=0.003)
    whole.load_state_dict(model.module.state_dict())
    steps = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, whole)]
    samplers = [DistributedSampler(data, size, r, seed=3) for r in range(size)]
    loss = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        for sampler in samplers:
            sampler.set_epoch(epoch)
        shares = zip(*(DataLoader(data, BATCH, sampler=s) for s in samplers), strict=True)
        for share in shares:
            for optimizer in steps:
                optimizer.zero_grad()
            x, y = share[rank]
            loss(model(x), y).backward()
            together = torch.cat([a for a, _ in share]), torch.cat([b for _, b in share])
            loss(whole(together[0]), together[1]).backward()
            for optimizer in steps:
                optimizer.step()
    pairs = zip(model.parameters(), whole.parameters(), strict=True)
    with torch.no_grad():
        right = (model(unseen).argmax(1) == labels).float().mean().item()
        apart = max((a - b).abs().max().item() for a, b in pairs)
    seen = {"accuracy": right, "apart": apart, "buckets": len(model.timeline())}
    Path(folder, f"{rank}.json").write_text(json.dumps(seen), encoding="utf-8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
