"""Anomaly mode: forward tracebacks are kept, NaN gradients raise."""

from __future__ import annotations

from ..engine.modes import local, state


class set_detect_anomaly:
    """Switch anomaly detection on or off, at once or for a ``with`` block."""

    def __init__(self, mode, check_nan=True):
        self.previous = local.anomaly
        _switch(bool(mode))

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _switch(self.previous)


class detect_anomaly(set_detect_anomaly):
    """``with detect_anomaly():`` finds the operation whose gradient became NaN."""

    def __init__(self, check_nan=True):
        self.check_nan = check_nan

    def __enter__(self):
        self.previous = local.anomaly
        _switch(True)


def _switch(mode):
    state.special += mode - local.anomaly
    local.anomaly = mode


def is_anomaly_enabled():
    """Whether anomaly detection is on in this thread."""
    return local.anomaly
