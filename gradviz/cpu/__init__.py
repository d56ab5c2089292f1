"""``gradviz.cpu``: what ``torch.cpu`` says about the processor."""

from __future__ import annotations

from . import amp

__all__ = ["amp", "current_device", "device_count", "is_available", "synchronize"]


def is_available():
    """Always."""
    return True


def device_count():
    """One."""
    return 1


def current_device():
    """``cpu``."""
    return "cpu"


def synchronize(device=None):
    """Nothing is left to wait for."""
