"""gradviz: a tensor and autograd engine with PyTorch's names, and a notebook that shows where
gradients go.

``import gradviz as torch`` runs PyTorch-style code; ``%load_ext gradviz`` draws the live graph.
"""

from __future__ import annotations

import importlib
from math import e, inf, nan, pi

from . import homes as _homes
from . import ops as _ops
from .absent import absent as _absent
from .engine import dtypes as _dtypes
from .engine.device import Device as device
from .engine.device import strided
from .engine.dtypes import dtype, get_default_dtype, promote_types, set_default_dtype
from .engine.memory_format import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    preserve_format,
)
from .engine.modes import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .engine.printing import set_printoptions
from .engine.tensor import Size, Tensor

_homes.install()
globals().update(_dtypes.PUBLIC)
globals().update(_ops.FUNCTIONS)
_ABSENT = _absent("torch")
for _name, _stub in _absent("torch.Tensor").items():
    setattr(Tensor, _name, _stub)

__version__ = "0.1.0"

_SUBMODULES = frozenset(
    (
        "_C",
        "accelerator",
        "amp",
        "ask",
        "autograd",
        "backends",
        "cpu",
        "cuda",
        "distributed",
        "distributions",
        "export",
        "fft",
        "futures",
        "func",
        "linalg",
        "nn",
        "optim",
        "overrides",
        "profiler",
        "random",
        "special",
        "testing",
        "teach",
        "testing",
        "utils",
        "widgets",
        "watch",
        "doctor",
    )
)
_ELSEWHERE = {
    "GradScaler": "gradviz.amp",
    "autocast": "gradviz.amp",
    "OutOfMemoryError": "gradviz.cuda",
    "vmap": "gradviz.func",
    "load": "gradviz.serialization",
    "save": "gradviz.serialization",
    "load_ipython_extension": "gradviz.notebook.extension",
    "unload_ipython_extension": "gradviz.notebook.extension",
    "show": "gradviz.notebook.display",
    "BackwardPlayer": "gradviz.notebook.player",
    "Cockpit": "gradviz.notebook.panels.cockpit",
    "DerivativeTower": "gradviz.notebook.panels.tower",
    "Findings": "gradviz.notebook.panels.findings",
    "GradFlow": "gradviz.notebook.panels.flow",
    "Graph": "gradviz.notebook.panels.graph",
    "HookBench": "gradviz.notebook.panels.hooks",
    "MemoryLedger": "gradviz.notebook.panels.ledger",
    "RankTimeline": "gradviz.notebook.panels.ranks",
    "StorageMap": "gradviz.notebook.panels.storage",
    "TensorView": "gradviz.notebook.panels.tensor",
    "export_html": "gradviz.notebook.display",
    "rank_report": "gradviz.notebook.ranks",
    "explain": "gradviz.ask.explain",
    "leaks": "gradviz.ask.leaks",
    "memory": "gradviz.ask.memory",
    "why_alive": "gradviz.ask.alive",
    "check_gradients": "gradviz.ask.gradients",
    "save_trace": "gradviz.ask.saved",
    "open_trace": "gradviz.ask.saved",
    "watching": "gradviz.ask.watching",
    "assert_no_leak": "gradviz.ask.asserts",
    "assert_grad_flows": "gradviz.ask.asserts",
    "assert_graph_size_below": "gradviz.ask.asserts",
}


def __getattr__(name):
    if name in _SUBMODULES:
        try:
            return importlib.import_module(f"gradviz.{name}")
        except ModuleNotFoundError as error:
            if error.name != f"gradviz.{name}":
                raise
    if name in _ELSEWHERE:
        return getattr(importlib.import_module(_ELSEWHERE[name]), name)
    if not name.startswith("_"):
        # functions of the layers join the namespace when their package is first needed
        importlib.import_module("gradviz.nn.functional")
        importlib.import_module("gradviz.amp")
        if name in _ops.FUNCTIONS:
            return _ops.FUNCTIONS[name]
        if name in _ABSENT:
            return _ABSENT[name]
    raise AttributeError(f"module 'gradviz' has no attribute '{name}'")


def __dir__():
    return sorted({*globals(), *_ops.FUNCTIONS, *_SUBMODULES, *_ELSEWHERE})


def _shown_in_a_notebook(tensor):
    """HTML for a large tensor as the last line of a cell, None where text says it all."""
    from .notebook.tensors import html

    return html(tensor)


Tensor._repr_html_ = _shown_in_a_notebook  # type: ignore[attr-defined]


def _subclassed(cls, **kwargs):
    """A subclass of somebody else's may have a ``__torch_function__``."""
    super(Tensor, cls).__init_subclass__(**kwargs)
    if not cls.__module__.startswith("gradviz."):
        importlib.import_module("gradviz.overrides").intercept(cls)


Tensor.__init_subclass__ = classmethod(_subclassed)  # type: ignore[assignment]


def is_tensor(obj):
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


def is_floating_point(input):
    """Whether the dtype is floating."""
    return input.is_floating_point()


def is_complex(input):
    """Whether the dtype is complex."""
    return input.is_complex()


def numel(input):
    """The number of elements."""
    return input.numel()


def result_type(a, b):
    """The dtype that an operation on the two would have."""
    from .engine.operands import common_dtype, operands

    return common_dtype(*operands("result_type", a, b))


def can_cast(from_, to):
    """Whether PyTorch's rules allow the cast."""
    return _dtypes.can_cast(from_, to)


def typename(obj):
    """The type of a tensor or object as text: ``torch.FloatTensor``, ``int``."""
    if isinstance(obj, Tensor):
        return f"torch.{obj.dtype.type_name}"
    cls = type(obj)
    return (
        cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"
    )
