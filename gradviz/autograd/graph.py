"""``autograd.graph``: saved-tensor hooks, gradient edges, hooks on several gradients, in-place
permissions.
"""

from __future__ import annotations

import abc
import contextlib
import threading
import weakref
from collections import namedtuple
from collections.abc import Iterable

from ..backend import owner, pointer
from ..engine.accumulator import AccumulateGrad, accumulator
from ..engine.dispatch import wrap
from ..engine.hooks import RemovableHandle
from ..engine.modes import count, local
from ..engine.node import Node as _Recorded
from ..engine.node import Nowhere
from ..engine.saved import check_callables
from ..engine.strides import geometry
from ..engine.tensor import Tensor
from ..engine.views import bump

GradientEdge = namedtuple(
    "GradientEdge", ("node", "output_nr", "ownership_token"), defaults=(None,)
)
GradientEdge.__doc__ = "Where a gradient arrives: a node, and which of its outputs it is for."


class Node(abc.ABC):
    """What every node of a graph is an instance of, recorded operation or AccumulateGrad."""

    @abc.abstractmethod
    def name(self):
        """The class name, such as ``MulBackward0``."""

    @property
    @abc.abstractmethod
    def next_functions(self):
        """One (node, output number) an input, (None, 0) for an untracked one."""

    @abc.abstractmethod
    def metadata(self):
        """A dict for the user's notes."""

    @property
    @abc.abstractmethod
    def _input_metadata(self):
        """Shape and dtype of each output, as objects."""

    @abc.abstractmethod
    def _sequence_nr(self):
        """When the node was recorded."""

    @abc.abstractmethod
    def _register_hook_dict(self, tensor):
        """Only what is around PyTorch uses it."""

    @abc.abstractmethod
    def register_hook(self, fn):
        """Call ``fn(grad_inputs, grad_outputs)`` after the node ran; what it returns replaces
        grad_inputs.
        """

    @abc.abstractmethod
    def register_prehook(self, fn):
        """Call ``fn(grad_outputs)`` before the node runs; what it returns replaces them."""

    @classmethod
    def __subclasshook__(cls, other):
        return True if issubclass(other, (_Recorded, AccumulateGrad)) else NotImplemented


def get_gradient_edge(tensor):
    """The (node, output number) to which the gradient of ``tensor`` flows; RuntimeError for an
    untracked tensor.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    if tensor._g.__class__ is Nowhere:
        raise AssertionError("Expected gradient function to be set")
    if tensor.is_leaf:
        return GradientEdge(accumulator(tensor), 0)
    return GradientEdge(tensor.grad_fn, tensor.output_nr)


def set_warn_on_accumulate_grad_stream_mismatch(enabled):
    """Accepted: there are no streams here. RuntimeError unless it is a bool."""
    if not isinstance(enabled, bool):
        raise RuntimeError(f"enabled must be a bool, but got {type(enabled).__name__}")


def push_hooks(*hooks):
    """Send what is saved in this thread through a pack and an unpack hook, until popped."""
    check_callables("_push_saved_tensors_default_hooks", hooks)
    if local.saved_hooks_disabled is not None:
        raise RuntimeError(local.saved_hooks_disabled)
    local.saved_hooks = (*local.saved_hooks, hooks)
    count(1)


def pop_hooks():
    """Take the innermost pair of hooks away."""
    local.saved_hooks = local.saved_hooks[:-1]
    count(-1)


class saved_tensors_hooks:
    """Inside the block every saved tensor goes through ``pack_hook`` and comes back through
    ``unpack_hook``.
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook, self.unpack_hook = pack_hook, unpack_hook

    def __enter__(self):
        push_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *_):
        pop_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Saved tensors are kept in CPU memory and copied back when needed."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        super().__init__(
            lambda t: (t.device, t.cpu().clone() if pin_memory else t.cpu()),
            lambda packed: packed[1].to(packed[0]),
        )


def forbid_hooks(error_message, fail_if_non_empty=True):
    """Refuse saved-tensor hooks with this message from now on in this thread; RuntimeError where
    some are in use, unless told otherwise.
    """
    if not isinstance(error_message, str):
        raise TypeError(
            "_saved_tensors_hooks_disable(): incompatible function arguments. The following "
            "argument types are supported:\n    1. (error_message: str, fail_if_non_empty: bool = "
            f"True) -> None\n\nInvoked with: {error_message!r}"
        )
    if local.saved_hooks and fail_if_non_empty:
        raise RuntimeError(error_message)
    local.saved_hooks_disabled = error_message


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """Inside the block, using saved-tensor hooks raises RuntimeError with this message."""
    previous = local.saved_hooks_disabled
    forbid_hooks(error_message)
    try:
        yield
    finally:
        local.saved_hooks_disabled = previous


def increment_version(tensor):
    """Count up the version of a tensor, or of several, as an in-place operation would.
    RuntimeError for anything else.
    """
    tensors = (tensor,) if isinstance(tensor, Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    for t in tensors:
        if not isinstance(t, Tensor):
            raise RuntimeError(
                "increment_version expects each element of the iterable to be a tensor"
            )
        if not t.is_inference():
            bump(t)


# ---------------------------------------------------------------- hooks on several gradients
class _MultiHandle:
    """What ``register_multi_grad_hook`` returns: ``remove()`` takes all its hooks away."""

    def __init__(self, handles):
        self.handles = tuple(handles)

    def remove(self):
        for handle in self.handles:
            handle.remove()

    def __getstate__(self):
        return self.handles

    def __setstate__(self, state):
        self.handles = state

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Call ``fn`` when gradients arrived: of all ``tensors`` that this sweep reaches (mode "all",
    one list with None for the others), or of the first of them (mode "any", one tensor).
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    collector = (_Collector if mode == "all" else _First)(tensors, fn)
    return _MultiHandle(
        [
            t.register_hook(collector.hook(k))
            for k, t in enumerate(tensors)
            if mode == "all" or t.requires_grad
        ]
    )


def _current_sweep():
    """The running sweep of this thread."""
    return local.sweep


class _Collector:
    """Gathers gradients until all that will come in this sweep have come."""

    def __init__(self, tensors, fn):
        self.fn = fn
        self.edges = [_edge_key(t) for t in tensors]
        self.lock = threading.Lock()
        self.sweep = None
        self.got, self.left = [], 0

    def hook(self, k):
        def on_gradient(g):
            with self.lock:
                self._start()
                self.got[k] = g
                self.left -= 1
                ready = self.left == 0
            if ready:
                self.fn(list(self.got))

        return on_gradient

    def _start(self):
        sweep = _current_sweep()
        if self.sweep is None or self.sweep() is not sweep or self.left <= 0:
            self.sweep = weakref.ref(sweep) if sweep is not None else lambda: None
            self.got = [None] * len(self.edges)
            self.left = len(self.edges) if sweep is None else sum(map(sweep.reaches, self.edges))


class _First:
    """Calls once a sweep, for whichever gradient comes first."""

    def __init__(self, tensors, fn):
        self.fn = fn
        self.lock = threading.Lock()
        self.sweep = None

    def hook(self, k):
        def on_gradient(g):
            sweep = _current_sweep()
            with self.lock:
                if self.sweep is not None and self.sweep() is sweep:
                    return
                self.sweep = weakref.ref(sweep) if sweep is not None else None
            self.fn(g)

        return on_gradient


def _edge_key(tensor):
    if not tensor.requires_grad or tensor._g.__class__ is Nowhere:
        raise AssertionError("Expected gradient function to be set")
    return tensor if tensor.is_leaf else tensor.grad_fn


# ---------------------------------------------------------------- in place after saving
class _Handle:
    """Stands in the graph for one saved tensor at one version."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """The tensors saved inside a block, by handle: ``original`` ones, and copies (``cloned``) of
    those that were written since.
    """

    def __init__(self):
        self.original, self.cloned = weakref.WeakKeyDictionary(), weakref.WeakKeyDictionary()
        self.tid_to_weakhandle = weakref.WeakValueDictionary()
        self.sid_to_tid = {}

    def clear(self):
        """Forget all of them; backward is no longer possible for graphs of this block."""
        for table in (self.original, self.cloned, self.tid_to_weakhandle, self.sid_to_tid):
            table.clear()

    def pack(self, tensor):
        """A handle for ``tensor`` as it is now."""
        memory = _memory(tensor._a)
        version = 0 if tensor.is_inference() else tensor._version
        key = (memory, id(tensor), *geometry(tensor._a), tensor.dtype, version)
        handle = self.tid_to_weakhandle.get(key)
        if handle is None:
            handle = self.tid_to_weakhandle[key] = _Handle()
            self.sid_to_tid.setdefault(memory, set()).add(key)
            self.original[handle] = wrap(tensor._a)
        return handle

    def unpack(self, handle):
        """The tensor as it was; AssertionError once it is forgotten."""
        found = self.cloned.get(handle, self.original.get(handle))
        if found is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return found

    def before_write(self, array):
        """Copy what was saved of the memory under ``array``, which is going to be written."""
        for key in self.sid_to_tid.pop(_memory(array), ()):
            handle = self.tid_to_weakhandle.pop(key, None)
            if handle in self.original:
                self.cloned[handle] = wrap(self.original.pop(handle)._a.copy("K"))


def _memory(array):
    return pointer(owner(array))


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """Inside the block tensors may be modified after they were saved: backward uses copies of what
    they were.
    """
    if local.mutable_saved is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        local.mutable_saved = context
        try:
            yield context
        finally:
            local.mutable_saved = None
            context.clear()


__all__ = [
    "GradientEdge",
    "Node",
    "RemovableHandle",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
    "set_warn_on_accumulate_grad_stream_mismatch",
]
