"""Grad mode, inference mode and the other switches that change how an operation is recorded.

``state.special`` counts the open blocks of all threads. It is 0 in ordinary code, so an operation
reads one attribute and goes on; only inside such a block does it ask its own thread what holds
there. ``state.onlookers`` becomes True, for good, with the first hook, user's Function or edge that
leads nowhere: from then on a sweep has to be exact at every moment, not only when it ends.
``state.readers`` counts the transformed functions that run: only then a write asks what they
captured.
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings


class _State:
    __slots__ = ("native", "onlookers", "readers", "special")

    def __init__(self):
        self.special = self.native = self.readers = 0
        self.onlookers = False


state = _State()


class _Thread(threading.local):
    autocast = None
    grad = True
    inference = False
    multithreading = True
    view_replay = False
    anomaly = False  # set on the class: it holds in all threads
    anomaly_nan = True
    evaluating = None  # the node that runs, while anomalies are looked for
    saved_hooks = ()
    saved_hooks_disabled = None
    mutable_saved = None  # what keeps copies of saved tensors that are written
    forward = True  # whether results carry tangents
    dual = None  # the innermost open level of forward mode, while it is switched on
    dual_aside = None  # the same while it is switched off
    grad_layout = True  # a leaf's gradient is laid out as the leaf
    sweep = None  # the backward that runs in this thread
    depth = 0  # how many run, one inside the other, on this stack
    native = False  # what runs is C++ in PyTorch: a derivative on tensors, a composite function
    node = None  # the node, or leaf, whose backward or hooks run; only where a person's code may
    transforms = 0  # how many function transforms are around
    tracking = ()  # those of them that differentiate
    captured = frozenset()  # ids of tensors that must not be written inside of these
    batch = None  # the innermost vmap
    rows = False  # the gradients of this sweep are a row of batched ones
    between = None  # who stands between operations and their kernels


local = _Thread()


_counting = threading.Lock()


def count(change):
    """Open or close a block that operations have to ask about."""
    with _counting:
        state.special += change


def look_closely():
    """Operations look closely from now on: there is an inference tensor that requires grad, which
    is recorded only where other tensors are around.
    """
    count(1)


def _switch(grad, inference):
    before = local.inference or not local.grad
    local.grad, local.inference = grad, inference
    change = (inference or not grad) - before
    if change:
        count(change)


def switch_forward(on):
    """Switch forward mode on or off in this thread; its open levels stay open."""
    if on != local.forward:
        local.forward = on
        local.dual, local.dual_aside = local.dual_aside, local.dual


def switch_anomaly(on, nan):
    """Switch anomaly mode, and its search for NaN, in all threads."""
    count(on - local.anomaly)
    _Thread.anomaly, _Thread.anomaly_nan = on, nan


def is_grad_enabled():
    """Whether grad mode is on in this thread."""
    return not state.special or local.grad


def is_recording():
    """Whether operations of this thread are recorded: grad mode is on, inference mode off."""
    return not state.special or (local.grad and not local.inference)


def is_inference_mode_enabled():
    """Whether this thread is inside ``inference_mode``."""
    return bool(state.special) and local.inference


class Block:
    """A context manager that is a decorator too, and that restores whatever was there before."""

    def __call__(self, function):
        if inspect.isclass(function):
            warnings.warn(
                "Decorating classes is deprecated and will be disabled in future versions. You "
                "should only decorate functions or methods. To preserve the current behavior of "
                "class decoration, you can directly decorate the `__init__` method and nothing "
                "else.",
                FutureWarning,
                stacklevel=2,
            )
            return self(lambda *args, **kwargs: function(*args, **kwargs))
        if inspect.isgeneratorfunction(function):
            return self._wrap_generator(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def _wrap_generator(self, function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            generator = function(*args, **kwargs)
            try:
                with self.clone():
                    got = next(generator)
                while True:
                    try:
                        sent = yield got
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:
                        with self.clone():
                            got = generator.throw(error)
                    else:
                        with self.clone():
                            got = generator.send(sent)
            except StopIteration as end:
                return end.value

        return wrapped

    def clone(self):
        return type(self)()


class _NoParamDecoratorContextManager(Block):
    """A block without parameters, which decorates with parentheses and without."""

    value = prev = False

    def __new__(cls, orig_func=None):
        self = super().__new__(cls)
        return self(orig_func) if orig_func is not None else self

    def __enter__(self):
        self.prev = local.grad
        _switch(self.value, local.inference)

    def __exit__(self, *_):
        _switch(self.prev, local.inference)


class no_grad(_NoParamDecoratorContextManager):
    """Operations inside are not recorded. Usable as a context manager and as a decorator."""


class enable_grad(_NoParamDecoratorContextManager):
    """Operations inside are recorded, even within ``no_grad``."""

    value = True


class set_grad_enabled(Block):
    """Switch recording on or off: at once when called, until the end of the block when used with
    ``with``.
    """

    def __init__(self, mode):
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.mode = mode
        self.prev = local.grad
        _switch(mode, local.inference)

    def __call__(self, function):
        _switch(self.prev, local.inference)
        return super().__call__(function)

    def __enter__(self):
        _switch(self.mode, local.inference)

    def __exit__(self, *_):
        _switch(self.prev, local.inference)

    def __repr__(self):
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def clone(self):
        return type(self)(self.mode)


class inference_mode(Block):
    """Like ``no_grad``, and the tensors made inside have no version counter and can never be
    recorded.
    """

    def __new__(cls, mode=True):
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode=True):
        self.mode = mode

    def __enter__(self):
        self.previous = local.grad, local.inference
        self.forward = local.forward
        _switch(not self.mode, bool(self.mode))
        switch_forward(not self.mode)

    def __exit__(self, *_):
        _switch(*self.previous)
        switch_forward(self.forward)

    def clone(self):
        return type(self)(self.mode)


class _Native:
    """Whether what runs is C++ in PyTorch, where a number beside a tensor is a scalar and no 0-d
    tensor: it gives other nodes. ``state.native`` counts the threads where it is.
    """

    __slots__ = ("entered", "previous")

    def __init__(self, entered):
        self.entered = entered

    def __enter__(self):
        self.previous = local.native
        self._set(self.entered)

    def __exit__(self, *_):
        self._set(self.previous)

    def _set(self, value):
        if value is not local.native:
            local.native = value
            with _counting:
                state.native += 1 if value else -1


def native():
    """A block of what is C++ in PyTorch: a derivative on tensors, a composite function."""
    return _Native(True)


def persons_code():
    """A block, inside such a block, in which a person's code runs."""
    return _Native(False)


class recording:
    """Inside the block operations are recorded, even in inference mode."""

    __slots__ = ("previous",)

    def __enter__(self):
        self.previous = local.grad, local.inference
        _switch(True, False)

    def __exit__(self, *_):
        _switch(*self.previous)


class transforming:
    """Inside the block a function is being transformed."""

    __slots__ = ("before",)

    def __enter__(self):
        self.before = local.tracking
        local.transforms += 1

    def __exit__(self, *_):
        local.transforms -= 1
        local.tracking = self.before


class reading:
    """Inside the block tensors with these ids are read only."""

    __slots__ = ("ids", "outer")

    def __init__(self, ids):
        self.ids = ids

    def __enter__(self):
        self.outer = local.captured
        local.captured = self.outer | self.ids
        self._count(1)

    def __exit__(self, *_):
        local.captured = self.outer
        self._count(-1)

    def _count(self, change):
        with _counting:
            state.readers += change


class _force_grad_mode:
    """For the engine's calls into user code: grad mode as the sweep was asked for."""

    __slots__ = ("mode", "previous")

    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        self.previous = local.grad
        _switch(self.mode, local.inference)

    def __exit__(self, *_):
        _switch(self.previous, local.inference)


for _mode in (no_grad, enable_grad, set_grad_enabled, inference_mode):
    _mode.__module__ = "gradviz.autograd.grad_mode"
force_grad_mode = _force_grad_mode
