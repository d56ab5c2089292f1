"""What surrounds tensors, as JSON: dicts with plain keys, lists, tuples, numbers, text, None."""

from __future__ import annotations

from collections import OrderedDict

from ..backend import host, owner, pointer
from ..engine.device import Device, of
from ..engine.dispatch import wrap
from ..engine.dtypes import PUBLIC, dtype
from ..engine.strides import flat_storage, geometry, strided
from ..engine.tensor import Size, Tensor
from ..nn.parameter import Parameter

PLAIN = (str, bool, int, float, type(None))


class Writer:
    """Turns nested containers into JSON and collects the arrays of their tensors. Tensors on one
    storage are windows on it, so that they share memory again when they are read.
    """

    def __init__(self, obj):
        self.arrays = {}
        self._names = {}
        self._shared = _shared_storages(obj)

    def describe(self, value, path=""):
        """JSON for ``value``; TypeError for what is neither plain data nor a tensor."""
        if isinstance(value, Tensor):
            return self._tensor(value, path)
        if isinstance(value, PLAIN):
            return {"value": _number(value)}
        if isinstance(value, dict):
            items = [
                [self.describe(k), self.describe(v, f"{path}.{k}" if path else str(k))]
                for k, v in value.items()
            ]
            told = {"dict": items, "ordered": isinstance(value, OrderedDict)}
            metadata = getattr(value, "_metadata", None)
            return told if metadata is None else {**told, "metadata": self.describe(metadata)}
        if isinstance(value, tuple | list | set):
            kind = "size" if isinstance(value, Size) else type(value).__name__
            kind = (
                kind
                if kind in ("size", "tuple", "list", "set")
                else "tuple"
                if isinstance(value, tuple)
                else "list"
            )
            return {
                kind: [
                    self.describe(x, f"{path}.{k}" if path else str(k)) for k, x in enumerate(value)
                ]
            }
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, dtype):
            return {"dtype": value.name}
        if isinstance(value, Device):
            return {"device": str(value)}
        raise TypeError(
            f"cannot save {type(value).__module__}.{type(value).__qualname__} at "
            f"{path or 'the top'}: save() keeps tensors, dicts, "
            "lists, tuples and plain values. Save a module as its state_dict()."
        )

    def _tensor(self, tensor, path):
        array, key = tensor._a, id(tensor)
        told = {"requires_grad": tensor.is_leaf and tensor.requires_grad}
        if isinstance(tensor, Parameter):
            told["parameter"] = True
        if tensor.is_cuda:
            told["device"] = str(tensor.device)
        storage = _storage_key(array)
        if storage in self._shared:
            told["window"] = [list(part) for part in geometry(array)[:2]]
            told["window"].append(geometry(array)[2])
            array, key = flat_storage(array), (storage, array.dtype)
        return {"tensor": self._name(array, key, path), **told}

    def _name(self, array, key, path):
        """What is the same object, or lies on the same storage, is one array."""
        if key in self._names:
            return self._names[key]
        name = path or "tensor"
        while name in self.arrays or name == "__metadata__":
            name += "_"
        self.arrays[name] = host(array)
        self._names[key] = name
        return name


def _storage_key(array):
    base = owner(array)
    return pointer(base), base.nbytes, of(base)


def _shared_storages(obj):
    """The storages on which several tensors of a nest lie."""
    seen, shared, stack = {}, set(), [obj]
    visited = set()
    while stack:
        value = stack.pop()
        if isinstance(value, Tensor):
            if value._a.size and seen.setdefault(_storage_key(value._a), value) is not value:
                shared.add(_storage_key(value._a))
        elif isinstance(value, (dict, list, tuple, set)) and id(value) not in visited:
            visited.add(id(value))
            stack.extend(value.values() if isinstance(value, dict) else value)
    return shared


def _number(value):
    """NaN and infinities are no JSON: as text in a list."""
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return [repr(value)]
    return value


class Reader:
    """Puts tensors back into their containers."""

    def __init__(self, arrays, placement):
        self._arrays, self._placement = arrays, placement
        self._made, self._placed = {}, {}

    def build(self, told):
        """The value that ``told`` describes; ValueError for an unknown description."""
        ((kind, content), *_) = told.items()
        if kind == "tensor":
            return self._tensor(content, told)
        if kind == "value":
            return float(content[0]) if isinstance(content, list) else content
        if kind == "dict":
            made = OrderedDict if told.get("ordered") else dict
            found = made((self.build(k), self.build(v)) for k, v in content)
            if "metadata" in told and told.get("ordered"):
                found._metadata = self.build(told["metadata"])
            return found
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](self.build(x) for x in content)
        if kind == "complex":
            return complex(*content)
        if kind == "dtype" and content in PUBLIC:
            return PUBLIC[content]
        if kind == "device":
            return Device(content)
        raise ValueError(f"the file describes an unknown kind of value: {kind!r}")

    def _tensor(self, name, told):
        window = told.get("window")
        key = (name, repr(window), told.get("requires_grad"), told.get("parameter"))
        if key not in self._made:
            t = wrap(self._array(name, told.get("device", "cpu"), window))
            tracked = bool(told.get("requires_grad", False))
            if told.get("parameter"):
                t = Parameter(t, tracked)
            elif tracked:
                t.requires_grad_()
            self._made[key] = t
        return self._made[key]

    def _array(self, name, device, window):
        if name not in self._placed:
            self._placed[name] = self._placement.put(self._arrays[name], device)
        array = self._placed[name]
        if window is None:
            return array
        size, stride, offset = window
        if 0 in size:
            return array[:0].reshape(size)
        return strided(array, tuple(size), tuple(stride), offset)


_SEQUENCES = {"list": list, "tuple": tuple, "set": set, "size": Size}
