"""``DataParallel`` on a machine with one device."""

from __future__ import annotations

from ..modules.module import Module


class DataParallel(Module):
    """The module itself: here is one device."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.dim = module, dim

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)
