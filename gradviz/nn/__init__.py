"""``gradviz.nn``: modules, parameters and their starting values, as in ``torch.nn``."""

from . import functional, init, modules, parameter
from .modules import *  # noqa: F403
from .modules import Module
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    "Buffer",
    "Module",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "functional",
    "init",
    "modules",
    "parameter",
]


def __getattr__(name):
    if name in ("attention", "parallel", "utils"):
        from importlib import import_module

        return import_module(f"gradviz.nn.{name}")
    if name in ("DataParallel",):
        return __getattr__("parallel").DataParallel
    raise AttributeError(f"module 'gradviz.nn' has no attribute '{name}'")
