"""The few private names of ``torch._C`` that programs reach for: what runs, and node classes."""

from __future__ import annotations

from .autograd.forward_ad import _is_fwd_grad_enabled  # noqa: F401
from .engine.accumulator import AccumulateGrad, accumulator
from .engine.modes import (  # noqa: F401
    is_grad_enabled,
    is_inference_mode_enabled,
    local,
    set_grad_enabled,
)
from .engine.node import Node
from .engine.operation import TENSOR
from .engine.saved_names import SavedTensor
from .engine.tensor import Tensor

TensorBase = _TensorBase = Tensor


def _current_graph_task_id():
    """A number for the backward that runs in this thread, -1 outside of one."""
    return -1 if local.sweep is None else local.sweep._token


def _current_autograd_node():
    """The node whose backward or hooks run in this thread, None outside of one."""
    node = local.node
    return accumulator(node) if isinstance(node, Tensor) else node


def _will_engine_execute_node(node):
    """Whether the backward that runs will come to ``node``."""
    if not isinstance(node, (Node, AccumulateGrad)):
        raise RuntimeError(
            f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}"
        )
    if local.sweep is None:
        raise RuntimeError(
            "_get_should_execute_nodes should only be called during the backward pass"
        )
    return local.sweep.reaches(node.variable if isinstance(node, AccumulateGrad) else node)


def _are_functorch_transforms_active():
    """Whether a function is being transformed in this thread."""
    return local.transforms > 0


def _set_grad_enabled(enabled):
    """Switch recording on or off in this thread."""
    set_grad_enabled(enabled)


def _set_multithreading_enabled(enabled):
    """Accepted and remembered: the sweep runs in the calling thread either way."""
    local.multithreading = enabled


def _is_multithreading_enabled():
    """What ``set_multithreading_enabled`` set last in this thread."""
    return local.multithreading


def _is_view_replay_enabled():
    """What ``_force_original_view_tracking`` set last in this thread."""
    return local.view_replay


class _autograd:
    """``torch._C._autograd``."""

    SavedTensor = SavedTensor

    @staticmethod
    def _saved_tensors_hooks_is_enabled():
        """Whether hooks on saved tensors are allowed in this thread."""
        return local.saved_hooks_disabled is None

    @staticmethod
    def _saved_tensors_hooks_get_disabled_error_message():
        """The message of ``disable_saved_tensors_hooks``, None where hooks are allowed."""
        return local.saved_hooks_disabled

    @staticmethod
    def _push_saved_tensors_default_hooks(*hooks):
        """Send what is saved in this thread through a pack and an unpack hook, until popped."""
        graph().push_hooks(*hooks)

    @staticmethod
    def _pop_saved_tensors_default_hooks():
        """Take the innermost pair of hooks away; RuntimeError where there is none."""
        if not local.saved_hooks:
            raise RuntimeError("there are no hooks on saved tensors")
        graph().pop_hooks()

    @staticmethod
    def _top_saved_tensors_default_hooks(ignore_is_tracing=False):
        """The innermost pair of hooks, None without."""
        return local.saved_hooks[-1] if local.saved_hooks else None

    @staticmethod
    def _saved_tensors_hooks_disable(error_message, fail_if_non_empty=True):
        """Refuse hooks from now on in this thread with a message."""
        graph().forbid_hooks(error_message, fail_if_non_empty)

    @staticmethod
    def _saved_tensors_hooks_enable():
        """Allow hooks again."""
        local.saved_hooks_disabled = None


class _Functions:
    """``torch._C._functions``: classes of nodes by name, and two functions on tensors."""

    AccumulateGrad = AccumulateGrad

    def __getattr__(self, name):
        for function in vars(TENSOR).values():
            op = getattr(function, "op", None)
            if op is not None and op.node.__name__ == name:
                return op.node
        raise AttributeError(f"module 'torch._C._functions' has no attribute '{name}'")

    @property
    def UndefinedGrad(self):
        """``UndefinedGrad()(x)``: x, with an undefined gradient."""
        from .autograd.undefined import UndefinedGrad

        return lambda: UndefinedGrad.apply

    @property
    def DelayedError(self):
        """``DelayedError(message, inputs)(x)``: x, whose backward raises RuntimeError."""
        from .autograd.undefined import DelayedError

        def error(message, inputs):
            text = message.decode() if isinstance(message, bytes) else message
            return lambda *tensors: DelayedError.apply(text, *tensors)

        return error


_functions = _Functions()


def __getattr__(name):
    if name in ("DisableTorchFunction", "DisableTorchFunctionSubclass"):
        return getattr(overrides(), name)
    if name == "_disabled_torch_function_impl":
        return overrides()._disabled_torch_function_impl
    raise AttributeError(f"module 'torch._C' has no attribute '{name}'")


def graph():
    """``torch.autograd.graph``."""
    from .autograd import graph

    return graph


def overrides():
    """``torch.overrides``, which is loaded where it is used."""
    from . import overrides

    return overrides
