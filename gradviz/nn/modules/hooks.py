"""Hooks of modules, and the call that runs them."""

from __future__ import annotations

import warnings

from ...engine.dispatch import Tensor
from ...engine.events import door
from ...engine.hooks import register
from . import global_hooks as everywhere
from .backward_hooks import BackwardHook, attach_plain_hooks
from .blame import ERRORS, blame


class HookMethods:
    """The hook side of ``Module``."""

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        """``hook(module, args)`` before ``forward``; what it returns replaces the arguments."""
        marked = self._forward_pre_hooks_with_kwargs
        handle = register(
            self, self._forward_pre_hooks, "module", hook, extra=marked, prepend=prepend
        )
        if with_kwargs:
            marked[handle.id] = True
        return handle

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        """``hook(module, args, output)`` after ``forward``; what it returns replaces the output."""
        marked = [self._forward_hooks_with_kwargs, self._forward_hooks_always_called]
        handle = register(self, self._forward_hooks, "module", hook, extra=marked, prepend=prepend)
        for table, wanted in zip(marked, (with_kwargs, always_call), strict=True):
            if wanted:
                table[handle.id] = True
        return handle

    def register_full_backward_hook(self, hook, prepend=False):
        """``hook(module, grad_input, grad_output)`` when the gradients of the inputs are known."""
        self._choose_kind(True)
        return register(self, self._backward_hooks, "module", hook, prepend=prepend)

    def register_full_backward_pre_hook(self, hook, prepend=False):
        """``hook(module, grad_output)`` when the gradients of the outputs are known."""
        return register(self, self._backward_pre_hooks, "module", hook, prepend=prepend)

    def register_backward_hook(self, hook):
        """The old kind of backward hook: it sees the gradients of the last operation alone."""
        self._choose_kind(False)
        return register(self, self._backward_hooks, "module", hook)

    def _choose_kind(self, full):
        if self._is_full_backward_hook is not None and self._is_full_backward_hook is not full:
            raise RuntimeError(
                "Cannot use both regular backward hooks and full backward hooks on a single "
                "Module. Please use only one of them."
            )
        self._is_full_backward_hook = full

    def _get_backward_hooks(self):
        """(full hooks, hooks of the old kind), those of all modules first."""
        kinds = (
            (everywhere.are_full(), everywhere.backward),
            (self._is_full_backward_hook, self._backward_hooks),
        )
        return tuple(
            [hook for kind, table in kinds if kind is full for hook in table.values()]
            for full in (True, False)
        )

    def _get_backward_pre_hooks(self):
        return [*everywhere.backward_pre.values(), *self._backward_pre_hooks.values()]

    def __call__(self, *args, **kwargs):
        own = self.__dict__
        if (
            own["_forward_hooks"]
            or own["_forward_pre_hooks"]
            or own["_backward_hooks"]
            or own["_backward_pre_hooks"]
            or everywhere.forward
            or everywhere.forward_pre
            or everywhere.backward
            or everywhere.backward_pre
        ):
            return _Call(self, args, kwargs).run()
        try:
            return self.forward(*args, **kwargs)
        except ERRORS as error:
            blame(self, args, kwargs, error)
            raise


class _Call:
    """One call of a module that has hooks."""

    def __init__(self, module, args, kwargs):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.result = None
        self.called = set()

    def run(self):
        try:
            return self._inner()
        except Exception as error:
            if isinstance(error, ERRORS):
                blame(self.module, self.args, self.kwargs, error)
            self._always_called()
            raise

    def _inner(self):
        module = self.module
        full, plain = module._get_backward_hooks()
        pre = module._get_backward_pre_hooks()
        self._forward_pre_hooks()
        backward = BackwardHook(module, full, pre) if full or pre else None
        if backward is not None:
            self.args = backward.setup_input_hook(self.args)
        self.result = module.forward(*self.args, **self.kwargs)
        self._forward_hooks()
        if backward is not None:
            if not isinstance(self.result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple "
                    f"of Tensors but received {type(self.result)}",
                    stacklevel=4,
                )
            self.result = backward.setup_output_hook(self.result)
        if plain:
            attach_plain_hooks(module, plain, self.args, self.result)
        if door.observer is not None:
            door.observer.module_called(module, self.result)
        return self.result

    def _forward_pre_hooks(self):
        with_kwargs = self.module._forward_pre_hooks_with_kwargs
        for key, hook in [*everywhere.forward_pre.items(), *self.module._forward_pre_hooks.items()]:
            if key in with_kwargs:
                told = hook(self.module, self.args, self.kwargs)
                if told is None:
                    continue
                if not isinstance(told, tuple) or len(told) != 2:
                    raise RuntimeError(
                        "forward pre-hook must return None or a tuple of (new_args, new_kwargs), "
                        f"but got {told}."
                    )
                self.args, self.kwargs = told
            else:
                told = hook(self.module, self.args)
                if told is not None:
                    self.args = told if isinstance(told, tuple) else (told,)

    def _forward_hooks(self):
        module = self.module
        for key, hook in [*everywhere.forward.items(), *module._forward_hooks.items()]:
            if key in module._forward_hooks_always_called or key in everywhere.forward_always:
                self.called.add(key)
            self._forward_hook(key, hook, everywhere.forward_with_kwargs)

    def _forward_hook(self, key, hook, also_with_kwargs=()):
        module = self.module
        if key in module._forward_hooks_with_kwargs or key in also_with_kwargs:
            told = hook(module, self.args, self.kwargs, self.result)
        else:
            told = hook(module, self.args, self.result)
        if told is not None:
            self.result = told

    def _always_called(self):
        """After an error: the hooks that are called in any case and were not yet."""
        module = self.module
        for table, always, of_all in (
            (everywhere.forward, everywhere.forward_always, "global "),
            (module._forward_hooks, module._forward_hooks_always_called, ""),
        ):
            for key, hook in table.items():
                if key in always and key not in self.called:
                    try:
                        self._forward_hook(key, hook)
                    except Exception as error:
                        warnings.warn(
                            f"{of_all}module forward hook with ``always_call=True`` raised an "
                            "exception that was silenced as another error was raised in forward: "
                            f"{error}",
                            stacklevel=4,
                        )
