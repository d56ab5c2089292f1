"""Modules and parameters in sequence or by name."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from ...engine.dispatch import Tensor
from ..parameter import Parameter
from .module import Module, _indent, typename


def _absolute(index, length):
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range")
    return index % length if length else index


class Sequential(Module):
    """Modules called one after the other, each on what the one before gave."""

    def __init__(self, *args):
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            for key, module in args[0].items():
                self.add_module(key, module)
        else:
            for k, module in enumerate(args):
                self.add_module(str(k), module)

    def _key(self, index):
        size = len(self)
        index = operator.index(index)
        if not -size <= index < size:
            raise IndexError(f"index {index} is out of range")
        return list(self._modules)[index]

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(OrderedDict(list(self._modules.items())[index]))
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        names = list(self._modules)[index] if isinstance(index, slice) else [self._key(index)]
        for name in names:
            delattr(self, name)
        rest = list(self._modules.values())
        self._modules.clear()
        self._modules.update((str(k), m) for k, m in enumerate(rest))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is "
                "given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is "
                "given."
            )
        return self.extend(other)

    def __mul__(self, other):
        _check_times(other)
        return Sequential(*list(self) * other)

    __rmul__ = __mul__

    def __imul__(self, other):
        _check_times(other)
        return self.extend([m for _ in range(other - 1) for m in list(self)])

    def append(self, module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Put a module before position ``index``; returns self."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        size = len(self)
        if not -size <= index <= size:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self)
        modules.insert(index + size if index < 0 else index, module)
        for k, m in enumerate(modules):
            self._modules[str(k)] = m
        return self

    def extend(self, sequential):
        """Add modules at the end; returns self."""
        for module in list(sequential):
            self.append(module)
        return self

    def pop(self, key):
        """Remove the module at ``key`` and return it."""
        found = self[key]
        del self[key]
        return found

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


def _check_times(other):
    if not isinstance(other, int):
        raise TypeError(f"unsupported operand type(s) for *: {Sequential} and {type(other)}")
    if other <= 0:
        raise ValueError(f"Non-positive multiplication factor {other} for {Sequential}")


class ModuleList(Module):
    """A list whose modules are registered."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def _key(self, index):
        return str(_absolute(index, len(self)))

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(list(self._modules.values())[index])
        return self._modules[self._key(index)]

    def __setitem__(self, index, module):
        setattr(self, self._key(index), module)

    def __delitem__(self, index):
        rest = list(self._modules.values())
        del rest[index]
        self._modules.clear()
        self._modules.update((str(k), m) for k, m in enumerate(rest))

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        return ModuleList([*self, *other])

    def __dir__(self):
        return [k for k in super().__dir__() if not k.isdigit()]

    def insert(self, index, module):
        """Put a module before position ``index``."""
        rest = list(self)
        rest.insert(index, module)
        for k, m in enumerate(rest):
            self._modules[str(k)] = m

    def append(self, module):
        """Add a module at the end; returns self."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Remove the module at ``key`` and return it."""
        found = self[key]
        del self[key]
        return found

    def extend(self, modules):
        """Add modules at the end; returns self."""
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        start = len(self)
        for k, module in enumerate(modules):
            self.add_module(str(start + k), module)
        return self

    def __repr__(self):
        """Runs of equal modules are printed once: ``(0-2): 3 x Linear(…)``."""
        texts = [repr(m) for m in self]
        if not texts:
            return self._get_name() + "()"
        lines, first = [], 0
        for k in range(1, len(texts) + 1):
            if k == len(texts) or texts[k] != texts[first]:
                one = k == first + 1
                label = f"({first}): " if one else f"({first}-{k - 1}): {k - first} x "
                lines.append(_indent(label + texts[first]))
                first = k
        return f"{self._get_name()}(\n  " + "\n  ".join(lines) + "\n)"


class ModuleDict(Module):
    """A dictionary whose modules are registered."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Remove everything."""
        self._modules.clear()

    def pop(self, key):
        """Remove the module at ``key`` and return it."""
        return self._modules.pop(key)

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """(name, module)."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Add modules from a mapping or from pairs."""
        for key, module in _entries("ModuleDict", modules):
            self[key] = module


def _entries(owner, given):
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    if isinstance(given, (Mapping, ModuleDict, ParameterDict)):
        return list(given.items())
    pairs = list(given)
    for k, pair in enumerate(pairs):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{owner} update sequence element #{k} should be Iterable; is{type(pair).__name__}"
            )
        if len(pair) != 2:
            raise ValueError(
                f"{owner} update sequence element #{k} has length {len(pair)}; 2 is required"
            )
    return pairs


def _shown(value, kind):
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.size()))
    return f"{what} containing: [{kind(value)} of size {size}]"


class ParameterList(Module):
    """A list whose tensors become registered parameters; other values are kept as they are."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, index):
        if isinstance(index, slice):
            made = type(self)()
            for k in range(*index.indices(len(self))):
                made.append(self[k])
            return made
        return getattr(self, str(_absolute(index, len(self))))

    def __setitem__(self, index, value):
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, str(_absolute(index, len(self))), value)

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[k] for k in range(len(self)))

    def __iadd__(self, values):
        return self.extend(values)

    def __dir__(self):
        return [k for k in super().__dir__() if not k.isdigit()]

    def append(self, value):
        """Add a value at the end; returns self."""
        self._size += 1
        self[len(self) - 1] = value
        return self

    def extend(self, values):
        """Add values at the end; returns self."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def __repr__(self):
        return _parameters_repr(self, [(str(k), v) for k, v in enumerate(self)], lambda t: t.dtype)

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """A dictionary whose tensors become registered parameters; other values are kept as they
    are."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _attribute(self, key):
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string "
                "(type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key):
        return getattr(self, self._attribute(key))

    def __setitem__(self, key, value):
        self._keys[key] = None
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, self._attribute(key), value)

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._attribute(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def __or__(self, other):
        made = self.copy()
        made.update(other)
        return made

    def __ior__(self, other):
        self.update(other)
        return self

    def copy(self):
        """A dictionary with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key, default=None):
        """The value at ``key``, put there when it was absent."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Remove everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Remove the value at ``key`` and return it."""
        found = self[key]
        del self[key]
        return found

    def popitem(self):
        """Remove the last entry and return it."""
        key, _ = self._keys.popitem()
        self._keys[key] = None
        return key, self.pop(key)

    def get(self, key, default=None):
        """The value at ``key``, or ``default``."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """A dictionary of ``keys``, each with ``default``."""
        return ParameterDict((k, default) for k in keys)

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """(name, value)."""
        return ((k, self[k]) for k in self._keys)

    def values(self):
        """The values."""
        return (self[k] for k in self._keys)

    def update(self, parameters):
        """Add values from a mapping or from pairs."""
        for key, value in _entries("ParameterDict", parameters):
            self[key] = value

    def __repr__(self):
        return _parameters_repr(self, list(self.items()), typename)

    def __call__(self, input):
        raise RuntimeError("ParameterDict should not be called.")


def _parameters_repr(module, entries, kind):
    lines = [f"  ({k}): {_shown(v, kind)}" for k, v in entries]
    if len(lines) > 1:
        return f"{module._get_name()}(\n" + "\n".join("  " + one for one in lines) + "\n)"
    return f"{module._get_name()}({''.join(lines)})"
