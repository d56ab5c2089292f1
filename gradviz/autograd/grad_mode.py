"""Grad modes under the name ``torch.autograd.grad_mode``, and switches that only the tools around
PyTorch use.
"""

from __future__ import annotations

from ..engine.dispatch import Tensor
from ..engine.modes import Block, enable_grad, inference_mode, local, no_grad, set_grad_enabled
from ..engine.node import INFERENCE

__all__ = [
    "enable_grad",
    "enforce_grad_layout_policy",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


class _Remembered(Block):
    """A switch that is set at once, and set back at the end of a ``with`` block; as a decorator it
    is set for every call.
    """

    def _set(self, mode):
        self.mode = mode
        self.prev = getattr(local, self.switch)
        setattr(local, self.switch, bool(mode))

    def __call__(self, function):
        setattr(local, self.switch, self.prev)
        return super().__call__(function)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        setattr(local, self.switch, self.prev)

    def clone(self):
        """Another one with the same mode."""
        return type(self)(self.mode)


class set_multithreading_enabled(_Remembered):
    """Accepted and remembered: the sweep runs in the calling thread either way."""

    switch = "multithreading"
    __call__ = Block.__call__  # stays set after decorating, as in PyTorch

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(
                "set_multithreading_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self._set(mode)


class enforce_grad_layout_policy(_Remembered):
    """Whether a gradient that a leaf takes over as it is must be laid out as the leaf (the
    default); if not, a copy less is made.
    """

    switch = "grad_layout"

    def __init__(self, enable=True):
        self._set(enable)


class _force_original_view_tracking(_Remembered):
    """Accepted and remembered: views are always made again from their base by their window."""

    switch = "view_replay"

    def __init__(self, mode):
        self._set(mode)


def is_multithreading_enabled():
    """What ``set_multithreading_enabled`` set last in this thread."""
    return local.multithreading


class _unsafe_preserve_version_counter(Block):
    """Inside the block tensors are modified without their version counting up."""

    def __init__(self, tensors):
        self.tensors = (tensors,) if isinstance(tensors, Tensor) else tensors
        if not isinstance(self.tensors, tuple):
            raise AssertionError("Expected tensors to be a tuple")
        self.versions = tuple(t._version for t in self.tensors)

    def __enter__(self):
        pass

    def __exit__(self, *_):
        for t, version in zip(self.tensors, self.versions, strict=True):
            if t._v is not None and t._v is not INFERENCE:
                t._v[0] = version
