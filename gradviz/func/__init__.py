"""``gradviz.func``: transforms of functions, as in ``torch.func``; loaded when one is first used,
since from then on functions of tensors look at their arguments.
"""

import importlib

_MODULES = {
    "mapping": "vmap",
    "modules": "debug_unwrap functional_call replace_all_batch_norm_modules_ stack_module_state",
    "transforms": "functionalize grad grad_and_value hessian jacfwd jacrev jvp linearize vjp",
}
_FROM = {name: module for module, names in _MODULES.items() for name in names.split()}

__all__ = sorted(_FROM)


def __getattr__(name):
    if name not in _FROM:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"{__name__}.{_FROM[name]}"), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted({*globals(), *_FROM})
