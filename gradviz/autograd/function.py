"""``autograd.Function``: operations whose forward and backward the user writes, on tensors."""

from __future__ import annotations

import functools
import warnings

from ..backend import xp
from ..engine.dispatch import RAW, Tensor, wrap
from ..engine.events import door
from ..engine.modes import force_grad_mode, is_grad_enabled, local, state
from ..engine.node import FREED, LEAF, MultiNode, Output, freed, serial
from ..engine.saved import Packed, pack, read_tensor, unpack
from ..engine.views import bump, check_inplace, note_write


class _Methods:
    """What ``ctx`` offers in ``forward``, ``setup_context`` and ``backward``."""

    __slots__ = ()

    def save_for_backward(self, *tensors):
        """Keep inputs or outputs for ``backward``; read them there as ``ctx.saved_tensors``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for ``jvp``."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors):
        """Name the inputs that ``forward`` modified in place."""
        self.dirty = tensors

    def mark_non_differentiable(self, *tensors):
        """Name the outputs that have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        """Whether undefined gradients arrive in ``backward`` as zeros (the default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self):
        """What ``save_for_backward`` kept, versions checked; RuntimeError once it was freed."""
        if self.s is FREED:
            freed()
        return tuple(self._unpack(entry) for entry in self.s)

    saved_variables = saved_tensors

    def _unpack(self, entry):
        if entry is None:
            return None
        kept, version, nr = entry
        if nr is None:
            return unpack(kept) if kept.__class__ is Packed else read_tensor(kept, version)
        t = object.__new__(Tensor)
        t._a, t._v = kept[0], kept[1]
        t._g = Output(self, nr)
        return read_tensor(t, version)


class BackwardCFunction(_Methods, MultiNode):
    """The node of a user's Function; it is the ``ctx`` of its backward."""

    __slots__ = ("__dict__",)

    def describe_saved(self):
        """For observers: what is saved, without unpacking."""
        out = []
        for k, entry in enumerate(self.s):
            if entry is None:
                continue
            kept, version, nr = entry
            array = kept[0] if nr is not None else getattr(kept, "_a", None)
            cell = kept[1] if nr is not None else getattr(kept, "_v", None)
            out.append((f"saved_tensors[{k}]", array, version or 0, cell[0] if cell else 0, False))
        return tuple(out)

    @property
    def needs_input_grad(self):
        """One bool an input of ``apply``: whether its gradient is wanted."""
        return self._needs

    def run(self, g, F):
        if self.s is FREED:
            freed()
        grads = g if g is not None else (None,) * len(self.shape)
        given = tuple(self._gradient(x, k) for k, x in enumerate(grads))
        backward = _backward_of(self._forward_cls)
        returned = backward(self, *given)
        returned = returned if isinstance(returned, tuple) else (returned,)
        return self._checked(returned, F)

    def _gradient(self, x, k):
        if x is not None:
            return x if isinstance(x, Tensor) else wrap(x)
        if self.materialize_grads and self._differentiable[k]:
            return wrap(xp.zeros(self.shape[k], self.dtype[k]))
        return None if not self.materialize_grads else wrap(xp.zeros(self.shape[k], self.dtype[k]))

    def _checked(self, returned, F):
        name, places = self.name(), self._places
        count = len(self._needs)
        if len(returned) > count and all(x is None for x in returned[count:]):
            returned = returned[:count]
        if len(returned) != count:
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {count}, got "
                f"{len(returned)})"
            )
        out = []
        for k, x in enumerate(returned):
            if k not in places:
                if x is not None:
                    raise RuntimeError(f"function {name} returned a gradient different from None at position {k + 1}, but the "
                                       "corresponding forward input was not a "
                                       "Variable")  # fmt: skip
                continue
            if x is not None and not isinstance(x, Tensor):
                raise TypeError(f"expected Variable or None (got {type(x).__name__})")
            out.append(x if x is None or F is not RAW else x._a)
        return out


def _backward_of(cls):
    custom = cls.__dict__.get("vjp") or getattr(cls, "vjp", None)
    if cls.backward is not Function.backward:
        return cls.backward
    if custom is not None and cls.vjp is not Function.vjp:
        return cls.vjp
    raise NotImplementedError(
        "You must implement either the backward or vjp method for your custom autograd.Function to "
        "use it with backward mode AD."
    )


class _FunctionMeta(type):
    def __init__(cls, name, bases, attributes):
        cls._backward_cls = type(
            f"{name}Backward", (BackwardCFunction,), {"__slots__": (), "_forward_cls": cls}
        )
        super().__init__(name, bases, attributes)


class Function(metaclass=_FunctionMeta):
    """Subclass with static ``forward(ctx, …)`` and ``backward(ctx, *grads)``; call
    ``YourFunction.apply(…)``.
    """

    def __init__(self, *args, **kwargs):
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on "
            "the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args, **kwargs):
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with "
            "static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args, **kwargs):
        """Compute the outputs from tensors and other arguments; recording is off inside."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx, inputs, output):
        """When defined, ``forward`` takes no ctx and this saves what ``backward`` needs."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx, *grad_outputs):
        """One gradient, or None, for every input of ``forward``."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx, *grad_inputs):
        """The forward-mode derivative."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run ``forward`` and record one node for it."""
        return _apply(cls, args, kwargs)


Function.vjp = Function.backward


def _apply(cls, args, kwargs):
    node = object.__new__(cls._backward_cls)
    node.seq = serial()
    node.hooks = node.r = node.mark = None
    node.s = ()
    node.to_save = node.dirty = node.non_differentiable = ()
    node.materialize_grads = True
    recording = is_grad_enabled()
    node._needs = tuple(recording and isinstance(x, Tensor) and x.requires_grad for x in args)
    node._places = [k for k, x in enumerate(args) if isinstance(x, Tensor)]
    tensors = [args[k] for k in node._places]
    with force_grad_mode(False):
        if cls.setup_context is Function.setup_context:
            result = cls.forward(node, *args, **kwargs)
        else:
            result = cls.forward(*args, **kwargs)
            cls.setup_context(node, args, result)
    single = not isinstance(result, tuple)
    outputs = (result,) if single else result
    tracked = recording and any(x.requires_grad for x in tensors)
    made = _outputs(node, outputs, tensors, tracked)
    return made[0] if single else tuple(made)


def _outputs(node, outputs, tensors, tracked):
    node.e = tuple(x if x._g is LEAF else x._g for x in tensors) if tracked else ()
    node.shape = tuple(x._a.shape if isinstance(x, Tensor) else () for x in outputs)
    node.dtype = tuple(
        x._a.dtype if isinstance(x, Tensor) else xp.dtype(xp.float32) for x in outputs
    )
    dirty = node.dirty
    off = {id(x) for x in node.non_differentiable}
    made, node._differentiable = [], []
    given = {id(x) for x in tensors}
    for nr, x in enumerate(outputs):
        differentiable = isinstance(x, Tensor) and id(x) not in off and x._a.dtype.kind in "fcV"
        node._differentiable.append(differentiable)
        made.append(
            _output(node, nr, x, tracked and differentiable, given, dirty)
            if isinstance(x, Tensor)
            else x
        )
    for x in dirty:
        if not any(x is y for y in outputs):
            bump(x)
    if tracked:
        _save(node, outputs, made)
        if door.observer is not None:
            door.observer.operation(tuple(t for t in made if isinstance(t, Tensor)), tuple(tensors))
    return made


def _output(node, nr, x, tracked, given, dirty):
    if any(x is d for d in dirty):
        if tracked:
            check_inplace(x, True)
            note_write(x, Output(node, nr), node)
        else:
            bump(x)
        return x
    if id(x) in given or (x._g is not None and tracked):
        t = object.__new__(Tensor)
        t._a, t._g = x._a, None
        if x._v is None:
            x._v = [0, None]
        t._v = x._v
        x = t
    if tracked:
        x._g = Output(node, nr)
    elif id(x) in given:
        x._g = None
    return x


def _save(node, outputs, made):
    """Inputs are kept as tensors, outputs as arrays, so that output and node are in no cycle."""
    kept = []
    for x in node.to_save:
        if x is None:
            kept.append(None)
            continue
        nr = next((k for k, o in enumerate(outputs) if o is x), None)
        t = made[nr] if nr is not None else x
        if nr is None and state.special and local.saved_hooks:
            kept.append((pack(x, x if x._g is LEAF else x._g), 0, None))
        elif nr is not None and not any(t is d for d in node.dirty):
            if t._v is None:
                t._v = [0, None]
            kept.append(((t._a, t._v), t._v[0], nr))
        elif nr is not None:
            kept.append(((t._a, t._v), t._v[0] if t._v else 0, nr))
        else:
            v = x._v
            kept.append((x, v and v[0], None))
    node.s = tuple(kept)
    node.to_save = ()


def once_differentiable(function):
    """For a ``backward`` whose own derivative is not defined: differentiating it raises
    RuntimeError.
    """

    @functools.wraps(function)
    def wrapper(ctx, *args):
        with force_grad_mode(False):
            outputs = function(ctx, *args)
        if not is_grad_enabled() or not any(
            isinstance(x, Tensor) and x.requires_grad for x in args
        ):
            return outputs
        single = not isinstance(outputs, tuple)
        outputs = (outputs,) if single else outputs
        joined = _Refuse.apply(len(outputs), *[x for x in outputs if isinstance(x, Tensor)],
                               *[x for x in args if isinstance(x, Tensor)])  # fmt: skip
        joined = iter(joined if isinstance(joined, tuple) else (joined,))
        outputs = tuple(next(joined) if isinstance(x, Tensor) else x for x in outputs)
        return outputs[0] if single else outputs

    return wrapper


class _Refuse(Function):
    """Identity whose backward says that the function is differentiable once only."""

    @staticmethod
    def forward(ctx, count, *tensors):
        return tuple(t.clone() for t in tensors[:count])

    @staticmethod
    def backward(ctx, *grads):
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )


FunctionCtx = BackwardCFunction
