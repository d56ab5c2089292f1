"""Hooks of modules, and the call that runs them."""

from __future__ import annotations

import functools
import warnings
import weakref

from ...autograd import Function
from ...engine.dispatch import Tensor
from ...engine.events import door
from ...engine.hooks import RemovableHandle, Table

_global_forward_hooks = Table()
_global_forward_hooks_with_kwargs = Table()
_global_forward_pre_hooks = Table()
_global_backward_hooks = Table()
_global_backward_pre_hooks = Table()


class ModuleHandle(RemovableHandle):
    """A handle that also forgets how its hook wanted to be called."""

    __slots__ = ("_extra",)

    def __init__(self, table, hook, owner=None, extra=(), prepend=False):
        super().__init__(table, hook, "module", owner)
        self._extra = [weakref.ref(x) for x in extra]
        for x in extra:
            x[self.id] = True
        if prepend:
            rest = [(k, v) for k, v in table.items() if k != self.id]
            table.clear()
            table[self.id] = hook
            table.update(rest)
        if door.observer is not None and owner is not None:
            door.observer.hook_added(owner, "module", hook)

    def remove(self):
        """Remove the hook; a second call does nothing."""
        super().remove()
        for ref in self._extra:
            table = ref()
            if table is not None:
                table.pop(self.id, None)


class HookMethods:
    """The hook side of ``Module``."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """``hook(module, args)`` before ``forward``; what it returns replaces the arguments."""
        extra = (self._forward_pre_hooks_with_kwargs,) if with_kwargs else ()
        return ModuleHandle(self._forward_pre_hooks, hook, self, extra, prepend)

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """``hook(module, args, output)`` after ``forward``; what it returns replaces the output."""
        extra = ((self._forward_hooks_with_kwargs,) if with_kwargs else ()) + (
            (self._forward_hooks_always_called,) if always_call else ()
        )
        return ModuleHandle(self._forward_hooks, hook, self, extra, prepend)

    def register_full_backward_hook(self, hook, prepend=False):
        """``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known."""
        self._only_one_kind(False)
        self._is_full_backward_hook = True
        return ModuleHandle(self._backward_hooks, hook, self, (), prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """``hook(module, grad_output)`` when the gradients of the outputs are known."""
        return ModuleHandle(self._backward_pre_hooks, hook, self, (), prepend)

    def register_backward_hook(self, hook):
        """The old kind of backward hook: it sees the gradients of the last operation alone."""
        self._only_one_kind(True)
        self._is_full_backward_hook = False
        return ModuleHandle(self._backward_hooks, hook, self)

    def _only_one_kind(self, other):
        if self._is_full_backward_hook is other:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )

    def __call__(self, *args, **kwargs):
        own = self.__dict__
        if (
            own["_forward_hooks"]
            or own["_forward_pre_hooks"]
            or own["_backward_hooks"]
            or own["_backward_pre_hooks"]
            or _global_forward_hooks
            or _global_forward_pre_hooks
            or _global_backward_hooks
            or _global_backward_pre_hooks
        ):
            return _call_guarded(self, args, kwargs)
        return self.forward(*args, **kwargs)


def _call_guarded(module, args, kwargs):
    called = set()
    try:
        return _call(module, args, kwargs, called)
    except Exception:
        for key, hook in module._forward_hooks.items():
            if key in module._forward_hooks_always_called and key not in called:
                try:
                    _forward_hook(module, hook, key, args, kwargs, None)
                except Exception as error:
                    warnings.warn(
                        "module forward hook with ``always_call=True`` raised an exception that "
                        "was silenced as another error was "
                        f"raised in forward: {error}",
                        stacklevel=2,
                    )
        raise


def _call(module, args, kwargs, called):
    args, kwargs = _forward_pre_hooks(module, args, kwargs)
    backward = _BackwardHook.of(module)
    if backward is not None:
        args = backward.enter(args)
    result = module.forward(*args, **kwargs)
    for key, hook in [*_global_forward_hooks.items(), *module._forward_hooks.items()]:
        if key in module._forward_hooks_always_called:
            called.add(key)
        told = _forward_hook(module, hook, key, args, kwargs, result)
        if told is not None:
            result = told
    if backward is not None:
        if backward.full or backward.pre:
            result = backward.leave(result)
        if not backward.full:
            _plain_backward_hooks(module, backward.hooks, result)
    return result


def _forward_hook(module, hook, key, args, kwargs, result):
    if key in module._forward_hooks_with_kwargs or key in _global_forward_hooks_with_kwargs:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


def _forward_pre_hooks(module, args, kwargs):
    for key, hook in [*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()]:
        if key in module._forward_pre_hooks_with_kwargs:
            told = hook(module, args, kwargs)
            if told is None:
                continue
            if not isinstance(told, tuple) or len(told) != 2:
                raise RuntimeError(
                    "forward pre-hook must return None or a tuple of (new_args, new_kwargs), but "
                    f"got {told}."
                )
            args, kwargs = told
        else:
            told = hook(module, args)
            if told is not None:
                args = told if isinstance(told, tuple) else (told,)
    return args, kwargs


# ---------------------------------------------------------------- backward hooks
class BackwardHookFunction(Function):
    """The identity whose node marks where a module begins and ends."""

    @staticmethod
    def forward(ctx, *args):
        ctx.mark_non_differentiable(*[a for a in args if not a.requires_grad])
        return args

    @staticmethod
    def backward(ctx, *grads):
        return grads


_NO_INPUTS = (
    "Full backward hook is firing when gradients are computed with respect to module outputs "
    "since no inputs require gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
    "#torch.nn.Module.register_full_backward_hook for more details."
)


class _BackwardHook:
    """The full backward hooks of one call of a module."""

    def __init__(self, module, pre, hooks, full):
        self.module, self.pre, self.hooks, self.full = module, pre, hooks, full
        self.grad_outputs = None
        self.count_in = self.count_out = -1
        self.places_in = self.places_out = None

    @classmethod
    def of(cls, module):
        pre = [*_global_backward_pre_hooks.values(), *module._backward_pre_hooks.values()]
        own = [*_global_backward_hooks.values(), *module._backward_hooks.values()]
        if not pre and not own:
            return None
        full = bool(own) and (module._is_full_backward_hook is not False)
        return cls(module, pre, own, full)

    def enter(self, args):
        """Put the identity node before the inputs."""
        if not self.full:
            return args
        made, node, self.places_in = _through_identity(args)
        if node is not None:
            self.count_in = len(args)
            node.register_hook(self._left)
        return made

    def leave(self, result):
        """Put the identity node after the outputs."""
        single = not isinstance(result, (tuple, list))
        made, node, self.places_out = _through_identity((result,) if single else tuple(result))
        if node is not None:
            self.count_out = len(made)
            node.register_prehook(self._entered)
        return made[0] if single else made

    def _entered(self, grads):
        outs = _spread(grads, self.places_out, self.count_out)
        for hook in self.pre:
            told = hook(self.module, outs)
            if told is None:
                continue
            told = told if isinstance(told, tuple) else (told,)
            if len(told) != len(outs):
                raise RuntimeError(
                    "Backward pre hook returned an invalid number of grad_output, got "
                    f"{len(told)}, but expected {len(outs)}"
                )
            outs = told
        self.grad_outputs = outs
        if self.full and self.places_in is None:
            warnings.warn(_NO_INPUTS, stacklevel=2)
            self._call(())
        return tuple(outs[k] for k in self.places_out)

    def _left(self, grad_inputs, _):
        if self.grad_outputs is None:
            return None
        grads = _spread(grad_inputs, self.places_in, self.count_in)
        grads = self._call(grads)
        self.grad_outputs = None
        return tuple(grads[k] for k in self.places_in)

    def _call(self, grads):
        for hook in self.hooks:
            told = hook(
                self.module, grads if grads else (None,) * max(self.count_in, 1), self.grad_outputs
            )
            if told is None:
                continue
            told = told if isinstance(told, tuple) else (told,)
            if not grads and any(x is not None for x in told):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
            if not grads:
                continue
            if len(told) != len(grads):
                raise RuntimeError(
                    f"Backward hook returned an invalid number of grad_input, got {len(told)}, "
                    f"but expected {len(grads)}"
                )
            grads = told
        return grads


def _through_identity(args):
    places = [k for k, x in enumerate(args) if isinstance(x, Tensor)]
    tensors = [args[k] for k in places]
    if not any(x.requires_grad for x in tensors):
        return args, None, None
    from ...engine.modes import is_grad_enabled

    if not is_grad_enabled():
        return args, None, None
    made = BackwardHookFunction.apply(*tensors)
    node = next(t._g.node for t in made if t.requires_grad)
    out = list(args)
    for k, t in zip(places, made, strict=True):
        out[k] = t
    return tuple(out), node, places


def _spread(grads, places, count):
    out = [None] * count
    for k, g in zip(places, grads, strict=True):
        out[k] = g
    return tuple(out)


def _plain_backward_hooks(module, hooks, result):
    if not hooks:
        return
    var = result
    while not isinstance(var, Tensor):
        var = (
            next(v for v in var.values() if isinstance(v, Tensor))
            if isinstance(var, dict)
            else var[0]
        )
    node = var.grad_fn
    if node is not None:
        for hook in hooks:
            node.register_hook(functools.wraps(hook)(functools.partial(hook, module)))


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """A forward hook for every module."""
    return ModuleHandle(
        _global_forward_hooks,
        hook,
        None,
        (_global_forward_hooks_with_kwargs,) if with_kwargs else (),
    )


def register_module_forward_pre_hook(hook):
    """A forward pre-hook for every module."""
    return ModuleHandle(_global_forward_pre_hooks, hook)


def register_module_full_backward_hook(hook):
    """A full backward hook for every module."""
    return ModuleHandle(_global_backward_hooks, hook)


def register_module_full_backward_pre_hook(hook):
    """A full backward pre-hook for every module."""
    return ModuleHandle(_global_backward_pre_hooks, hook)
