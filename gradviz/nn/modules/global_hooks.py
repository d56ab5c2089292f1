"""Hooks of all modules at once, for debugging: they run before those of the module itself."""

from __future__ import annotations

from collections import OrderedDict

from ...engine.hooks import register

backward_pre = OrderedDict()
backward = OrderedDict()
forward_pre = OrderedDict()
forward = OrderedDict()
forward_with_kwargs = OrderedDict()
forward_always = OrderedDict()
on_parameter = OrderedDict()
on_buffer = OrderedDict()
on_module = OrderedDict()


class _Kind:
    full = None  # whether the backward hooks are full ones, None before the first


def _choose(full):
    if _Kind.full is not None and _Kind.full is not full:
        raise RuntimeError(
            "Cannot use both regular backward hooks and full backward hooks as a global Module "
            "hook. Please use only one of them."
        )
    _Kind.full = full


def are_full():
    """True for full backward hooks, False for the old kind, None where there never was one."""
    return _Kind.full


def register_module_forward_hook(hook, *, with_kwargs=False, always_call=False):
    """``hook(module, args, output)`` after the forward of every module; what it returns replaces
    the output. Returns a handle."""
    handle = register(None, forward, "module", hook, extra=forward_always)
    if with_kwargs:
        forward_with_kwargs[handle.id] = True
    if always_call:
        forward_always[handle.id] = True
    return handle


def register_module_forward_pre_hook(hook):
    """``hook(module, args)`` before the forward of every module. Returns a handle."""
    return register(None, forward_pre, "module", hook)


def register_module_backward_hook(hook):
    """A backward hook of the old kind for every module. Returns a handle; RuntimeError beside full
    ones."""
    _choose(False)
    return register(None, backward, "module", hook)


def register_module_full_backward_hook(hook):
    """``hook(module, grad_input, grad_output)`` for every module. Returns a handle; RuntimeError
    beside hooks of the old kind."""
    _choose(True)
    return register(None, backward, "module", hook)


def register_module_full_backward_pre_hook(hook):
    """``hook(module, grad_output)`` for every module. Returns a handle."""
    return register(None, backward_pre, "module", hook)


def register_module_parameter_registration_hook(hook):
    """``hook(module, name, param)`` when a module gets a parameter; what it returns is registered
    instead. Returns a handle."""
    return register(None, on_parameter, "module", hook)


def register_module_buffer_registration_hook(hook):
    """``hook(module, name, buffer)`` when a module gets a buffer; what it returns is registered
    instead. Returns a handle."""
    return register(None, on_buffer, "module", hook)


def register_module_module_registration_hook(hook):
    """``hook(module, name, submodule)`` when a module gets a submodule; what it returns is
    registered instead. Returns a handle."""
    return register(None, on_module, "module", hook)


def registered(table, module, name, value):
    """What the hooks of ``table`` make of a new member of ``module``."""
    for hook in table.values():
        told = hook(module, name, value)
        if told is not None:
            value = told
    return value
