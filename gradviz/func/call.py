"""Modules as functions of their parameters."""

from __future__ import annotations

import contextlib

from ..ops import FUNCTIONS as ops


def functional_call(
    module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False
):
    """Call ``module`` with the given tensors in place of its parameters and buffers; the module is
    left as it was.
    """
    given = parameter_and_buffer_dicts
    if isinstance(given, tuple | list):
        given = {name: tensor for part in given for name, tensor in part.items()}
    if strict:
        _check_complete(module, given)
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with contextlib.ExitStack() as stack:
        for name, tensor in given.items():
            stack.enter_context(_swapped(module, name, tensor))
        return module(*args, **(kwargs or {}))


def _check_complete(module, given):
    own = {name for name, _ in module.named_parameters()} | {
        name for name, _ in module.named_buffers()
    }
    missing, unexpected = own - set(given), set(given) - own
    if missing or unexpected:
        raise RuntimeError(
            f"Missing key(s): {', '.join(sorted(missing))}. Unexpected key(s): "
            f"{', '.join(sorted(unexpected))}."
        )


@contextlib.contextmanager
def _swapped(module, name, tensor):
    *path, last = name.split(".")
    owner = module
    for part in path:
        owner = getattr(owner, part)
    table = owner._parameters if last in owner._parameters else owner._buffers
    if last not in table:
        raise AttributeError(f"{type(owner).__name__} has no attribute `{last}`")
    before = table[last]
    table[last] = tensor
    try:
        yield
    finally:
        table[last] = before


def stack_module_state(models):
    """(parameters, buffers) of several like modules, stacked along a new first dimension."""
    models = list(models)
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    params = {
        name: ops["stack"](
            [dict(m.named_parameters())[name].detach() for m in models]
        ).requires_grad_()
        for name, _ in models[0].named_parameters()
    }
    buffers = {
        name: ops["stack"]([dict(m.named_buffers())[name] for m in models])
        for name, _ in models[0].named_buffers()
    }
    return params, buffers
