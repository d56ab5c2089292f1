"""Where modules and optimizers keep their hooks, in order of firing."""

from __future__ import annotations

import sys

CALLS = {
    "_forward_pre_hooks": "forward_pre",
    "_forward_hooks": "forward",
    "_backward_pre_hooks": "backward_pre",
    "_backward_hooks": "backward",
}
STATE = {
    "_state_dict_pre_hooks": "state_dict_pre",
    "_state_dict_hooks": "state_dict",
    "_load_state_dict_pre_hooks": "load_state_dict_pre",
    "_load_state_dict_post_hooks": "load_state_dict",
}
OPTIMIZER = {
    "_optimizer_step_pre_hooks": "step_pre",
    "_optimizer_step_post_hooks": "step",
    "_optimizer_state_dict_pre_hooks": "state_dict_pre",
    "_optimizer_state_dict_post_hooks": "state_dict",
    "_optimizer_load_state_dict_pre_hooks": "load_state_dict_pre",
    "_optimizer_load_state_dict_post_hooks": "load_state_dict",
}


def of_calls(module):
    """(kind, table) of what fires when ``module`` is called and when its gradients come."""
    return _tables(module, CALLS)


def of_module(module):
    """(kind, table) of all its own hooks, also those for its state."""
    return _tables(module, CALLS | STATE)


def of_optimizer(optimizer):
    """(kind, table) of the hooks of an optimizer; none for anything else."""
    return _tables(optimizer, OPTIMIZER)


def of_all_modules(module):
    """(kind, table) of the hooks that fire for every module of the library ``module`` is of."""
    home = next((k.__module__ for k in type(module).__mro__ if k.__name__ == "Module"), "")
    return _tables(sys.modules.get(home), {f"_global{name}": kind for name, kind in CALLS.items()})


def _tables(thing, names):
    for name, kind in names.items():
        table = getattr(thing, name, None)
        if table:
            yield kind, table
