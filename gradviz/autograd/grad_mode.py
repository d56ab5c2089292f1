"""Grad modes under the name ``torch.autograd.grad_mode``, and the switch for threads."""

from __future__ import annotations

from ..engine.modes import enable_grad, inference_mode, local, no_grad, set_grad_enabled

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class set_multithreading_enabled:
    """Accepted and remembered: the sweep runs in the calling thread either way."""

    def __init__(self, mode):
        self.previous = local.multithreading
        local.multithreading = bool(mode)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        local.multithreading = self.previous


def is_multithreading_enabled():
    """What ``set_multithreading_enabled`` set last in this thread."""
    return local.multithreading
