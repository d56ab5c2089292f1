"""What a process without inputs does for ``DistributedDataParallel`` while others go on."""

from __future__ import annotations

from ...backend import xp
from ...distributed import ReduceOp, all_reduce, broadcast
from ...distributed.algorithms.join import JoinHook
from ...engine.dispatch import wrap


def agreed_rank(group, candidate):
    """The highest rank of those that are a ``candidate``."""
    rank = wrap(xp.array([group.rank() if candidate else -1]))
    all_reduce(rank, ReduceOp.MAX, group)
    return int(rank.item())


def some_wants(group, wanted):
    """Whether any process wants its gradients averaged in this iteration."""
    count = wrap(xp.array([float(wanted)]))
    all_reduce(count, group=group)
    return bool(count.item())


class DDPJoinHook(JoinHook):
    """Stands in for one module; ``divide_by_initial_world_size``: averages are over all processes,
    otherwise over those that have inputs.
    """

    def __init__(self, ddp, divide_by_initial_world_size):
        self.ddp = ddp
        ddp.reducer.divide_by_all = divide_by_initial_world_size

    def main_hook(self):
        """One iteration of the others, with gradients of zero."""
        ddp = self.ddp
        ddp._synchronise_buffers(joined=True)
        wanted = some_wants(ddp.process_group, False)
        ddp.require_forward_param_sync = wanted
        if wanted:
            ddp.reducer.shadow()

    def post_hook(self, is_last_joiner):
        """All take the model of one that finished last."""
        ddp = self.ddp
        ddp.reducer.divide_by_all = True
        source = ddp.process_group.ranks[agreed_rank(ddp.process_group, is_last_joiner)]
        tensors = (*ddp.module.parameters(), *ddp.module.buffers())
        works = [broadcast(t, source, ddp.process_group, async_op=True) for t in tensors]
        for work in works:
            work.wait()
