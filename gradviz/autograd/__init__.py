"""``gradviz.autograd``: backward, grad, Function, modes and the graph's tools, as in
``torch.autograd``.
"""

from ..engine.backward import backward, grad
from ..engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..engine.tensor import Tensor as Variable
from . import anomaly_mode, forward_ad, function, functional, grad_mode, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .function import Function
from .grad_mode import is_multithreading_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "Variable",
    "anomaly_mode",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "functional",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]
