"""``gradviz.autograd``: backward, grad, Function, modes and the graph's tools, as in
``torch.autograd``.
"""

import importlib

from ..engine.backward import backward, grad
from ..engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .function import Function, NestedIOFunction
from .grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enforce_grad_layout_policy,
    is_multithreading_enabled,
    set_multithreading_enabled,
)
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable


def __getattr__(name):
    if name in ("profiler", "kineto_available"):
        profiler = importlib.import_module("gradviz.autograd.profiler")
        return profiler if name == "profiler" else profiler.kineto_available
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def variable(*args, **kwargs):
    """Gone, as in PyTorch: RuntimeError that names ``tensor``."""
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable


__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "enforce_grad_layout_policy",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]
