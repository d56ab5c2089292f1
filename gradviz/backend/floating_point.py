"""NumPy's warnings of overflow and division by zero: PyTorch gives none, so neither do we."""

import sys
import warnings

import numpy as xp


def _error(what, flag):
    """Called by NumPy: silent in gradviz whatever filters are in force, a warning in the person's
    own code.
    """
    frame = sys._getframe(1)
    while frame is not None and _package(frame) == "numpy":
        frame = frame.f_back
    if frame is None or _package(frame) != "gradviz":
        warnings.warn(f"{what} encountered", RuntimeWarning, stacklevel=2)


def _package(frame):
    return frame.f_globals.get("__name__", "").split(".")[0]


def stay_silent():
    """Hand NumPy's floating-point errors to us, unless the person chose something for them."""
    if xp.geterr()["divide"] == "warn":
        xp.seterrcall(_error)
        xp.seterr(divide="call", over="call", invalid="call")
    # other threads start with NumPy's own setting
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"gradviz\.")
