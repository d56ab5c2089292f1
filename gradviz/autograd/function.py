"""``autograd.Function``: operations whose forward and backward the user writes, on tensors."""

from __future__ import annotations

import functools
import inspect
import sys
import warnings

from ..backend import xp
from ..engine.dispatch import Tensor, wrap
from ..engine.modes import force_grad_mode, is_grad_enabled, local
from ..engine.node import FREED, LEAF, MultiNode, Node, Output, array_below, freed
from ..engine.operands import REAL_INPUT
from ..engine.operation import RAW
from ..engine.saved import (
    Packed,
    check_callables,
    check_may_be_packed,
    check_output,
    pack,
    read_kept,
    unpack,
    with_tangent,
)
from ..engine.saved_names import SavedTensor
from ..engine.surface import only
from ..engine.tensor import track
from . import recording

_TAKEN = ("what was saved is read once only, and was",)


class FunctionCtx:
    """What ``ctx`` offers in ``forward`` and ``setup_context``."""

    def save_for_backward(self, *tensors):
        """Keep inputs or outputs for ``backward``; read them there as ``ctx.saved_tensors``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors):
        """Keep tensors for ``jvp``."""
        for t in tensors:
            if not (t is None or isinstance(t, Tensor)):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    "non-tensors as attributes on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors):
        """Name the inputs that ``forward`` modified in place."""
        self.dirty_tensors = tensors

    def mark_shared_storage(self, *pairs):
        """Deprecated, of no effect: tensors with shared storage are known."""
        warnings.warn(
            "`mark_shared_storage` is deprecated. Tensors with shared storages are automatically "
            "tracked. Note that calls to `set_()` are not tracked",
            FutureWarning,
            stacklevel=2,
        )

    def mark_non_differentiable(self, *tensors):
        """Name the outputs that have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value):
        """Whether undefined gradients arrive in ``backward`` as zeros (the default) or as None."""
        self.materialize_grads = value


class _SavedEntry(SavedTensor):
    """One tensor that a Function saved."""

    __slots__ = ("_index", "_node")

    def __init__(self, node, index):
        self._node, self._index = node, index

    def register_hooks(self, *hooks):
        """``register_hooks(pack, unpack)``: replace what is saved by ``pack(it)``; ``unpack``
        gives it
        back in backward.
        """
        check_callables("register_hooks", hooks, self)
        node = self._node
        kept = None if node.s is FREED else node.s[self._index]
        check_may_be_packed(node.s is FREED, None if kept is None else kept[0])
        tensor = _unpack(node, kept)
        edge = tensor if tensor._g is LEAF else tensor._g
        entries = list(node.s)
        entries[self._index] = (pack(tensor.detach(), edge, hooks), 0, kept[2])
        node.s = tuple(entries)


_SavedEntry.__name__ = _SavedEntry.__qualname__ = "SavedTensor"


class _Shared:
    """A name that the engine uses on nodes and that is free on ``ctx``: while a forward or backward
    of the user's runs, an attribute of theirs with this name, else the engine's.
    """

    def __init__(self, name, engines):
        self.name, self.engines = name, engines

    def __get__(self, node, kind=None):
        if node is None:
            return self.engines
        if self.name in node.__dict__ and _open.__get__(node):
            return node.__dict__[self.name]
        get = getattr(self.engines, "__get__", None)
        return self.engines if get is None else get(node, kind)

    def __set__(self, node, value):
        if _open.__get__(node):
            node.__dict__[self.name] = value
        else:
            self.engines.__set__(node, value)

    def __delete__(self, node):
        node.__dict__.pop(self.name, None)


class _Recorded(MultiNode):
    """What the engine keeps on the node of a user's Function; ``_open`` while their code runs."""

    __slots__ = ("_differentiable", "_materialize", "_needs", "_open", "_places", "held")

    def theirs(self, call, *args, **kwargs):
        """What a function of the user's gives."""
        _open.__set__(self, True)
        try:
            return call(*args, **kwargs)
        finally:
            _open.__set__(self, False)


_open = _Recorded._open


class BackwardCFunction(FunctionCtx, _Recorded):
    """The node of a user's Function; it is the ``ctx`` of its backward."""

    whole = True
    owner_name = "torch._C._FunctionBase"
    to_save = dirty_tensors = non_differentiable = saved_for_forward = None

    @property
    def saved_tensors(self):
        """What ``save_for_backward`` kept, versions checked; RuntimeError once it was freed. In
        ``jvp``: what ``save_for_forward`` kept.
        """
        if self.saved_for_forward is not None:
            return self.saved_for_forward
        saved = Node.s.__get__(self)
        if saved is FREED:
            freed()
        if saved is _TAKEN:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True "
                "is set on the autograd.Function. Either access saved_tensors only once, or set "
                "clear_saved_tensors_on_access=False."
            )
        found = tuple(_unpack(self, entry) for entry in saved)
        if self._forward_cls.clear_saved_tensors_on_access:
            Node.s.__set__(self, _TAKEN)
        return found

    @saved_tensors.setter
    def saved_tensors(self, value):
        raise AttributeError(
            "attribute 'saved_tensors' of 'torch._C._FunctionBase' objects is not writable"
        )

    @property
    def saved_variables(self):
        """An older name of ``saved_tensors``."""
        warnings.warn(
            "'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning, stacklevel=2
        )
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self):
        """The same as objects that take ``register_hooks(pack, unpack)``."""
        saved = Node.s.__get__(self)
        if saved is FREED:
            freed()
        return tuple(_SavedEntry(self, k) for k in range(len(saved)))

    def apply(self, *grads):
        """What the user's ``backward`` gives for ``grads``."""
        backward = _backward_of(self._forward_cls)
        return (
            backward(self, list(grads))
            if self._forward_cls.boxed_grads_call
            else backward(self, *grads)
        )

    def __call__(self, *grads, **named):
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    __repr__ = object.__repr__

    def _register_hook_dict(self, *given):
        if not isinstance(only(self, "_register_hook_dict", given), Tensor):
            raise RuntimeError("_register_hook_dict expected a Tensor")
        super()._register_hook_dict(*given)

    def describe_saved(self):
        """For observers: what is saved, without unpacking."""
        out = []
        for k, entry in enumerate(self.s):
            if entry is None:
                continue
            kept, version, _ = entry
            result = kept.__class__ is tuple
            array = kept[0] if result else getattr(kept, "_a", None)
            cell = kept[1] if result else getattr(kept, "_v", None)
            out.append((f"saved_tensors[{k}]", array, version or 0, cell[0] if cell else 0, False))
        return tuple(out)

    @property
    def needs_input_grad(self):
        """One bool an input of ``apply``: whether its gradient is wanted."""
        own = self.__dict__.get("needs_input_grad")
        return _Recorded._needs.__get__(self) if own is None else own

    @needs_input_grad.setter
    def needs_input_grad(self, value):
        self.__dict__["needs_input_grad"] = value

    @property
    def materialize_grads(self):
        """Can be set only, as by ``set_materialize_grads``."""
        raise AttributeError(
            "attribute 'materialize_grads' of 'torch._C._FunctionBase' objects is not readable"
        )

    @materialize_grads.setter
    def materialize_grads(self, value):
        if not isinstance(value, bool):
            raise TypeError(
                "set_materialize_grads received an invalid combination of arguments - got (), but "
                "expected (bool)"
            )
        _Recorded._materialize.__set__(self, value)

    def run(self, g, F):
        grads = g if g is not None else (None,) * len(self.shape)
        given = tuple(_gradient(self, x, k) for k, x in enumerate(grads))
        outer, local.node = local.node, self
        try:
            if local.rows:
                returned = _of_a_row(self, given)
            else:
                returned = _theirs(self, self.apply, *given)
        finally:
            local.node = outer
        returned = returned if isinstance(returned, tuple) else (returned,)
        if F is RAW:
            self.held = _held(returned)
        return _checked(self, returned, F)


def _of_a_row(node, grads):
    """The same for gradients that are a row of batched ones, which their code may not look into."""
    from ..func.batch_functions import one_slice

    return one_slice(functools.partial(_theirs, node, node.apply), grads)


_theirs = _Recorded.theirs
for _name in (
    *(name for name in Node.__slots__ if name != "__weakref__"),
    *(name for name in _Recorded.__slots__ if name != "_open"),
    *("op", "_kind", "inputs", "outputs", "first", "run", "name", "theirs", "describe_saved"),
):
    setattr(
        BackwardCFunction, _name, _Shared(_name, inspect.getattr_static(BackwardCFunction, _name))
    )


def _unpack(node, entry):
    if entry is None:
        return None
    kept, version, nr = entry
    if kept.__class__ is Packed:
        return unpack(kept)
    if nr is None:
        return read_kept(kept, version)
    t = object.__new__(Tensor)
    t._a, t._v = kept[0], kept[1]
    t._g = Output(node, nr) if _Recorded._differentiable.__get__(node)[nr] else None
    return with_tangent(check_output(t, version), node, nr)


def _gradient(node, x, k):
    if x is not None:
        return x if isinstance(x, Tensor) else wrap(x)
    if not node._materialize or node.dtype[k] is None:
        return None
    return wrap(xp.zeros(node.shape[k], node.dtype[k], like=array_below(node)))


def _checked(node, returned, F):
    name, places = node.name(), node._places
    count = len(node._needs)
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
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position "
                    f"{k + 1}, but the corresponding forward input was not a Variable"
                )
            continue
        if x is not None and not isinstance(x, Tensor):
            raise RuntimeError(f"expected Variable or None (got {type(x).__name__})")
        if x is not None and x._a.dtype.kind in "cbiu" and len(out) < len(node.e):
            _check_kind(x._a.dtype.kind, node.e[len(out)])
        out.append(x if x is None or F is not RAW else x._a)
    return out


def _counts(returned):
    return [sys.getrefcount(x) for x in returned]


_ALONE = _counts((object(),))[0]


def _held(returned):
    """Which of the tensors that ``backward`` returned somebody else holds, too: they are not
    stolen. The ids of their arrays.
    """
    counts = zip(returned, _counts(returned), strict=True)
    return frozenset(id(x._a) for x, n in counts if isinstance(x, Tensor) and n > _ALONE)


_WHOLE_FOR_COMPLEX = (
    "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be "
    "true, but got false.  (Could this error message be improved?  If so, please report an "
    "enhancement request to PyTorch.)"
)


def _check_kind(kind, edge):
    """A complex gradient for a real input is refused, and whole numbers for a complex one."""
    if edge is None:
        return
    dtype = (
        edge._a.dtype
        if edge._kind == 2
        else (edge.node.dtype[edge.nr] if edge._kind == 1 else edge.dtype)
    )
    if (dtype.kind == "c") != (kind == "c"):
        raise RuntimeError(REAL_INPUT if kind == "c" else _WHOLE_FOR_COMPLEX)


def _backward_of(cls):
    custom, vjp = cls.backward is not Function.backward, cls.vjp is not Function.vjp
    if custom and vjp:
        raise RuntimeError(
            "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You "
            "should only implement one of them."
        )
    if not custom and not vjp:
        return Function.backward
    return cls.backward if custom else cls.vjp


class FunctionMeta(type):
    def __init__(cls, name, bases, attributes):
        cls._backward_cls = type(
            f"{name}Backward", (BackwardCFunction,), {"__slots__": (), "_forward_cls": cls}
        )
        super().__init__(name, bases, attributes)


class Function(FunctionCtx, metaclass=FunctionMeta):
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

    generate_vmap_rule = False
    clear_saved_tensors_on_access = False
    boxed_grads_call = False

    @staticmethod
    def vmap(info, in_dims, *args):
        """The rule for a batch: (output, out_dims) from ``info`` (batch_size, randomness), the
        dimension of each argument (None: not batched) and the arguments.
        """
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or "
            "set generate_vmap_rule=True."
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
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def apply(cls, *args, **kwargs):
        """Run ``forward`` and record one node for it."""
        return recording.apply(cls, args, kwargs)


Function.vjp = Function.backward


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
        from .undefined import DelayedError

        leaves = [_fresh_leaf(x) for x in ((outputs,) if single else outputs)]
        outputs = DelayedError.apply(_TWICE, *leaves)
        return outputs[0] if single and isinstance(outputs, tuple) else outputs

    return wrapper


_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


def _fresh_leaf(x):
    return x if x is None else track(x.detach())


FOR_DETAILS = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


def require_transformable(cls):
    """RuntimeError for a Function whose forward takes the ctx, inside a function transform."""
    if cls.setup_context is Function.setup_context:
        raise RuntimeError(
            "In order to use an autograd.Function with functorch transforms (vmap, grad, jvp, "
            "jacrev, ...), it must override the setup_context staticmethod. " + FOR_DETAILS
        )


def require_batching(cls):
    """Whether ``cls`` has a rule of its own for batches; RuntimeError when it can have none."""
    own = cls.vmap is not Function.vmap
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and "
            "an overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the "
            "overridden vmap staticmethod to avoid ambiguity. " + FOR_DETAILS
        )
    if not own and not cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please "
            "override and implement the vmap staticmethod or set generate_vmap_rule=True. "
            + FOR_DETAILS
        )
    return own


class InplaceFunction(Function):
    """An older base class, kept for its name."""

    def __init__(self, inplace=False):
        super().__init__()
        self.inplace = inplace


class NestedIOFunction(Function):
    """An older base class, kept for its name: calling one is the error of legacy Functions."""

    def forward_extended(self, *input):
        """To be overridden."""
        raise NotImplementedError

    def backward_extended(self, *grad_output):
        """To be overridden."""
        raise NotImplementedError


__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "NestedIOFunction",
    "once_differentiable",
]
