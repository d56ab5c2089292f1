"""``gradviz.autograd``: backward, grad, Function, modes and the graph's tools, as in ``torch.autograd``."""

from ..engine.backward import backward, grad
from ..engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from ..engine.tensor import Tensor as Variable
from . import function, functional, graph
from .anomaly import detect_anomaly, set_detect_anomaly
from .function import Function
from .gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function", "Variable", "backward", "detect_anomaly", "enable_grad", "function", "functional", "grad", "gradcheck", "gradgradcheck", "graph", "inference_mode", "no_grad",
    "set_detect_anomaly", "set_grad_enabled",
]  # fmt: skip
