"""Modules over several processes."""

from __future__ import annotations

import contextlib
import itertools
from importlib import import_module

from ..engine.modes import is_grad_enabled
from ..engine.views import bump
from .modules.module import Module


class DistributedDataParallel(Module):
    """The same module in every process: parameters start as those of rank 0, gradients are averaged
    after backward."""

    def __init__(
        self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, **kwargs
    ):
        super().__init__()
        self._collectives = import_module("gradviz.distributed.collectives")
        self._collectives.group()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters "
                "that "
                "require a gradient."
            )
        self.module, self.broadcast_buffers = module, broadcast_buffers
        self.require_backward_grad_sync = True
        for tensor in (*module.parameters(), *module.buffers()):
            self._collectives.broadcast(tensor)
        for k, p in enumerate(module.parameters()):
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self._averager(k))

    def _averager(self, number):
        count = itertools.count()

        def average(p):
            if not self.require_backward_grad_sync:
                return
            group = self._collectives.group()
            arrays = group.exchange(p.grad._a, f"p{number}-{next(count)}")
            op = self._collectives.ReduceOp.AVG
            p.grad._a[...] = self._collectives.combined(arrays, op)
            bump(p.grad)

        return average

    @contextlib.contextmanager
    def no_sync(self):
        """Inside the block gradients only add up here; the next backward outside averages the
        sum."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs, **kwargs):
        if self.broadcast_buffers and self.require_backward_grad_sync and is_grad_enabled():
            for buffer in self.module.buffers():
                self._collectives.broadcast(buffer)
        return self.module(*inputs, **kwargs)


class DataParallel(Module):
    """The module itself: here is one device."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.dim = module, dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
