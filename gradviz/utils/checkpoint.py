"""Checkpointing: what a block saves for backward is thrown away, and computed again when backward
needs it."""

from __future__ import annotations

import contextlib
import threading
import warnings
import weakref

from ..autograd import Function, backward
from ..autograd.graph import saved_tensors_hooks
from ..engine.dispatch import Tensor
from ..engine.modes import enable_grad, is_recording, local, no_grad, state
from ..engine.node import edge_of
from ..engine.saved import pack, read_tensor
from ..ops.random import random_states, set_random_states
from .operator_log import OperatorLog, told
from .selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "DefaultDeviceType",
    "GraphExecGroup",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

_debug = None
_early_stop = None

_TIP = """
Tip: To see a more detailed error message, either pass `debug=True` to
`torch.utils.checkpoint.checkpoint(...)` or wrap the code block
with `with torch.utils.checkpoint.set_checkpoint_debug_enabled(True):` to
enable checkpoint‑debug mode globally.

If this error occurs under torch.compile with automatic_dynamic_shapes enabled,
it may be because the recomputation selected a different compiled graph than the
forward pass (e.g., a dynamic graph instead of the original static graph).
To fix this, either:
  - Use torch._dynamo.mark_dynamic() to explicitly mark varying dimensions as
    dynamic upfront, avoiding the static-to-dynamic transition.
  - Call torch._C._dynamo.eval_frame._set_lru_cache(False) to disable LRU cache
    reordering, which can change which graph is checked first between forward
    and recompute.
See https://github.com/pytorch/pytorch/issues/166926 for more details and
workaround examples.
"""
_UNPACKED_ONCE = (
    "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
    "once. {}If you are calling ctx.saved_tensors in backward, make sure to do so only once. "
    "Otherwise please open an issue with details on your use case."
)
_OVERLAP = (
    "Performing two backward calls that overlap (i.e. require the same saved activation in order "
    "to compute gradients) is not allowed while under the torch.utils.checkpoint.GraphExecGroup "
    "context. "
)
_SUPPRESSED = (
    "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception "
    "raised during the checkpointed forward. This is not supported because checkpoint cannot "
    "return a value for a failed forward."
)
_NOT_PASSED = (
    "the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
    "checkpoint without use_reentrant "
    "will raise an exception. use_reentrant=False is recommended, but if you need to preserve the "
    "current default behavior, you "
    "can pass use_reentrant=True. Refer to docs for more details on the differences between the "
    "two variants."
)
_NOT_PASSED_SEQUENTIAL = (
    "the use_reentrant parameter should be passed explicitly. In version 2.9 we will raise an "
    "exception if use_reentrant is not "
    "passed. use_reentrant=False is recommended, but if you need to preserve the current default "
    "behavior, you can pass "
    "use_reentrant=True. Refer to docs for more details on the differences between the two "
    "variants."
)


class DefaultDeviceType:
    """The device whose random state a checkpoint keeps beside the CPU's."""

    _device_type = None

    @staticmethod
    def set_device_type(device="cuda"):
        """Choose it."""
        DefaultDeviceType._device_type = device

    @staticmethod
    def get_device_type():
        """The one chosen, or "cuda" where there is a GPU, or "cpu"."""
        from ..cuda import is_available

        return DefaultDeviceType._device_type or ("cuda" if is_available() else "cpu")


class CheckpointError(RuntimeError):
    """The block did something else the second time."""


class _Enough(Exception):
    """Everything that was saved has been computed again."""


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled):
    """Let ``debug`` of all checkpoints inside be ``enabled``."""
    global _debug
    before, _debug = _debug, enabled
    try:
        yield
    finally:
        _debug = before


@contextlib.contextmanager
def set_checkpoint_early_stop(enable):
    """Whether a block stops being recomputed as soon as all its saved tensors are there (the
    default)."""
    global _early_stop
    before, _early_stop = _early_stop, enable
    try:
        yield
    finally:
        _early_stop = before


def detach_variable(inputs):
    """The tensors of a tuple detached, as tracked as they were; RuntimeError for no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs):
    """UserWarning when none of ``inputs`` is tracked."""
    if not any(x.requires_grad for x in inputs if isinstance(x, Tensor)):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=2
        )


def noop_context_fn():
    """The contexts in which a block runs the first and the second time: none."""
    return contextlib.nullcontext(), contextlib.nullcontext()


class _Surroundings:
    """Random state and autocast as they were when the block ran."""

    def __init__(self, preserve):
        self.random = random_states() if preserve else None
        self.autocast = local.autocast

    @contextlib.contextmanager
    def again(self):
        """As they were then; back to now afterwards."""
        now_random = random_states() if self.random is not None else None
        now_autocast = local.autocast
        if self.random is not None:
            set_random_states(self.random)
        local.autocast = self.autocast
        state.special += 1
        try:
            yield
        finally:
            state.special -= 1
            local.autocast = now_autocast
            if now_random is not None:
                set_random_states(now_random)


# ---------------------------------------------------------------- without a backward inside a
# backward
class GraphExecGroup:
    """Backwards inside the block run a checkpointed call again at most once together. They must not
    need the same saved tensor. Blocks cannot be nested: RuntimeError.
    """

    _current = threading.local()

    def __enter__(self):
        outer = self._get_current_group()
        if outer is not None:
            raise RuntimeError(
                f"GraphExecGroup contexts cannot be nested. Already inside group {outer}"
            )
        self._current.group = self
        return self

    def __exit__(self, *_):
        self._current.group = None

    @classmethod
    def _get_current_group(cls):
        return getattr(cls._current, "group", None)


_GIVEN = "given out"


class _Holder:
    """Stands in the graph for one saved tensor; what was found for it, by occasion."""

    __slots__ = ("__weakref__", "found")

    def __init__(self):
        self.found = weakref.WeakKeyDictionary()


class _Look:
    """An occasion: somebody reads a saved tensor outside of any backward."""


class _Frame:
    """One checkpointed call: how to run it again, with which arguments, and what it saved."""

    def __init__(self, rerun, args, describe, early_stop):
        self.rerun, self.describe, self.early_stop = rerun, describe, early_stop
        self.args = [_SavedInput(a) if isinstance(a, Tensor) else a for a in args]
        self.holders, self.descriptions = [], []
        self.done = weakref.WeakSet()  # the occasions that it ran for
        self.complete = self.differs = False
        self.logs = None  # of the operators of both runs, where somebody wants them told

    def pack(self, tensor):
        """Forget ``tensor``; keep what it looked like."""
        holder = _Holder()
        self.holders.append(weakref.ref(holder))
        self.descriptions.append(self.describe(tensor))
        return holder

    def unpack(self, holder):
        """The tensor again; the first time this runs the block. CheckpointError where it does
        something else then.
        """
        try:
            return self._unpack(holder)
        except CheckpointError as error:
            if self.logs is None:
                raise
            raise CheckpointError(told(*self.logs)) from error

    def _unpack(self, holder):
        occasion = GraphExecGroup._get_current_group() or local.sweep or _Look()
        if occasion not in self.done:
            self._recompute(occasion)
        found = holder.found[occasion]
        if found is _GIVEN:
            raise CheckpointError(_UNPACKED_ONCE.format(_OVERLAP if self._grouped() else ""))
        holder.found[occasion] = _GIVEN
        return found

    @staticmethod
    def _grouped():
        return GraphExecGroup._get_current_group() is not None

    def _recompute(self, occasion):
        made = []

        def keep(tensor):
            found = tensor.detach() if tensor.requires_grad else tensor
            if len(made) >= len(self.holders):
                if not self.complete:
                    self.differs = True  # a backward inside the block: it will save more
                    return found
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation "
                    f"than during the original forward pass.\n{_TIP}"
                )
            holder = self.holders[len(made)]()
            made.append(self.describe(found))
            if holder is not None:
                holder.found[occasion] = found
            if self.early_stop and len(made) == len(self.holders):
                raise _Enough
            return found

        args = [a() if isinstance(a, _SavedInput) else a for a in self.args]
        with contextlib.suppress(_Enough), saved_tensors_hooks(keep, lambda t: t), enable_grad():
            self.rerun(*args)
        self.done.add(occasion)
        if not self.differs:
            self._check(made)

    def _check(self, made):
        if len(made) != len(self.holders):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.holders)}\n"
                f"Number of tensors saved during recomputation: {len(made)}.\n{_TIP}"
            )
        different = ""
        for k, (before, now) in enumerate(zip(self.descriptions, made, strict=True)):
            if self.holders[k]() is not None and now != before:
                different += (
                    f"tensor at position {k}:\nsaved metadata: {before}\n"
                    f"recomputed metadata: {now}\n"
                )
        if different:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                f"different metadata than during the forward pass.\n{different}.\n{_TIP}"
            )


class _SavedInput:
    """An argument of a checkpointed call, kept as a node keeps an input."""

    __slots__ = ("kept", "version")

    def __init__(self, tensor):
        packed = bool(state.special) and bool(local.saved_hooks)
        self.kept = pack(tensor, edge_of(tensor)) if packed else tensor
        self.version = 0 if packed else tensor._v and tensor._v[0]

    def __call__(self):
        return read_tensor(self.kept, self.version)


def _describe(tensor):
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


_CHECKS = {"default": _describe, "none": lambda tensor: None}


def _without_reentry(function, args, kwargs, preserve, context_fn, check, debug, early_stop):
    debug = debug if _debug is None else _debug
    if debug:
        if context_fn is not noop_context_fn:
            raise ValueError("debug=True is incompatible with non-default context_fn")
        logs = OperatorLog(), OperatorLog()
        context_fn = lambda: logs  # noqa: E731
    if check not in _CHECKS:
        raise ValueError(f"determinism_check should be one of {list(_CHECKS)}, but got {check}")
    surroundings = _Surroundings(preserve)
    first, second = context_fn()

    def rerun(*args):
        with surroundings.again(), second:
            function(*args, **kwargs)

    if not is_recording():
        return function(*args, **kwargs)
    frame = _Frame(rerun, args, _CHECKS[check], early_stop if _early_stop is None else _early_stop)
    frame.logs = logs if debug else None
    with saved_tensors_hooks(frame.pack, frame.unpack), first:
        result = function(*args, **kwargs)
        frame.complete = True
    if not frame.complete:
        raise RuntimeError(_SUPPRESSED)
    return result


# ---------------------------------------------------------------- a backward inside a backward
class CheckpointFunction(Function):
    """One node for the whole block; its backward runs the block again and then backward through
    that."""

    @staticmethod
    def forward(ctx, run_function, preserve_rng_state, *args):
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.surroundings = _Surroundings(preserve_rng_state)
        ctx.others = [None if isinstance(a, Tensor) else a for a in args]
        ctx.places = [k for k, a in enumerate(args) if isinstance(a, Tensor)]
        ctx.save_for_backward(*[args[k] for k in ctx.places])
        with no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx, *grads):
        sweep = local.sweep
        if sweep is not None and (sweep.captured is not None or sweep.leaves is not None):
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.others)
        for k, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[k] = tensor.detach()
            args[k].requires_grad_(tensor.requires_grad)
        with ctx.surroundings.again(), enable_grad():
            outputs = ctx.run_function(*args)
        outputs = outputs if isinstance(outputs, tuple) else (outputs,)
        tracked = [
            (out, g)
            for out, g in zip(outputs, grads, strict=True)
            if isinstance(out, Tensor) and out.requires_grad
        ]
        if not tracked:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([out for out, _ in tracked], [g for _, g in tracked])
        return (None, None, *[a.grad if isinstance(a, Tensor) else None for a in args])


def checkpoint(
    function,
    *args,
    use_reentrant=None,
    context_fn=noop_context_fn,
    determinism_check="default",
    debug=False,
    early_stop=True,
    **kwargs,
):
    """``function(*args)``, keeping nothing of its inside for backward.

    ``use_reentrant=False`` (recommended): hooks on saved tensors. ``True``: one node, which needs a
    tracked input and
    does not work with ``autograd.grad``. Raises CheckpointError when the second run differs from
    the first.
    """
    if use_reentrant is None:
        warnings.warn(f"torch.utils.checkpoint: {_NOT_PASSED}", stacklevel=2)
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs and use_reentrant:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if not use_reentrant:
        return _without_reentry(
            function, args, kwargs, preserve, context_fn, determinism_check, debug, early_stop
        )
    if context_fn is not noop_context_fn or debug is not False:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve, *args)


def checkpoint_sequential(functions, segments, input, use_reentrant=None, **kwargs):
    """A chain of functions in ``segments`` pieces, all but the last of them checkpointed."""
    if use_reentrant is None:
        warnings.warn(
            f"torch.utils.checkpoint.checkpoint_sequential: {_NOT_PASSED_SEQUENTIAL}", stacklevel=2
        )
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    functions = list(functions.children()) if hasattr(functions, "children") else list(functions)
    size = len(functions) // segments
    end = 0
    if segments > 1 and size == 0:
        raise ValueError("range() arg 3 must not be zero")
    for k in range(segments - 1):
        part = functions[k * size : (k + 1) * size]
        input = checkpoint(
            _chain(part), input, use_reentrant=use_reentrant, preserve_rng_state=preserve
        )
        end = (k + 1) * size
    return _chain(functions[end:])(input)


def _chain(functions):
    def run(input):
        for function in functions:
            input = function(input)
        return input

    return run
