"""Anomaly mode: forward tracebacks are kept, NaN gradients raise."""

from __future__ import annotations

import warnings

from ..engine.modes import local, switch_anomaly
from ..ops.declare import public


class set_detect_anomaly:
    """Switch anomaly detection on or off, at once or for a ``with`` block. With ``check_nan`` a
    backward that makes a NaN raises RuntimeError.
    """

    def __init__(self, mode, check_nan=True):
        self.previous = local.anomaly, local.anomaly_nan
        _switch(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        _switch(*self.previous)


class detect_anomaly(set_detect_anomaly):
    """``with detect_anomaly():`` finds the operation whose gradient became NaN."""

    def __init__(self, check_nan=True):
        self.previous = local.anomaly, local.anomaly_nan
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        _switch(True, self.check_nan)


def _switch(mode, check_nan):
    for place, name, value in ((1, "enabled", mode), (2, "check_nan", check_nan)):
        if not isinstance(value, bool):
            raise TypeError(
                f"set_anomaly_enabled(): argument '{name}' (position {place}) must be bool, not "
                f"{type(value).__name__}"
            )
    switch_anomaly(mode, check_nan)


def set_anomaly_enabled(enabled, check_nan=True):
    """Switch anomaly detection on or off in all threads."""
    _switch(enabled, check_nan)


public("set_anomaly_enabled", set_anomaly_enabled)


def is_anomaly_enabled():
    """Whether anomaly detection is on."""
    return local.anomaly


def is_anomaly_check_nan_enabled():
    """Whether anomaly detection also looks for NaN."""
    return local.anomaly_nan
