"""The one door through which the engine tells the outside world what it does.

When nobody watches, ``door.observer`` is None and that is the only thing an operation looks at.
Observers are called bare: they must not raise, and must not keep tensors or nodes alive.
"""

from __future__ import annotations


class Observer:
    """Every event an engine emits. Subclass and override what you need."""

    def operation(self, output, inputs):
        """``output`` (tensor, or tuple of tensors) was computed from ``inputs`` (tensors) and a node was recorded."""

    def cut(self, source, result, how):
        """The path from ``source`` ends here: ``how`` is detach, no_grad, inference_mode, item, numpy, data or integer."""

    def saved_released(self, node):
        """``node`` dropped its saved tensors."""

    def backward_started(self, sweep):
        """A sweep begins; ``sweep.roots`` (nodes or leaf tensors), ``sweep.keep_graph``, ``sweep.create_graph``."""

    def node_entered(self, sweep, node, grads):
        """``node`` is about to run with ``grads`` (arrays or tensors, one an output, None where undefined)."""

    def node_left(self, sweep, node, grads):
        """``node`` produced ``grads``, one an input edge."""

    def accumulated(self, sweep, leaf, grad):
        """``grad`` was added into ``leaf.grad``."""

    def backward_finished(self, sweep):
        """The sweep ended normally."""

    def backward_failed(self, sweep, error):
        """The sweep stopped with ``error`` (also KeyboardInterrupt)."""

    def version_bumped(self, tensor):
        """``tensor`` was modified in place."""

    def retain_grad(self, tensor):
        """``tensor.retain_grad()`` was asked."""

    def hook_added(self, target, kind, hook):
        """A hook of ``kind`` was put on ``target`` (tensor, node or module)."""

    def hook_removed(self, target, kind, hook):
        """It was removed."""


class _Door:
    __slots__ = ("observer", "sweep_steps")

    def __init__(self):
        self.observer = None
        self.sweep_steps = False


door = _Door()


def attach(observer):
    """Let ``observer`` watch; raises RuntimeError when another one already does."""
    if door.observer is not None and door.observer is not observer:
        raise RuntimeError("another observer is attached to the engine")
    door.observer = observer


def detach(observer):
    """Stop ``observer`` watching; does nothing if it does not."""
    if door.observer is observer:
        door.observer = None
