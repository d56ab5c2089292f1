"""What a function that is transformed captured: tensors that it may read and must not write."""

from __future__ import annotations

import functools
import os
import types

from ..engine.tensor import Tensor

_PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep
_DEEP = 3  # functions called by functions


def captured(func):
    """The ids of the tensors that ``func`` reaches by its closures, by global names, as a method or
    a module.
    """
    found = set()
    _add(func, found, set(), 0)
    return frozenset(found)


_PLAIN = (types.ModuleType, types.BuiltinFunctionType, type, int, float, str, type(None))


def _add(value, found, known, depth):
    if isinstance(value, _PLAIN):
        return
    if isinstance(value, Tensor):
        found.add(id(value))
    elif isinstance(value, (list, tuple)):
        found.update(id(x) for x in value if isinstance(x, Tensor))
    elif isinstance(value, dict):
        found.update(id(x) for x in value.values() if isinstance(x, Tensor))
    elif isinstance(value, functools.partial):
        for x in (value.func, value.args, value.keywords):
            _add(x, found, known, depth)
    elif isinstance(value, types.MethodType):
        _add(value.__self__, found, known, depth)
        _add(value.__func__, found, known, depth)
    elif isinstance(value, types.FunctionType):
        if value not in known and depth < _DEEP:
            known.add(value)
            for x in _seen_by(value):
                _add(x, found, known, depth + 1)
    elif hasattr(type(value), "named_buffers") and hasattr(type(value), "parameters"):
        found.update(map(id, value.parameters()))
        found.update(map(id, value.buffers()))


def _seen_by(function):
    """The values of the closure and of the global names of a function that is not ours."""
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        yield wrapped
    if function.__code__.co_filename.startswith(_PACKAGE):
        return
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not set yet
            continue
    for name in function.__code__.co_names:
        if name in function.__globals__:
            yield function.__globals__[name]
